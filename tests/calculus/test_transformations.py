"""Declared stabilities hold on every small table, and are attained where claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from discreet import calculus as t
from discreet.calculus.transformation import Transformation
from discreet.core.domain import Categories, Integers, Nullable, Reals, Rows, Tables
from discreet.core.errors import DiscreetError, InvalidParameter, Mismatch
from discreet.core.metric import (
    L1,
    L2,
    AddRemove,
    AddRemovePeople,
    ChangeOne,
    Hamming,
    LInf,
    Metric,
    SumOverParts,
)
from discreet.core.space import Space
from tests.calculus import stability
from tests.calculus.stability import AWKWARD, NUMBERS, nullable_reals


@dataclass(frozen=True)
class Case:
    """A transformation, the rows it is tried on, and the stability it must declare."""

    name: str
    transformation: Transformation[Any, Any]
    declares: float
    universe: tuple[Any, ...] = AWKWARD
    tight: int = 2  # attained at distances up to this


def both_ways(name: str, build: Any, one: float, other: float, **options: Any) -> list[Case]:
    """A case under add/remove and one under change-one; ``record`` and the rest are options."""
    record = options.pop("record", None)
    spaces = (
        (stability.under_add_remove(record), one, "add/remove"),
        (stability.under_change_one(record), other, "change one"),
    )
    return [Case(f"{name}, {how}", build(space), c, **options) for space, c, how in spaces]


def fails_on_text(row: Any) -> int:
    return int(row) + 1


def twice_or_more(row: Any) -> Any:
    return [row, 1, row, 1] if isinstance(row, str) else [2, 3][: int(row)]


def last_to_first(rows: tuple[Any, ...]) -> Any:
    """Depends on the order, and raises on an empty block."""
    return rows[0], rows[::-1]


def numbers_in(lower: float, upper: float, grid: float, metric: Metric | None = None) -> Any:
    return lambda space: t.sum_rows(space, lower=lower, upper=upper, grid=grid, metric=metric)


def blocks_into(metric: Metric, blocks: int = 5) -> Any:
    return lambda space: t.sample_and_aggregate(
        space,
        blocks=blocks,
        block_of=lambda row: AWKWARD.index(row) % blocks,
        function=last_to_first,
        output=stability.Anything(),
        metric=metric,
    )


def whole(row: Any) -> Any:
    return row


WORDS = Categories(("a", "b"))
OLD = (0.3, -0.4, 1.2, 9.0)
CASES = [
    *both_ways("map_rows", lambda s: t.map_rows(s, fails_on_text, Integers()), 1, 1),
    *both_ways("filter_rows", lambda s: t.filter_rows(s, lambda row: row in ("a", 3)), 1, 2),
    *both_ways(
        "flat_map_rows",
        lambda s: t.flat_map_rows(s, twice_or_more, stability.Anything(), at_most=3),
        3,
        6,
        universe=(None, 1, 2, "a", "b"),
        tight=0,
    ),
    *both_ways(
        "flat_map_rows tight",
        lambda s: t.flat_map_rows(s, lambda row: [row] * 9, stability.Anything(), at_most=2),
        2,
        4,
    ),
    *both_ways(
        "clamp_rows",
        lambda s: t.clamp_rows(s, lower=0, upper=5),
        1,
        1,
        record=nullable_reals(),
        universe=NUMBERS,
    ),
    *both_ways("drop_nulls", t.drop_nulls, 1, 2, record=nullable_reals(), universe=NUMBERS),
    *both_ways(
        "drop_nulls words", t.drop_nulls, 1, 2, record=Nullable(WORDS), universe=("a", "b", None, 7)
    ),
    *both_ways("impute", lambda s: t.impute(s, 0.5), 1, 1, record=nullable_reals()),
    Case("count_rows", t.count_rows(stability.under_add_remove()), 1),
    Case("count_rows L2", t.count_rows(stability.under_add_remove(), metric=L2()), 1),
    *both_ways(
        "sum_rows", numbers_in(0, 5, 0.25), 20, 20, record=nullable_reals(), universe=NUMBERS
    ),
    *both_ways(
        "sum_rows negative", numbers_in(-3, 2, 1), 3, 5, record=Reals(), universe=(-9, 9, 0.5, 1.5)
    ),
    *both_ways("sum_rows far", numbers_in(10, 12, 1), 12, 2, record=Reals(), universe=(10, 11, 99)),
    *both_ways(
        "sum_rows far with nulls",
        numbers_in(10, 12, 1),
        12,
        12,
        record=nullable_reals(),
        universe=(10, 11, 99, None),
    ),
    *both_ways(
        "sum_rows far, undeclared nulls",
        numbers_in(10, 12, 1),
        12,
        2,
        record=Reals(),
        universe=(10, 11, 99, None, math.nan, "a"),
    ),
    *both_ways(
        "sum_rows below",
        numbers_in(-12, -10, 0.5, LInf()),
        24,
        24,
        record=nullable_reals(),
        universe=(-10, None, -99),
    ),
    *both_ways(
        "sum_rows off the grid",
        numbers_in(-0.3, 1.2, 1),
        2,
        3,
        record=nullable_reals(),
        universe=OLD,
        tight=0,
    ),
    *both_ways("histogram", lambda s: t.histogram(s, ("a", 3, "z")), 1, 2),
    *both_ways("histogram nulls", lambda s: t.histogram(s, ("a", None)), 1, 2),
    *both_ways(
        "histogram L2", lambda s: t.histogram(s, ("a", 3), metric=L2()), 1, 1.4142135623730951
    ),
    *both_ways("histogram LInf", lambda s: t.histogram(s, ("a", 3), metric=LInf()), 1, 1),
    *both_ways("histogram of one", lambda s: t.histogram(s, ("a",)), 1, 1),
    *both_ways(
        "histogram of one, L2",
        lambda s: t.histogram(s, (True,), key=lambda row: row > 1, metric=L2()),
        1,
        1,
    ),
    *both_ways("partition", lambda s: t.partition(s, ("a", 3, None), whole), 1, 2),
    *both_ways("sample_and_aggregate Hamming", blocks_into(Hamming()), 1, 2),
    *both_ways("sample_and_aggregate ChangeOne", blocks_into(ChangeOne(), 2), 1, 2, tight=1),
    *both_ways("sample_and_aggregate AddRemove", blocks_into(AddRemove(), 2), 2, 4, tight=1),
    Case("change_one_to_add_remove", t.change_one_to_add_remove(stability.under_change_one()), 2),
    Case(
        "union of parts",
        t.partition(stability.under_add_remove(), ("a", 3), whole)
        >> t.union(t.partition(stability.under_add_remove(), ("a", 3), whole).output),
        1,
    ),
]
MODULES = {
    f"discreet.calculus.{name}" for name in ("aggregates", "cleaning", "convert", "parts", "rows")
}
ELSEWHERE = {"bound_contributions", "bound_silos"}  # test_bounding: people, not rows


def test_every_transformation_is_covered() -> None:
    built_in = {name for name in t.__all__ if getattr(t, name).__module__ in MODULES}
    covered = {name for name in built_in if any(name in case.name for case in CASES)}
    assert len(built_in) == 15
    assert covered | ELSEWHERE | {"union"} == built_in


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("distance", [1, 2])
def test_outputs_are_no_farther_apart_than_declared(case: Case, distance: int) -> None:
    declared = case.transformation.map(distance)
    assert declared == pytest.approx(case.declares * distance)
    report = stability.worst(case.transformation, case.universe, distance)
    assert report.pairs > 0
    assert report.within(declared), report.witness
    if distance <= case.tight:
        assert report.worst == pytest.approx(declared), "the declared stability is not attained"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_order_of_rows_does_not_matter(case: Case) -> None:
    assert case.transformation.map(0) == 0
    assert stability.worst_reordering(case.transformation, case.universe) == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_outputs_belong_to_the_output_domain(case: Case) -> None:
    output = case.transformation.output.domain
    assert output.contains(case.transformation(case.universe[: stability.SIZE]))
    if not isinstance(case.transformation.input.metric, ChangeOne):
        assert output.contains(case.transformation(()))
        assert output.contains(case.transformation(case.universe))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_map_is_monotone_and_needs_no_data(case: Case) -> None:
    values = [case.transformation.map(distance) for distance in range(6)]
    assert values == sorted(values)


def test_union_of_tables_adds_distances() -> None:
    tables = Tables((Rows(WORDS), Rows(WORDS)))
    union = t.union(Space(tables, SumOverParts()))
    assert union((("a",), ("b", "a"))) == ("a", "b", "a")
    assert union.map(3) == 3
    assert union.output == Space(Rows(WORDS), AddRemove())


PEOPLE = Space(Rows(stability.Anything()), AddRemovePeople("id"))
REFUSED: list[tuple[str, Any]] = [
    ("rows_not_counted", lambda: t.map_rows(PEOPLE, whole, WORDS)),
    ("rows_not_counted", lambda: t.filter_rows(PEOPLE, whole)),
    ("rows_not_counted", lambda: t.flat_map_rows(PEOPLE, whole, WORDS, at_most=1)),
    ("rows_not_counted", lambda: t.count_rows(PEOPLE)),
    ("rows_not_counted", lambda: t.histogram(PEOPLE, ("a",))),
    ("rows_not_counted", lambda: t.partition(PEOPLE, ("a",), whole)),
    ("rows_not_counted", lambda: blocks_into(Hamming())(PEOPLE)),
    ("rows_not_counted", lambda: t.sum_rows(PEOPLE, lower=0, upper=1, grid=1)),
    ("rows_not_counted", lambda: t.drop_nulls(PEOPLE)),
    ("count_is_public", lambda: t.count_rows(stability.under_change_one())),
    ("not_change_one", lambda: t.change_one_to_add_remove(stability.under_add_remove())),
    ("not_a_count", lambda: t.flat_map_rows(stability.under_add_remove(), whole, WORDS, at_most=0)),
    ("records_not_numbers", lambda: numbers_in(0, 1, 1)(stability.under_add_remove())),
    (
        "records_not_numbers",
        lambda: t.clamp_rows(stability.under_add_remove(), lower=0, upper=1),
    ),
    (
        "bounds_not_whole",
        lambda: t.clamp_rows(stability.under_add_remove(Integers()), lower=0, upper=0.5),
    ),
    ("bounds_crossed", lambda: numbers_in(2, 1, 1)(stability.under_add_remove(Reals()))),
    ("not_finite", lambda: numbers_in(0, math.inf, 1)(stability.under_add_remove(Reals()))),
    ("grid_not_power_of_two", lambda: numbers_in(0, 1, 0.1)(stability.under_add_remove(Reals()))),
    ("grid_not_power_of_two", lambda: numbers_in(0, 1, 3)(stability.under_add_remove(Reals()))),
    (
        "grid_not_power_of_two",
        lambda: numbers_in(0, 1, 2**1001)(stability.under_add_remove(Reals())),
    ),
    ("not_positive", lambda: numbers_in(0, 1, 0)(stability.under_add_remove(Reals()))),
    (
        "not_a_norm",
        lambda: t.histogram(stability.under_add_remove(), ("a",), metric=Hamming()),
    ),
    ("nan_as_key", lambda: t.histogram(stability.under_add_remove(), ("a", math.nan))),
    ("categories_not_distinct", lambda: t.histogram(stability.under_add_remove(), ("a", "a"))),
    ("categories_not_distinct", lambda: t.partition(stability.under_add_remove(), (), whole)),
    ("no_metric_for_blocks", lambda: blocks_into(L1())(stability.under_add_remove())),
    ("not_in_domain", lambda: t.impute(stability.under_add_remove(nullable_reals()), math.nan)),
    ("cannot_unite", lambda: t.union(stability.under_add_remove())),
    (
        "cannot_unite",
        lambda: t.union(Space(Tables((Rows(WORDS), Rows(Reals()))), SumOverParts())),
    ),
    (
        "cannot_unite",
        lambda: t.union(Space(Tables((Rows(WORDS), Rows(WORDS))), AddRemovePeople(0))),
    ),
]


@pytest.mark.parametrize(("code", "build"), REFUSED)
def test_what_has_no_stability_is_refused_when_built(code: str, build: Any) -> None:
    with pytest.raises((InvalidParameter, Mismatch)) as refusal:
        build()
    assert isinstance(refusal.value, DiscreetError)
    assert refusal.value.code == code
    assert refusal.value.remedy
