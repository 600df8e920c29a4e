"""Test vectors that client.py and client.js share; ``python -m tests.local.vectors`` wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet import local
from discreet.local.heavy_hitters import PrefixTree, SequenceFragments
from discreet.local.marginals import HadamardMarginals
from discreet.local.numeric import MeanResponse, SquareWave
from discreet.local.unit_vectors import PrivUnit
from discreet.local.vectors import VectorMean
from discreet.local.words import Words
from tests.local.examples import Scripted, collection, oracles, rappor

TREE = PrefixTree(epsilon=2, words=Words("abcdefghijklmnopqrstuvwxyz", 6), lengths=(2, 4, 6))
FRAGMENTS = SequenceFragments(epsilon=1, words=TREE.words, width=2, marks=16, seed=1)
FILE = Path(__file__).with_name("vectors.json")


def made() -> list[dict[str, Any]]:
    cases: list[tuple[local.Collection, list[Any]]] = [
        (collection(oracle), [0, 4, 2, 2]) for oracle in oracles(1).values()
    ]
    labels = ["no", "yes", "perhaps 🙂"]
    cases += [
        (collection(local.DirectEncoding(epsilon=2, domain=labels)), [*labels, "no"]),
        (
            collection(local.OptimalLocalHashing(epsilon=1, domain=2_000_000_000)),
            [1_999_999_999] * 4,
        ),
        (collection(local.SubsetSelection(epsilon=1, domain=40)), [0, 39, 7]),
        (collection(local.OptimizedUnary(epsilon=0.5, domain=17)), [16, 0, 8]),
        (collection(local.HadamardResponse(epsilon=4, domain=1000, bits=6)), [999, 0, 512]),
        (collection(rappor(4, 1)), [3, 3, 1, 3]),
        (collection(MeanResponse(epsilon=1, domain=1001)), [0, 1000, 500, 499]),
        (collection(SquareWave(epsilon=1, domain=50)), [0, 49, 25, 25]),
        (collection(HadamardMarginals(epsilon=1, attributes=5, order=2).oracle), [0, 31, 9, 9]),
        (collection(TREE.oracle), [TREE.words.size - 1, 0, 77, 78, 5]),
        (collection(FRAGMENTS.fragments), [FRAGMENTS.words.size - 1, 0, 77, 78, 5]),
        (collection(local.DirectEncoding(epsilon=1, domain=9), memoised=True), [3, 8, 3, 3]),
        (
            collection(
                local.CountMeanSketch(epsilon=1, domain=local.ANY_TEXT, rows=4, cells=32, seed=3)
            ),
            ["apples", "", "naïve", "日本"],
        ),
        (collection(VectorMean(epsilon=1, dimensions=3)), [[0, 0.5, -1], [2, -0.25, 1e-7]] * 2),
        (collection(PrivUnit(epsilon=1, dimensions=3)), [[0, 0.5, -1], [0, 0, 0], [1e-3, 0, 0]]),
        (collection(PrivUnit(epsilon=6, dimensions=40)), [[0.1] * 40, [-0.1] * 40]),
        (collection(local.LaplaceMean(epsilon=1, domain=1001)), [0, 1000, 500, 499]),
        (collection(local.LaplaceMean(epsilon=32, domain=2)), [0, 1, 1]),
        (collection(local.LaplaceMean(epsilon=0.001, domain=10_000), memoised=True), [9, 9, 0]),
    ]
    found = []
    for seed, (asked, values) in enumerate(cases):
        client = Scripted(asked.schema, seed)
        reports = [client.privatize(value) for value in values]
        found.append(
            {
                "schema": asked.schema,
                "seed": seed,
                "values": values,
                "reports": reports,
                "memory": client.memory,
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(made(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
