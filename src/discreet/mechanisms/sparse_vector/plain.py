"""Mechanisms of the sparse vector family as plain values, to be taken up again elsewhere.

Only public parameters enter, numbers as exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from discreet.core.parameters import exact
from discreet.mechanisms.scores import Scores
from discreet.mechanisms.sparse_vector.above_threshold import AboveThreshold
from discreet.mechanisms.sparse_vector.numeric_sparse import NumericSparse
from discreet.mechanisms.sparse_vector.sparse import Sparse
from discreet.noise import Source

SparseVector = AboveThreshold | Sparse | NumericSparse

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (AboveThreshold, Sparse, NumericSparse)
}


def plain_mechanism(mechanism: object) -> dict[str, Any] | None:
    """The mechanism without its randomness, for JSON; None for one of another family.

    >>> plain_mechanism(AboveThreshold(epsilon=0.5, threshold=10, sensitivity=1))["epsilon"]
    '1/2'
    """
    if _KINDS.get(type(mechanism).__name__) is not type(mechanism):
        return None
    given = {
        item.name: getattr(mechanism, item.name)
        for item in fields(mechanism)  # type: ignore[arg-type]
        if item.name != "randomness"
    }
    return {"kind": type(mechanism).__name__, **{name: _plain(v) for name, v in given.items()}}


def mechanism_from_plain(plain: Mapping[str, Any], randomness: Source) -> SparseVector:
    """The mechanism that :func:`plain_mechanism` described."""
    read = {name: _read(name, value) for name, value in plain.items() if name != "kind"}
    made: SparseVector = _KINDS[plain["kind"]](**read, randomness=randomness)
    return made


def _plain(value: Any) -> str | int:
    if isinstance(value, Scores):
        return value.name
    return value if isinstance(value, int) else str(exact(value))


def _read(name: str, value: Any) -> Any:
    if name == "scores":
        return Scores[value]
    return value if isinstance(value, int) else Fraction(value)
