"""Tables with limits of their own in one curator: noise, answers, ledgers, words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError, Mismatch
from discreet.curator.budget import unit_text
from discreet.noise import Noiseless

PEOPLE = 300
SEXES = ["f", "m"]
TEN, MUCH = dp.PureDP(epsilon=10), dp.PureDP(epsilon=1000)
COUNT = "SELECT COUNT(*) AS n FROM patients"
JOINED = (
    "SELECT p.sex, COUNT(*) AS n FROM patients AS p JOIN tests AS t ON p.id = t.patient "
    "GROUP BY p.sex"
)


def patients() -> pl.DataFrame:
    return pl.DataFrame(
        {"id": range(PEOPLE), "sex": [SEXES[person % 3 % 2] for person in range(PEOPLE)]}
    )


def measured() -> pl.DataFrame:
    who = [person for person in range(PEOPLE) for _ in range(4)]
    return pl.DataFrame(
        {
            "patient": who,
            "value": [float(7 * n % 100) for n in range(len(who))],
            "sex": [SEXES[person % 3 % 2] for person in who],
        }
    )


def curator(
    ledger: Any = None, *, one: Any = None, many: Any = None, budget: Any = MUCH, **more: Any
) -> dp.Curator:
    """Patients with one row each, beside tests with up to 520."""
    sex = dp.Category(SEXES)
    return dp.Curator(
        patients=dp.table(
            patients(), unit=one or dp.Person("id", max_rows=1), columns={"sex": sex}, snapshot="a"
        ),
        tests=dp.table(
            measured(),
            unit=many or dp.Person("patient", max_rows=520),
            columns={"sex": sex, "value": dp.Number(0, 100)},
            fixed_per_person=["sex"],
            snapshot="a",
        ),
        budget=budget,
        ledger=ledger or dp.ledger.Memory(),
        **more,
    )


def l1(source: dp.Curator, text: str) -> float:
    return source.explain(text).measures[0].l1


def left(source: dp.Curator) -> float:
    assert isinstance(source.remaining, dp.PureDP)
    return float(source.remaining.epsilon)


class TestNoise:
    def test_counting_patients_has_noise_of_one_row(self) -> None:
        source = curator()
        assert l1(source, COUNT) == 1
        assert l1(source, "SELECT COUNT(*) AS n FROM tests") == 520
        assert l1(source, JOINED) == 520
        assert l1(source, "SELECT COUNT(*) AS n FROM patients JOIN patients AS q USING (id)") == 1

    def test_one_limit_for_all_tables_had_noise_of_520(self) -> None:
        source = curator(one=dp.Person("id", max_rows=520))
        assert l1(source, COUNT) == 520

    def test_what_is_fixed_for_a_person_costs_one_group(self) -> None:
        source = curator()
        assert l1(source, "SELECT sex, COUNT(DISTINCT patient) AS n FROM tests GROUP BY sex") == 1
        assert l1(source, "SELECT COUNT(DISTINCT patient) AS n FROM tests") == 1
        plan = source.explain(JOINED)
        assert "520 rows, 1 groups" in str(plan)
        assert "1 within the limits" in str(plan)

    def test_a_union_of_a_table_with_itself_is_whole(self) -> None:
        rows = {"id": np.repeat(np.arange(1000), 2)}
        unit = dp.Person("id", max_rows=2)
        source = dp.Curator(
            t=dp.table(rows, unit=unit, columns={}),
            budget=MUCH,
            ledger=dp.ledger.Memory(),
            randomness=Noiseless(),
        )
        text = "SELECT COUNT(*) AS n FROM (SELECT id FROM t UNION ALL SELECT id FROM t) AS q"
        assert source.sql(text, spend=TEN).answers[0].values == (4000,)
        assert l1(source, text) == 4
        assert source.sql(
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, max_rows_contributed=2) "
            f"{text.removeprefix('SELECT ')}"
        ).answers[0].values == (2000,)

    def test_a_question_may_be_narrowed_and_not_widened(self) -> None:
        source = curator()
        clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed={}) "
        asked = "COUNT(*) AS n FROM tests"
        assert l1(source, clause.format(7) + asked) == 7
        with pytest.raises(DiscreetError, match="clause_bound"):
            source.explain(clause.format(521) + asked)
        with pytest.raises(DiscreetError, match="clause_bound"):
            source.explain(clause.format(2) + "COUNT(*) AS n FROM patients")

    def test_a_universe_has_the_records_of_its_table(self) -> None:
        source = curator()
        for table, records in (("patients", 1), ("tests", 520)):
            universe = source.universe(table, "sex")
            workload = dp.queries.Workload.marginals(universe, 1)
            spend = dp.PureDP(epsilon=records)
            made = source.preview(workload, mechanism=dp.queries.IndependentNoise, spend=spend)
            assert "± 1.357 " in str(made)  # geometric noise of scale one, a marginal of each cell

    def test_parts_children_and_blocks_go_on_working(self) -> None:
        source = curator()
        parts = source.partition("tests", by="sex", budget=dp.PureDP(epsilon=5), k=1)
        inside = parts["f"].sql("SELECT COUNT(*) AS n FROM tests", spend=dp.PureDP(epsilon=1))
        assert inside.guarantee.unit == dp.Person("id")
        child = source.child("care", budget=dp.PureDP(epsilon=5))
        assert child.sql(COUNT, spend=dp.PureDP(epsilon=5)).answers[0].values


class TestWords:
    def test_the_unit_of_the_curator_names_the_person_and_answers_say_the_limits(self) -> None:
        source = curator()
        assert source.unit == dp.Person("id")
        release = source.sql(JOINED, spend=TEN)
        assert release.guarantee.unit == dp.Person("id")
        assert "for each id (at most 520 rows, 1 group)" in str(release)
        assert "each id (at most 520 rows, 1 group)" in str(release.statement)
        assert dp.Release.from_json(release.to_json()) == release

    def test_one_limit_is_said_as_it_was(self) -> None:
        unit = dp.Person("id", max_rows=4)
        source = curator(one=unit, many=dp.Person("patient", max_rows=4))
        assert source.unit == unit
        release = source.sql(COUNT, spend=TEN)
        assert "for each id (at most 4 rows)" in str(release)
        assert "limits" not in release.statement

    @pytest.mark.parametrize(
        "other",
        [
            dp.Row(),
            dp.Person("patient", max_rows=5, of="staff"),
            dp.Replace(dp.Person("patient", max_rows=5)),
        ],
    )
    def test_tables_about_others_are_refused(self, other: Any) -> None:
        with pytest.raises(Mismatch) as refusal:
            dp.Curator(
                patients=dp.table(patients(), unit=dp.Person("id", max_rows=1), columns={}),
                tests=dp.table(measured(), unit=other, columns={}),
                budget=MUCH,
                ledger=dp.ledger.Memory(),
            )
        assert refusal.value.code == "unit_mismatch"
        assert "its own max_rows" in refusal.value.remedy

    def test_what_is_fixed_is_a_column_of_a_person(self) -> None:
        with pytest.raises(DiscreetError, match="fixed_without_person"):
            dp.table(measured(), unit=dp.Row(), columns={}, fixed_per_person=["sex"])
        with pytest.raises(DiscreetError, match="fixed_not_listed"):
            dp.table(measured(), unit=dp.Person("id"), columns={}, fixed_per_person="sex")
        with pytest.raises(DiscreetError, match="unknown_column"):
            dp.Curator(
                tests=dp.table(
                    measured(),
                    unit=dp.Person("patient", max_rows=1),
                    columns={},
                    fixed_per_person=["sx"],
                ),
                budget=MUCH,
                ledger=dp.ledger.Memory(),
            )

    def test_a_table_without_a_limit_is_named_by_its_refusal(self) -> None:
        source = curator(many=dp.Person("patient"))
        assert l1(source, COUNT) == 1
        assert l1(source, "SELECT sex, COUNT(DISTINCT patient) AS n FROM tests GROUP BY sex") == 1
        with pytest.raises(DiscreetError, match="unbounded_person"):
            source.explain("SELECT COUNT(*) AS n FROM tests")


class TestLedger:
    """Limits decide how much noise a question needs, never whom a budget guards."""

    def test_different_limits_have_a_text_of_their_own(self, tmp_path: Path) -> None:
        place = tmp_path / "one.ledger"
        source = curator(place)
        assert next(iter(source.ledger.entries())).body["unit"] == "person/2(id='id')"
        source.sql(COUNT, spend=TEN)
        with curator(place) as again:
            assert left(again) == 990

    def test_a_ledger_begun_with_one_limit_takes_tables_with_others(self, tmp_path: Path) -> None:
        place = tmp_path / "one.ledger"
        same = dp.Person("id", max_rows=20), dp.Person("patient", max_rows=20)
        with curator(place, one=same[0], many=same[1]) as source:
            source.sql(COUNT, spend=TEN)
            assert next(iter(source.ledger.entries())).body["unit"] == unit_text(same[0])
        with curator(place, one=dp.Person("id", max_rows=1), many=same[1]) as source:
            assert left(source) == 990
        with curator(place, one=same[0], many=same[1]) as source:
            source.sql(COUNT, spend=TEN)
            assert left(source) == 990  # paid before

    def test_limits_may_become_one_again(self, tmp_path: Path) -> None:
        place = tmp_path / "one.ledger"
        curator(place).close()
        with curator(place, many=dp.Person("patient", max_rows=1)) as source:
            assert source.unit == dp.Person("id", max_rows=1)

    @pytest.mark.parametrize(
        "more",
        [
            {"one": dp.Person("id", max_rows=3), "many": dp.Person("patient", max_rows=3)},
            {
                "one": dp.Person("id", max_rows=1, of="staff"),
                "many": dp.Person("patient", max_rows=20, of="staff"),
            },
            {
                "one": dp.Replace(dp.Person("id", max_rows=1)),
                "many": dp.Replace(dp.Person("patient", max_rows=20)),
            },
        ],
        ids=["limits that no table had", "other people", "another relation"],
    )
    def test_other_terms_are_refused(self, tmp_path: Path, more: Any) -> None:
        place = tmp_path / "one.ledger"
        twenty = {"one": dp.Person("id", max_rows=20), "many": dp.Person("patient", max_rows=20)}
        curator(place, **twenty).close()
        with pytest.raises(Mismatch, match="ledger_terms"):
            curator(place, **more)

    def test_other_limits_make_another_question(self, tmp_path: Path) -> None:
        place = tmp_path / "one.ledger"
        text = "SELECT COUNT(*) AS n FROM tests"
        with curator(place) as source:
            source.sql(text, spend=TEN)
        with curator(place, many=dp.Person("patient", max_rows=519)) as source:
            source.sql(text, spend=TEN)
            assert left(source) == 980
            source.sql(COUNT, spend=TEN)
        with curator(place) as source:
            source.sql(COUNT, spend=TEN)
            assert left(source) == 970
