"""How many public rows a question may make before anybody pays: bounded before any is made.

Joins of public tables, and what is listed or counted of them, are computed while a question is
translated. Two tables without a common key meet row by row: a line of text could ask for more rows
than there is memory. The sizes of public tables are public, and so is how often a key occurs, so
the most rows of every step are known before it runs. No step may make more than ``MOST_ROWS`` of
them, or ``MULTIPLE`` times what its tables have; all statements of one question together no more
than ``MOST_WORK``, or ``REPEATED`` times what its tables have. What an engine remembers of earlier
questions counts as if it were made anew, so that a refusal tells nothing of those.

Source: contract, "What may be seen" (products of public tables are bounded before they are made).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.nodes import PlanNode, Scan
from discreet.relational.plan.public_rows import PublicRows

MOST_ROWS, MULTIPLE = 1 << 22, 8
"""Rows that one step of public tables may make, or so many times those of its tables."""
MOST_WORK, REPEATED = 1 << 26, 64
"""Rows that all steps of a question may make together, or so many times those of its tables."""
MOST_COMPUTED = 150_000
"""Rows of all steps of tables that a question computes from public rows, one by one."""

TableRows = Callable[[Scan], int]
"""How many rows a public table has."""


class TooMuchPublicWork(InvalidParameter):
    """More than a question may have done before anybody pays; no other reading changes that."""


@dataclass
class _Work:
    """What one question made so far, and the tables that it read."""

    made: int = 0
    computed: int = 0
    tables: dict[str, int] = field(default_factory=dict)


_work: ContextVar[_Work | None] = ContextVar("public_work", default=None)


@contextmanager
def counted_public_work() -> Iterator[None]:
    """Count the public rows that are made from here on, of one question."""
    token = _work.set(_Work())
    try:
        yield
    finally:
        _work.reset(token)


@dataclass
class PublicSizes:
    """The most rows of public plans, each step of which is looked at once."""

    table_rows: TableRows
    _found: dict[int, tuple[PlanNode, int, int]] = field(default_factory=dict)

    def most_rows(self, rows: PlanNode) -> int:
        """The most rows of a plan over public tables."""
        return self._sizes(rows)[0]

    def require_few(self, rows: PlanNode) -> None:
        """Refuse a plan with a step that would make too many rows, or that is one too many."""
        every = _steps(rows)
        for step in every:
            if isinstance(step, JoinedPublic | Unnested):
                most, stored = self._sizes(step)
                require_product(most, stored)
        work = _work.get()
        if work is None:
            return
        work.made += sum(self._sizes(step)[0] for step in every)
        for step in every:
            if isinstance(step, Scan):
                work.tables.setdefault(step.table, self.table_rows(step))
        if work.made > max(MOST_WORK, REPEATED * sum(work.tables.values())):
            raise too_many_public_rows(
                expectation=f"at most {MOST_WORK} rows in all public tables and joins of them "
                "that a question goes through before it is paid for"
            )

    def _sizes(self, rows: PlanNode) -> tuple[int, int]:
        """The most rows of a step, and those of the tables below it."""
        known = self._found.get(id(rows))
        if known is None:
            below = [self._sizes(each) for each in rows.inputs]
            most, stored = sum(each[0] for each in below), sum(each[1] for each in below)
            match rows:
                case Scan():
                    most = stored = self.table_rows(rows)
                case PublicRows():
                    most = stored = len(rows.listed.entries)
                case JoinedPublic():
                    most = below[0][0] * max(rows.partners, 1)
                case Unnested():
                    most *= rows.most
            known = self._found[id(rows)] = (rows, most, stored)
        return known[1], known[2]


def require_product(most: int, stored: int) -> None:
    """Refuse a join of public tables of so many rows, which could make so many."""
    if most > max(MOST_ROWS, MULTIPLE * stored):
        raise too_many_public_rows(
            expectation=f"at most {MOST_ROWS} rows, or {MULTIPLE} times those of its tables, in a "
            "join of public tables",
            received=f"{most} rows",
        )


def require_computed(rows: int) -> None:
    """Refuse to compute so many more rows, one by one, before anybody pays."""
    work = _work.get()
    if work is None:
        return
    work.computed += rows
    if work.computed > MOST_COMPUTED:
        raise too_many_public_rows(
            expectation=f"at most {MOST_COMPUTED} rows in all steps of tables that a question "
            "computes from public tables alone"
        )


def too_many_public_rows(*, expectation: str, received: str | None = None) -> TooMuchPublicWork:
    """The refusal of public rows that nobody would pay for."""
    return TooMuchPublicWork(
        code="public_join_too_large",
        expectation=expectation,
        received=received,
        remedy="Join them on all keys of one side, or make the table beforehand and declare it "
        "public.",
    )


def _steps(rows: PlanNode) -> list[PlanNode]:
    found = [rows]
    for step in found:  # it grows meanwhile
        found += step.inputs
    return found
