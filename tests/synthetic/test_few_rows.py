"""No rows, one or two, nothing but missing values: tables in memory are answered like any others.

Every public name of ``discreet.synthetic`` stands here: with how it reads rows, or among those that
read none. Warnings are errors, and nothing here can fail by chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import synthetic
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SPENDS = (dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=1e-4, by=dp.ZCDP))
COLUMNS = {"a": dp.Category(["x", "y"]), "b": dp.Number(0, 10), "c": dp.Integer(0, 3)}
ROWS: dict[str, list[tuple[Any, Any, Any]]] = {
    "no rows": [],
    "one row": [("x", 3.5, 1)],
    "one odd row": [("elsewhere", float("nan"), None)],
    "two rows": [("x", 3.5, 1), ("y", 1e9, 2)],
    "a constant column": [("x", 3.5, 1), ("x", 3.5, 2)],
    "nothing but missing values": [(None, None, None)] * 2,
}
UNITS: dict[str, Any] = {
    "rows come and go": dp.Row(),
    "rows are exchanged": dp.Replace(dp.Row()),
    "people come and go": dp.Person("id", max_rows=2),
}
MECHANISMS: dict[str, Any] = {
    "AIM": synthetic.AIM,
    "MST": synthetic.MST,
    "MWEMPGM": partial(synthetic.MWEMPGM, rounds=2),
    "IndependentMarginals": synthetic.IndependentMarginals,
    "FullHistogram": synthetic.FullHistogram,
    "PrivBayes": synthetic.PrivBayes,
}
OF_CODES = {"TopDown", "ToyDown", "SeveralTables", "ConditionalPrivBayes"}
"""Those that count codes; ``ConditionalPrivBayes`` makes the rows of ``SeveralTables``."""
OF_TABLES = {"Synthesizer", "evaluate"}
READ_NO_ROWS = {
    *("BayesianNetwork", "Between", "CategoryColumn", "CellTable", "ChildTable", "DayColumn"),
    *("Determined", "FitProgress", "Hierarchy", "IdentifierColumn", "Impossible", "Level"),
    *("NumberColumn", "OwnedRows", "PersonTables", "PrivateBins", "StructuralZeros"),
    *("SyntheticModel", "SyntheticRelease", "TablesModel", "level_counts"),
    *("load", "load_tables", "model_from_dict", "MeasuredCount", "measured_counts"),
    *("RepeatedScores", "repeated_scores"),
}


def table(rows: list[tuple[Any, Any, Any]]) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {name: [row[n] for row in rows] for n, name in enumerate("abc")}
    return {**made, "id": list(range(len(rows)))}


def outcome(made: Callable[[], object]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made()
        except dp.errors.DiscreetError as refused:
            return str(refused)
    return "answered"


def of_one_number(unit: Any) -> list[list[str]]:
    """Tables that one unit leads between; no rows have no neighbours where rows are exchanged."""
    if not isinstance(unit, dp.Replace):
        return [list(ROWS)]
    return [[name for name, rows in ROWS.items() if len(rows) == n] for n in (1, 2)]


def test_every_public_name_is_covered() -> None:
    named = set(MECHANISMS) | OF_CODES | OF_TABLES | READ_NO_ROWS
    assert named == set(synthetic.__all__)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_few_rows_are_synthesised_like_any_others(name: str, unit: str) -> None:
    number = list(UNITS).index(unit) % 2
    maker = synthetic.Synthesizer(
        columns=COLUMNS,
        unit=UNITS[unit],
        spend=SPENDS[number],
        mechanism=MECHANISMS[name],
        bins=(4, synthetic.PrivateBins(3, of=8))[number],
    )
    for tables in of_one_number(UNITS[unit]):
        for each in tables:
            rows = table(ROWS[each])
            assert outcome(partial(maker.fit_sample, rows, 2)) == "answered", each


@pytest.mark.parametrize("unit", UNITS)
def test_few_rows_are_compared_like_any_others(unit: str) -> None:
    for other in ("no rows", "two rows"):
        given = partial(
            synthetic.evaluate,
            synthetic=table(ROWS[other]),
            columns=COLUMNS,
            spend=SPENDS[0],
            unit=UNITS[unit],
        )
        for tables in of_one_number(UNITS[unit]):
            told = {outcome(partial(given, table(ROWS[each]))) for each in tables}
            assert len(told) == 1, told


@pytest.mark.parametrize("kind", [synthetic.TopDown, synthetic.ToyDown])
def test_few_records_go_down_a_hierarchy_like_any_others(kind: Any) -> None:
    universe = Universe.of(town=["a", "b", "c"], sex=["f", "m"])
    levels = synthetic.Hierarchy((synthetic.Level("all"), synthetic.Level("town", by="town")))
    workload = Workload.marginal(universe, ["town"])
    mechanism = kind(workload, SPENDS[0], NoisyRecordCount(), levels)
    for counts in ([0] * 6, [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 1]):
        released = mechanism.release(np.array(counts))
        assert len(released.answers(workload)) == 3


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "rho"])
def test_few_people_and_rows_of_them_are_synthesised_like_any_others(spend: Any) -> None:
    visits = synthetic.ChildTable("visits", Universe.of(ward=["A", "B"]), limit=2)
    maker = synthetic.SeveralTables(Universe.of(sex=["f", "m"]), (visits,), spend=spend)
    for people in (0, 1, 2):
        for owners in ([], [0], [0, 0, 0], [1, -1]):
            rows = synthetic.OwnedRows(
                np.array(owners, dtype=int), np.zeros((len(owners), 1), dtype=int)
            )
            data = synthetic.PersonTables(np.zeros((people, 1), dtype=int), {"visits": rows})
            assert outcome(lambda data=data: maker.release(data).sample(2)) == "answered"  # type: ignore[misc]
