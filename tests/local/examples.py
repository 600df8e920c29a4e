"""One oracle of each kind, small enough to be enumerated, and bytes that are no secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet import local
from discreet.core.parameters import Number
from discreet.local.client import Client
from discreet.local.oracle import FrequencyOracle
from discreet.local.randomiser import LocalRandomiser

MASK = (1 << 64) - 1


def direct_cells(epsilon: Number, cells: int) -> local.DirectEncoding:
    return local.DirectEncoding(epsilon=epsilon, domain=cells)


def oracles(epsilon: Number, domain: Any = 5) -> dict[str, FrequencyOracle]:
    """Every oracle at one epsilon and domain."""
    shape: dict[str, Any] = {"epsilon": epsilon, "domain": domain}
    return {
        "direct": local.DirectEncoding(**shape),
        "symmetric_unary": local.SymmetricUnary(**shape),
        "optimized_unary": local.OptimizedUnary(**shape),
        "binary_hashing": local.BinaryLocalHashing(**shape),
        "optimal_hashing": local.OptimalLocalHashing(**shape),
        "hadamard": local.HadamardResponse(**shape, bits=1),
        "hadamard_two": local.HadamardResponse(**shape, bits=2),
        "subset": local.SubsetSelection(**shape),
        "count_mean_sketch": local.CountMeanSketch(
            **shape, rows=2, cells=4, seed=7, inner=direct_cells
        ),
        "count_sketch": local.CountSketch(**shape, rows=2, cells=4, seed=7, inner=direct_cells),
        "bloom": local.BloomFilter(**shape, cells=6, hashes=2, cohorts=2, seed=7),
    }


def rappor(epsilon: Number, once: Number, domain: Any = 5) -> local.Rappor:
    return local.Rappor(
        epsilon=epsilon, once=once, domain=domain, cells=5, hashes=2, cohorts=2, seed=7
    )


def collection(oracle: LocalRandomiser, *, memoised: bool = False) -> local.Collection:
    kept = memoised or isinstance(oracle, local.Rappor)
    return local.Collection(name="survey", version=1, oracle=oracle, memoised=kept)


def stream(seed: int) -> Iterator[int]:
    """Bytes of SplitMix64, which the tests of client.js make too."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield from (z ^ z >> 31).to_bytes(8, "little")


class Scripted(Client):
    """The client with bytes of a known stream: exists in tests alone."""

    def __init__(self, schema: str, seed: int, memory: dict[str, Any] | None = None) -> None:
        super().__init__(schema, memory)
        self._stream = stream(seed)

    def _bytes(self, count: int) -> bytes:
        return bytes(next(self._stream) for _ in range(count))
