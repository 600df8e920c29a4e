"""Two worlds that differ in what one analyst asks, for audits of privacy between analysts.

What is submitted is a tuple of queries for each analyst, in the public order. The numbers of
analysts and of places for queries are public; how many places someone uses is not, so worlds may
differ in it. An attack has the best chance where all other accounts are the attacker's own.

Source: analysts-verified:H1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.analysts.guarantee import AnalystUnit, OneAnalyst, OneQuery

Query = TypeVar("Query")
Submitted: TypeAlias = tuple[tuple[Query, ...], ...]
"""Everybody's queries, analyst after analyst."""


@dataclass(frozen=True, eq=False)
class QueryWorlds(Generic[Query]):
    """Everybody's queries in two worlds; only the ``victim``'s differ, by one ``unit``."""

    first: Submitted[Query]
    second: Submitted[Query]
    victim: int
    unit: AnalystUnit


def query_changed(
    asked: Sequence[Sequence[Query]], *, analyst: int, place: int, query: Query
) -> QueryWorlds[Query]:
    """One query of one analyst is another.

    >>> query_changed([["a", "b"], ["c"]], analyst=0, place=1, query="z").second
    (('a', 'z'), ('c',))
    """
    here = _check_and_freeze_queries(asked, analyst)
    mine = list(here[analyst])
    if not 0 <= place < len(mine):
        raise InvalidParameter(
            code="no_such_query",
            expectation=f"the place of one of the analyst's {len(mine)} queries",
            received=place,
            remedy="Count places from zero.",
        )
    mine[place] = query
    return QueryWorlds(here, _with(here, analyst, mine), analyst, OneQuery())


def analyst_replaced(
    asked: Sequence[Sequence[Query]], *, analyst: int, queries: Sequence[Query]
) -> QueryWorlds[Query]:
    """All queries of one analyst are others; none at all is someone who left."""
    here = _check_and_freeze_queries(asked, analyst)
    return QueryWorlds(here, _with(here, analyst, queries), analyst, OneAnalyst())


def among_fakes(
    asked: Sequence[Query],
    instead: Sequence[Query],
    *,
    fakes: int,
    asking: Sequence[Query] = (),
) -> QueryWorlds[Query]:
    """One honest analyst; all other accounts belong to one attacker, who chooses their queries."""
    accounts = [asking] * count("fakes", fakes)
    return analyst_replaced([asked, *accounts], analyst=0, queries=instead)


def _check_and_freeze_queries(asked: Sequence[Sequence[Query]], analyst: int) -> Submitted[Query]:
    if not 0 <= analyst < len(asked):
        raise InvalidParameter(
            code="no_such_analyst",
            expectation=f"the place of one of {len(asked)} analysts",
            received=analyst,
            remedy="Count analysts from zero, in their public order.",
        )
    return tuple(tuple(queries) for queries in asked)


def _with(asked: Submitted[Query], analyst: int, queries: Sequence[Query]) -> Submitted[Query]:
    return (*asked[:analyst], tuple(queries), *asked[analyst + 1 :])
