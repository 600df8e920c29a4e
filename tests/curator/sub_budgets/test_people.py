"""One ledger for several data sets about the same people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.curator.budget import unit_text
from discreet.errors import Exhausted, InvalidParameter, Mismatch
from tests.curator.sub_budgets.amounts import left

HALF = dp.PureDP(epsilon=0.5)


def patients(**unit: Any) -> dp.Person:
    return dp.Person("patient_id", **{"max_rows": 3, "of": "patients", **unit})


def curator(place: Any, column: str, unit: Any, **more: Any) -> dp.Curator:
    frame = pl.DataFrame({column: [1, 2, 3], "x": [1, 2, 3]})
    return dp.Curator(
        data=dp.table(frame, unit=unit, columns={"x": dp.Number(0, 9)}),
        ledger=place,
        **{"budget": dp.PureDP(epsilon=1), **more},
    )


def test_two_data_sets_spend_one_budget(tmp_path: Path) -> None:
    place = tmp_path / "people.ledger"
    clinic = curator(place, "patient_id", patients())
    register = curator(place, "person", dp.Person("person", max_rows=3, of="patients"))
    clinic.sql("SELECT COUNT(*) AS n FROM data", spend=HALF)
    assert left(register) == 0.5
    register.sql("SELECT SUM(x) AS s FROM data", spend=HALF)
    with pytest.raises(Exhausted):
        clinic.sql("SELECT SUM(x) AS s FROM data", spend=HALF)


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("person", dp.Person("person", max_rows=3)),
        ("person", dp.Person("person", max_rows=3, of="staff")),
        ("patient_id", dp.Person("patient_id", max_rows=4, of="patients")),
        ("patient_id", dp.Person("patient_id", max_rows=3, max_groups=2, of="patients")),
        ("patient_id", dp.Replace(patients())),
        ("patient_id", dp.Row()),
    ],
)
def test_other_units_are_refused_and_nothing_is_lost(
    tmp_path: Path, column: str, unit: Any
) -> None:
    place = tmp_path / "people.ledger"
    first = curator(place, "patient_id", patients())
    with pytest.raises(Mismatch) as refusal:
        curator(place, column, unit)
    assert refusal.value.code == "ledger_terms"
    assert "of='patients'" in refusal.value.remedy
    assert left(first) == 1


def test_without_a_name_for_the_people_another_identifier_is_taken_for_a_mistake(
    tmp_path: Path,
) -> None:
    place = tmp_path / "people.ledger"
    curator(place, "patient_id", dp.Person("patient_id", max_rows=3))
    with pytest.raises(Mismatch):
        curator(place, "visit_id", dp.Person("visit_id", max_rows=3))


def test_a_ledger_begun_without_the_name_stays_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "people.ledger"
    curator(place, "patient_id", dp.Person("patient_id", max_rows=3))
    curator(place, "patient_id", dp.Person("patient_id", max_rows=3))
    with pytest.raises(Mismatch):
        curator(place, "patient_id", patients())


def test_the_words_of_a_unit_do_not_change_between_versions() -> None:
    plain = dp.Person("patient_id", max_rows=3, max_groups=2)
    assert unit_text(plain) == (
        "Person(id='patient_id', max_rows=3, max_groups=2, max_rows_per_group=None, via=None)"
    )
    assert unit_text(dp.Row()) == "Row()"
    assert unit_text(dp.Replace(dp.Row())) == "Replace(unit=Row())"


@pytest.mark.parametrize("of", ["", 3])
def test_people_are_named_in_words(of: Any) -> None:
    with pytest.raises(InvalidParameter):
        dp.Person("patient_id", of=of)


def test_tables_of_one_curator_are_about_the_same_people() -> None:
    frame = pl.DataFrame({"a": [1]})
    with pytest.raises(Mismatch) as refusal:
        dp.Curator(
            one=dp.table(frame, unit=dp.Person("a", max_rows=1, of="x"), columns={}),
            two=dp.table(frame, unit=dp.Person("a", max_rows=1, of="y"), columns={}),
            budget=HALF,
            ledger=dp.ledger.Memory(),
        )
    assert refusal.value.code == "unit_mismatch"
