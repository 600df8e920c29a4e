"""How much of a text may be gone through while it is understood: a public multiple of its length.

An inner query may be tried as rows and as an answer, at each level around it, and a column of an
answer is written out where it is named: a short text could be gone through without end. So every
walk over a part of the text, and every copy, takes its nodes from an allowance of ``LEAST`` and
``VISITS`` for each node of the text. Nothing is left of it: refused, whatever was being tried.
Nodes are counted, and no clock is looked at; so are the numbers of a series, of which a few letters
ask for a hundred thousand, and public rows that are made meanwhile.

Source: contract, "What may be seen" (the resources of planning are public).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from discreet.relational.limits.public_work import TooMuchPublicWork, counted_public_work

LEAST, VISITS = 200_000, 100
"""Nodes that are gone through for any text, and for each node of a longer one."""
SEEN = 8
"""How many nodes count as much as a column that `*` stands for."""


class TooMuchReading(TooMuchPublicWork):
    """More work than a text of this length may make; no other reading of it changes that."""


@dataclass
class _Allowance:
    """Nodes that may still be gone through."""

    left: int


_allowance: ContextVar[_Allowance | None] = ContextVar("reading_work", default=None)


@contextmanager
def counted_reading(size: int) -> Iterator[None]:
    """Count what is gone through from here on, of a text with so many nodes."""
    token = _allowance.set(_Allowance(LEAST + VISITS * size))
    try:
        with counted_public_work():
            yield
    finally:
        _allowance.reset(token)


def take_nodes(number: int) -> None:
    """Take so many nodes from the allowance, or refuse."""
    allowance = _allowance.get()
    if allowance is None:
        return
    allowance.left -= number
    if allowance.left < 0:
        raise TooMuchReading(
            code="expression_too_large",
            expectation=f"a text that is understood by going through {LEAST} of its parts, or "
            f"through each of them {VISITS} times",
            remedy="Nest fewer queries, name a common table fewer times, or ask for less at once.",
        )
