"""The privacy statement: what it says is right, complete, public, and comes back from JSON."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.release.statement import Statement
from tests.curator.tables import COLUMNS, PERSON, by_person, private, visits

SQL = (
    "SELECT ward, COUNT(*) AS n, SUM(age) AS years, AVG(cost) AS cost, MEDIAN(age) AS middle"
    " FROM visits GROUP BY ward"
)


def stated(**options: Any) -> Any:
    spend = options.pop("spend", dp.PureDP(epsilon=1))
    return private(**options).sql(SQL, spend=spend).statement


class TestTheText:
    def test_has_every_part_of_the_pyramid_in_its_order(self) -> None:
        text = str(stated())
        titles = [line for line in text.splitlines() if line and line == line.upper()]
        assert titles == [
            "PRIVACY STATEMENT",
            "WHO IS PROTECTED",
            "WHAT IS GUARANTEED",
            "HOW",
            "HOW WRONG IT MAY BE, STAGE BY STAGE",
            "AS THE OWNER DECLARED",
            "NOT COVERED",
            "WHAT IT RESTS ON",
        ]

    @pytest.mark.parametrize(
        ("unit", "words"),
        [
            (dp.Row(), ["each row", "never been in the data", "nothing enforces it"]),
            (
                PERSON,
                ["each patient_id (at most 3 rows, 3 groups)", "One patient_id is one person"],
            ),
            (dp.Replace(dp.Row()), ["exchanged", "How many there are is public"]),
        ],
    )
    def test_names_the_unit_the_relation_and_the_promises(
        self, unit: Any, words: list[str]
    ) -> None:
        text = " ".join(str(stated(unit=unit)).split())
        assert [word for word in words if word not in text] == []

    def test_says_what_the_numbers_mean_for_one_person(self) -> None:
        text = " ".join(str(stated()).split())
        assert "factor of at most 2.72" in text
        assert "believed 50 % believes at most 73.2 %" in text
        assert "finds at most 13.6 %" in text
        assert "3 together by epsilon 3" in text

    def test_of_a_concentrated_promise_says_what_it_implies(self) -> None:
        text = str(stated(budget=dp.ZCDP(rho=1), spend=dp.ZCDP(rho=0.5)))
        assert "epsilon 5.67086 at delta 1e-07" in " ".join(text.split())
        assert "at even odds" in text

    def test_gives_the_error_of_each_stage(self) -> None:
        text = " ".join(str(stated(unit=PERSON)).split())
        for said in (
            "Bounding: unknown without paying for it: max_rows=3: each patient_id counts as at "
            "most 3 rows",
            "Clamping, centred sum (cost): unknown without paying for it: values outside [0, 200]",
            "Grid, number of rows (n); ",
            "Noise, number of rows (n): ±",
            "Grid, centred sum (cost): at most",
        ):
            assert said in text, said

    def test_of_test_mode_says_that_it_is_not_private(self) -> None:
        text = str(by_person().sql(SQL, spend=dp.PureDP(epsilon=1)).statement)
        assert "NOT PRIVATE" in text

    def test_of_invented_rows_says_so(self) -> None:
        statement = stated()
        again = Statement(
            {**statement, "invented": True},
            query=SQL,
            guarantee=statement.guarantee,
            event=statement.event,
            confidence=0.95,
        )
        assert "SIMULATED" in str(again)
        assert "SIMULATED" not in str(statement)

    def test_of_a_batch_names_the_price_of_the_whole(self) -> None:
        answers = private().batch(
            {"wards": SQL, "all": "SELECT COUNT(*) AS n FROM visits"}, spend=dp.PureDP(epsilon=1)
        )
        text = " ".join(str(answers["all"].statement).split())
        assert "PureDP: epsilon 1 for all questions of its batch together." in text
        assert "least squares" in text
        assert "batch" not in str(stated())

    def test_names_public_tables_and_routes(self) -> None:
        wards = pl.DataFrame({"ward": ["A", "B", "C"], "region": ["n", "n", "s"]})
        table = dp.table(visits(), unit=dp.Row(), columns=COLUMNS)
        public = dp.public(wards)
        curator = dp.Curator(
            visits=table,
            wards=public,
            budget=dp.PureDP(epsilon=9),
            ledger=dp.ledger.Memory(),
        )
        sql = (
            "SELECT region, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward"
            " GROUP BY region"
        )
        text = " ".join(str(curator.sql(sql, spend=dp.PureDP(epsilon=1)).statement).split())
        assert "wards may be known to everybody" in text

    def test_is_also_markdown_and_html(self) -> None:
        statement = stated()
        assert statement.to_markdown().startswith("## Privacy statement\n\n- Question:")
        assert "<h4>Who is protected</h4>" in statement._repr_html_()
        hostile = Statement(
            {},
            query="SELECT '<script>'",
            guarantee=dp.PureDP(epsilon=1, unit=dp.Row()),
            event=statement.event,
            confidence=0.95,
        )
        assert "<script>" not in hostile._repr_html_()


class TestTheObject:
    def test_is_still_the_mapping_of_its_facts(self) -> None:
        statement = stated()
        assert statement["cells"] == 3
        assert statement["version"] == 2
        assert statement == dict(statement)
        with pytest.raises(TypeError):
            statement["cells"] = 4

    def test_comes_back_from_json(self) -> None:
        statement = stated()
        again = Statement.from_json(statement.to_json())
        assert again == statement
        assert str(again) == str(statement)
        plain = json.loads(statement.to_json())
        assert plain["implies"] == [{"epsilon": 1.0, "delta": 0.0}]
        assert plain["event"]["kind"] == "Composed"

    def test_travels_with_its_release(self) -> None:
        release = private().sql(SQL, spend=dp.PureDP(epsilon=1))
        again = dp.Release.from_json(release.to_json())
        assert again.to_json() == release.to_json()
        assert again.statement == release.statement

    def test_of_a_release_stored_without_a_version_can_still_be_read(self) -> None:
        release = private().sql(SQL, spend=dp.PureDP(epsilon=1))
        plain = json.loads(release.to_json())
        plain["statement"] = {"protects": "each row", "cells": 3, "measures": []}
        assert "Unit: each row." in str(dp.Release.from_json(json.dumps(plain)).statement)

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": 99}', "null"])
    def test_is_not_any_text(self, text: str) -> None:
        with pytest.raises(DiscreetError) as refusal:
            Statement.from_json(text)
        assert refusal.value.code == "not_a_statement"


def test_nothing_in_it_depends_on_the_data() -> None:
    """Neighbours, and even a table of other people: the same statement, byte for byte."""
    full = visits()
    tables = (
        full,
        full.filter(pl.col("patient_id") != 0),
        full.with_columns(age=pl.lit(200), cost=pl.lit(-1e9)),
        full.head(0),
    )
    found = set()
    for frame in tables:
        table = dp.table(frame, unit=PERSON, columns=COLUMNS)
        curator = dp.Curator(visits=table, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory())
        found.add(curator.sql(SQL, spend=dp.PureDP(epsilon=1)).statement.to_json())  # type: ignore[attr-defined]
    assert len(found) == 1


def test_a_statement_that_counted_rows_would_be_caught() -> None:
    """The broken twin of the test above."""
    one, other = (json.dumps({"rows": len(frame)}) for frame in (visits(), visits().head(3)))
    assert one != other
