"""Random blocks of rows, and any function applied to each of them without mishap.

Each row draws its own block, independently of its content and of all other rows. So one row more,
one row less or one row exchanged changes the content of one block and leaves the others as they
were, row for row. Shuffling and cutting into equal chunks does not have this property: one row
less moves rows across the cuts (000b:B1).

Source: 000b:B1, 004d:F6. Proof: ``proofs/robust-subsample.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.noise import Source, uniform_integers

Function = Callable[[Any], Any]
FAILED = object()
"""Stands for the result of a block on which the function raised."""


def split(rows: Any, blocks: int, source: Source) -> list[Any]:
    """The rows in ``blocks`` independent random blocks, order kept; some may be empty.

    Guarantee: neighbouring tables, add/remove or replace, can be coupled so that all blocks but
    one are equal.
    """
    table = rows if isinstance(rows, np.ndarray) else list(rows)
    labels = uniform_integers(blocks, len(table), source)
    if isinstance(table, np.ndarray):
        ends = np.cumsum(np.bincount(labels, minlength=blocks))
        return np.split(table[np.argsort(labels, kind="stable")], ends[:-1])
    parts: list[Any] = [[] for _ in range(blocks)]
    for row, label in zip(table, labels.tolist(), strict=True):
        parts[label].append(row)
    return parts


def apply(function: Function, blocks: list[Any]) -> list[Any]:
    """The function's result on each block, ``FAILED`` where it raised."""
    return [outcome(function, block) for block in blocks]


def outcome(function: Function, block: Any) -> Any:
    """One result; no exception of the function, and hence nothing it says, gets out."""
    try:
        return function(block)
    except Exception:  # whatever it is, it came from private rows
        return FAILED
