"""Every declaration of people that bounds their rows is taken by every verb, every other refused.

All combinations of the three limits, over one table, beside a table with other limits, and through
a way to the person. The stability that is claimed is attacked: a person with many rows leaves, and
no count, sum, moment or list of rows may move by more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.curator.fit import FitRequest
from discreet.curator.sql import planned_sql
from discreet.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.queries import Workload
from discreet.relational.execute.table_moments import TableMoments
from discreet.relational.execute.table_rows import TableRows
from discreet.relational.planning.planned_query import in_units

SPEND = dp.PureDP(epsilon=5)
WARDS = ("A", "B", "C")
ONE = "SELECT COUNT(*) AS n FROM t"
BY_WARD = "SELECT w, COUNT(*) AS n FROM t GROUP BY w"
CROWDED = 0
"""The person who has many rows, in every ward."""

Limits = tuple[int | None, int | None, int | None]
LIMITS: list[Limits] = list(product((None, 5), (None, 2), (None, 2)))
"""R, G and m; 5 rows are no multiple of 2."""
SHAPES = ("one table", "beside another", "by a way")


def is_bounded(limits: Limits) -> bool:
    rows, groups, each = limits
    return rows is not None or (groups is not None and each is not None)


def rows_of(people: range) -> pl.DataFrame:
    """Thirty rows of one person and some of others; the order of each is one visit."""
    listed = [
        (person, n, WARDS[n % 3], n % 10, float((person + n) % 8))
        for person in people
        for n in range(30 if person == CROWDED else 1 + person % 4)
    ]
    frame = pl.DataFrame(listed, schema=["pid", "n", "w", "x", "y"], orient="row")
    return frame.with_columns(visit=pl.col("pid") * 100 + pl.col("n"))


COLUMNS: dict[str, Any] = {"w": dp.Category(WARDS), "x": dp.Number(0, 9), "y": dp.Number(0, 8)}


def curator(
    limits: Limits, shape: str, people: range, *, replaced: bool = False, **more: Any
) -> dp.Curator:
    rows, groups, each = limits
    bound: dict[str, Any] = {"max_rows": rows, "max_groups": groups, "max_rows_per_group": each}
    relation: Any = dp.Replace if replaced else lambda unit: unit
    frame, other = rows_of(people), relation(dp.Person("pid", max_rows=7, of="people"))
    unit = dp.Person("pid", of="people", **bound)
    tables: dict[str, Any] = {}
    if shape == "by a way":
        unit = dp.Person("visit", via="visits.pid", of="people", **bound)
        visits = frame.select("pid", "visit")
        tables["visits"] = dp.table(visits, unit=other, columns={})
        frame = frame.drop("pid")
    elif shape == "beside another":
        tables["u"] = dp.table(frame, unit=other, columns=COLUMNS)
    return dp.Curator(
        t=dp.table(frame, unit=relation(unit), columns=COLUMNS),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        engine=dp.DuckDB(threads=1),
        **tables,
        **more,
    )


FITTED: dict[str, Any] = {"target": "y", "spend": SPEND}
READS_ROWS: Mapping[str, Callable[[Any], object]] = {
    "count": lambda c: c.sql(ONE, spend=SPEND),
    "sum by key": lambda c: c.sql("SELECT w, SUM(x) AS s FROM t GROUP BY w", spend=SPEND),
    "median": lambda c: c.sql("SELECT MEDIAN(x) AS m FROM t", spend=SPEND),
    "different values": lambda c: c.sql("SELECT COUNT(DISTINCT x) AS n FROM t", spend=SPEND),
    "rows twice": lambda c: c.sql(
        "SELECT COUNT(*) AS n FROM (SELECT w FROM t UNION ALL SELECT w FROM t) AS q", spend=SPEND
    ),
    "left out": lambda c: c.sql(ONE, spend=SPEND, left_out=dp.LeftOut(share=0.2)),
    "frame": lambda c: c.frame("t").agg(n=dp.count()).release(spend=SPEND),
    "batch": lambda c: c.batch({"a": ONE, "b": BY_WARD}, spend=SPEND),
    "bounds": lambda c: c.bounds("t", "x", spend=SPEND),
    "limits of a key": lambda c: c.learn_limits(dp.RowsPer("t", "w"), spend=SPEND),
    "synopsis": lambda c: c.synopsis(
        Workload.marginals(c.universe("t", "w"), 1),
        mechanism=dp.queries.MatrixMechanism,
        spend=SPEND,
    ),
    "synthesize": lambda c: c.synthesize("t", columns=["w"], spend=SPEND),
    "fit": lambda c: c.fit(dp.learn.Ridge(), "SELECT x, y FROM t", **FITTED),
    "preview of a fit": lambda c: c.preview_fit(dp.learn.Ridge(), "SELECT x, y FROM t", **FITTED),
    "fit of rows": lambda c: c.fit(
        dp.learn.LogisticRegression(), "SELECT x, w FROM t", target="w", spend=SPEND
    ),
    "preview of rows": lambda c: c.preview_fit(
        dp.learn.LogisticRegression(), "SELECT x, w FROM t", target="w", spend=SPEND
    ),
    "preview": lambda c: c.preview(BY_WARD, spend=SPEND),
    "explain": lambda c: c.explain(BY_WARD, spend=SPEND),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_what_is_bounded_is_taken_by_every_verb_and_nothing_else(
    limits: Limits, shape: str
) -> None:
    source = curator(limits, shape, range(8))
    for verb, ask in READS_ROWS.items():
        try:
            ask(source)
        except DiscreetError as refusal:
            told = refusal.code
        else:
            told = "answered"
        assert (verb, told) == (verb, "answered" if is_bounded(limits) else "unbounded_person")


def all_rows(limits: Limits) -> int:
    """R, or as many as the groups hold: for whatever has no groups."""
    rows, groups, each = limits
    return (groups or 0) * (each or 0) if rows is None else rows


def stability(limits: Limits, groups: int) -> tuple[int, int, int]:
    """L1, squared L2 and Linf over so many groups, by the formulas of the contract."""
    rows, (_, most_groups, each) = all_rows(limits), limits
    m, g = min(each or rows, rows), min(most_groups or groups, groups)
    q = min(g, rows // m)
    r = rows - q * m if q < g else 0
    return q * m + r, q * m * m + r * r, m


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limits", [*filter(is_bounded, LIMITS)], ids=str)
class TestStability:
    """One person leaves: what is claimed holds, and is what the contract says."""

    @pytest.mark.parametrize(("text", "groups"), [(ONE, 1), (BY_WARD, 3)])
    def test_of_counts(self, limits: Limits, shape: str, text: str, groups: int) -> None:
        l1, squares, linf = stability(limits, groups)
        noiseless: dict[str, Any] = {"randomness": Noiseless()}
        whole = curator(limits, shape, range(8), **noiseless)
        without = curator(limits, shape, range(1, 8), **noiseless)
        (part,) = planned_sql(whole.context, text, SPEND)[1].parts
        claimed = part.contributions
        assert (claimed.l1(1), claimed.squares, claimed.linf(1)) == (l1, squares, linf)
        one, two = (_before_rounding(each, text) for each in (whole, without))
        moved = [abs(a - b) for a, b in zip(one, two, strict=True)]
        assert sum(moved) <= l1
        assert sum(each**2 for each in moved) <= squares
        assert max(moved) <= linf
        assert sum(moved) > l1 / 2  # the attack reaches what it attacks

    def test_of_fits(self, limits: Limits, shape: str) -> None:
        rows = all_rows(limits)
        for estimator, text, target in (
            (dp.learn.Ridge(), "SELECT x, y FROM t", "y"),
            (dp.learn.LogisticRegression(), "SELECT x, w FROM t", "w"),
        ):
            counts = []
            for people in (range(8), range(1, 8)):
                source = curator(limits, shape, people)
                request = FitRequest.of(source.context, estimator, text, target)
                privacy = request.privacy(SPEND)
                assert privacy.rows_that_differ == privacy.bounded.rows_that_differ == rows
                counts.append(_rows_read(request.source))
            assert counts[0] - counts[1] == rows  # the person has thirty, of which these are kept

    def test_of_fits_where_people_are_exchanged(self, limits: Limits, shape: str) -> None:
        source = curator(limits, shape, range(8), replaced=True)
        text = "SELECT x, y FROM t"
        request = FitRequest.of(source.context, dp.learn.Ridge(), text, "y")
        assert request.privacy(SPEND).rows_that_differ == 2 * all_rows(limits)


def _before_rounding(source: dp.Curator, text: str) -> list[float]:
    """Counts on their grid, of rows that may weigh less than one."""
    planned = planned_sql(source.context, text, SPEND)[1]
    database = source.context.database
    measured = planned.measurement(database).release(database)
    counts: list[float] = in_units(measured.linear[0], planned.allocation.noised[0]).tolist()
    return counts


def _rows_read(source: TableMoments | TableRows) -> int:
    if isinstance(source, TableMoments):
        return int(source.moments().there.sum(axis=0).max())  # of the fullest column
    return len(source.bounded_rows().features)


def test_limits_of_another_table_are_not_taken_for_ones_own() -> None:
    """The common unit has none; each question is held to those of the tables it reads."""
    source = curator((5, None, None), "beside another", range(8))
    unit = source.unit
    assert isinstance(unit, dp.Person)
    assert unit.rows_at_most is None
    moved = {}
    for table in ("t", "u"):
        text = f"SELECT x, y FROM {table}"
        request = FitRequest.of(source.context, dp.learn.Ridge(), text, "y")
        moved[table] = request.privacy(SPEND).rows_that_differ
    assert moved == {"t": 5, "u": 7}
