"""BigQuery's clause sets the price, and may narrow what was declared, never widen it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import Person
from discreet.relational.sql.privacy_clause import opened
from tests.relational.frontends.hospital import curator


@pytest.fixture(scope="module")
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


def asked(options: str, rest: str = "ward, COUNT(*) AS n FROM visits GROUP BY ward") -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {rest}"


def test_the_clause_pays(hospital: dp.Curator) -> None:
    pure = hospital.sql(asked("epsilon=1"))
    assert pure.guarantee == dp.PureDP(epsilon=1).per(hospital.unit)
    both = hospital.sql(asked("epsilon=0.5, delta=1e-7, privacy_unit_column=patient"))
    assert isinstance(both.guarantee, dp.ApproxDP)
    assert (float(both.guarantee.epsilon), float(both.guarantee.delta)) == (
        0.5,
        0.0,
    )  # none was needed
    assert "OPTIONS(epsilon=0.5" in both.query


def test_with_and_without_the_clause_it_is_one_question(hospital: dp.Curator) -> None:
    first = hospital.sql(asked("epsilon=.25"))
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    spent = hospital.spent
    assert hospital.sql(text, spend=dp.PureDP(epsilon=0.25)).to_json() == first.to_json()
    assert hospital.spent == spent


@pytest.mark.parametrize(
    "text",
    [
        "WITH é AS (SELECT * FROM visits WHERE note <> 'é') {} COUNT(*) AS n FROM é",
        "/* SELECT WITH DIFFERENTIAL_PRIVACY */ {} COUNT(*) AS n FROM visits",
        "{} COUNT(*) AS n FROM visits WHERE note = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS('",
        "{} -- DIFFERENTIAL_PRIVACY\n COUNT(*) AS n FROM visits",
    ],
)
def test_only_the_clause_itself_is_taken_out(text: str, hospital: dp.Curator) -> None:
    clause = "select with differential_privacy options (EPSILON = 1)"
    found = hospital.explain(text.format(clause))
    assert found.sql == hospital.explain(text.format("SELECT")).sql


def test_bounds_may_be_narrowed_for_one_question(hospital: dp.Curator) -> None:
    assert hospital.explain(asked("epsilon=1")).measures[0].l1 == 5
    assert hospital.explain(asked("epsilon=1, max_rows_contributed=2")).measures[0].l1 == 2
    people = asked(
        "epsilon=1, max_groups_contributed=1",
        "ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward",
    )
    assert hospital.explain(people).measures[0].l1 == 1
    assert isinstance(hospital.unit, Person)
    assert hospital.unit.max_groups == 4


def test_bounds_are_narrowed_in_every_query_of_a_question(hospital: dp.Curator) -> None:
    text = asked(
        "epsilon=1, max_rows_contributed=2",
        "a.n, b.m FROM (SELECT COUNT(*) AS n FROM visits) AS a CROSS JOIN "
        "(SELECT COUNT(*) AS m FROM visits WHERE ward = 'A') AS b",
    )
    assert [measure.l1 for measure in hospital.explain(text).measures] == [2, 2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (asked("epsilon=1, max_groups_contributed=5"), "clause_bound"),
        (asked("epsilon=1, max_rows_contributed=6"), "clause_bound"),
        (asked("epsilon=1, max_groups_contributed=0"), "clause_option"),
        (asked("epsilon=1, max_groups_contributed=1.5"), "clause_option"),
        (asked("epsilon=1, privacy_unit_column=ward"), "clause_unit"),
        (asked("epsilon=1, privacy_unit_column=wards.patient"), "clause_unit"),
        (asked("epsilon=1, privacy_unit_column='patient'"), "clause_option"),
        (asked("epsilon=1, k_threshold=5"), "clause_option"),
        (asked("epsilon=1, epsilon=2"), "clause_option"),
        (asked("epsilon=x"), "clause_option"),
        (asked("delta=1e-6"), "clause_option"),
        (asked("epsilon"), "clause_option"),
        (asked("epsilon=0"), "not_positive"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) AS n FROM visits", "clause_option"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1", "clause_option"),
        (asked("epsilon=1, kappa=2, max_groups_contributed=2"), "clause_option"),
        (asked("epsilon=1, min_privacy_units_per_group=5"), "clause_groups"),
        (asked("epsilon=1, group_selection_strategy=BEST"), "clause_option"),
        (asked("epsilon=1, kappa=5"), "clause_bound"),
        (asked("epsilon=1, privacy_unit_column=(ward)"), "clause_unit"),
        (asked("epsilon=1, privacy_unit_column=(ward, patient)"), "clause_option"),
        (asked("epsilon=1, privacy_unit_column=(patient"), "clause_option"),
        (asked("epsilon=1", f"COUNT(*) AS n FROM ({asked('epsilon=1')}) AS q"), "unsupported_sql"),
    ],
)
def test_what_the_clause_cannot_say_is_refused_by_name(
    text: str, code: str, hospital: dp.Curator
) -> None:
    spent = hospital.spent
    with pytest.raises(DiscreetError) as caught:
        hospital.sql(text)
    assert caught.value.code == code, caught.value
    assert hospital.spent == spent


@pytest.mark.parametrize(
    "options",
    [
        "epsilon=1, max_groups_contributed=NULL",
        "epsilon=1, group_selection_strategy=PUBLIC_GROUPS",
        "epsilon=1, group_selection_strategy=LAPLACE_THRESHOLD",
        "epsilon=1, privacy_unit_column=(patient)",
        "epsilon=1, privacy_unit_column=`patient`",
    ],
)
def test_what_agrees_with_the_declarations_changes_nothing(
    options: str, hospital: dp.Curator
) -> None:
    assert hospital.explain(asked(options)).sql == hospital.explain(asked("epsilon=1")).sql


@pytest.mark.parametrize("table", ["visits AS v", "visits v", "(SELECT * FROM visits) AS v"])
def test_the_person_may_be_named_by_an_alias(table: str, hospital: dp.Curator) -> None:
    rest = f"COUNT(*) AS n FROM {table}"
    assert hospital.explain(asked("epsilon=1, privacy_unit_column=v.patient", rest)).measures
    with pytest.raises(DiscreetError, match="clause_unit"):
        hospital.explain(asked("epsilon=1, privacy_unit_column=v.ward", rest))


@pytest.mark.parametrize(
    "around", ["SELECT * FROM ({}) AS q", "WITH q AS ({}) SELECT ward, n FROM q", "({})"]
)
def test_the_clause_may_stand_inside_where_it_prices_the_whole(
    around: str, hospital: dp.Curator
) -> None:
    inside = hospital.sql(around.format(asked("epsilon=0.75")))
    assert inside.guarantee == dp.PureDP(epsilon=0.75).per(hospital.unit)
    spent = hospital.spent
    assert hospital.sql(asked("epsilon=0.75"))["n"].values == inside["n"].values
    assert hospital.spent == spent


def test_the_former_clause_says_the_same(hospital: dp.Curator) -> None:
    former = "SELECT WITH ANONYMIZATION OPTIONS(epsilon=1, kappa=2) ward, ANON_COUNT(*) AS n"
    text = f"{former} FROM visits GROUP BY ward"
    assert hospital.explain(text).sql == hospital.explain(asked("epsilon=1, kappa=2")).sql
    assert hospital.sql(text).guarantee == dp.PureDP(epsilon=1).per(hospital.unit)


def test_public_groups_are_not_discovered() -> None:
    keys = pl.DataFrame({"patient": [1, 2, 3], "city": ["x", "y", "x"]})
    with dp.Curator(
        visits=dp.table(
            keys, unit=dp.Person("patient", max_rows=2), columns={"city": dp.Discovered()}
        ),
        budget=dp.ApproxDP(epsilon=9, delta=1e-5),
        ledger=dp.ledger.Memory(),
    ) as made:
        rest = (
            "city, SUM(1, contribution_bounds_per_group => (0, 2)) AS n FROM visits GROUP BY city"
        )
        options = "epsilon=1, delta=1e-6, group_selection_strategy="
        with pytest.raises(DiscreetError, match="clause_groups"):
            made.explain(asked(f"{options}PUBLIC_GROUPS", rest))
        assert made.explain(asked(f"{options}LAPLACE_THRESHOLD", rest)).cells is None


def test_the_price_stands_in_one_place(hospital: dp.Curator) -> None:
    with pytest.raises(DiscreetError, match="spend_twice"):
        hospital.sql(asked("epsilon=1"), spend=dp.PureDP(epsilon=1))
    with pytest.raises(DiscreetError, match="spend_twice"):
        hospital.preview(asked("epsilon=1"), accuracy={"n": dp.Within(5)})
    with pytest.raises(DiscreetError, match="sql_syntax"):
        hospital.batch({"a": asked("epsilon=1")}, spend=dp.PureDP(epsilon=1))


def test_rows_that_are_units_have_no_bounds_to_narrow() -> None:
    with curator(dp.Row()) as rows, pytest.raises(DiscreetError, match="clause_bound"):
        rows.sql(asked("epsilon=1, max_groups_contributed=1"))


def test_what_follows_the_clause_stays_where_it_was() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY\n  OPTIONS(epsilon=1) COUNT(*) AS n FORM visits"
    rest, clause = opened(text)
    assert clause is not None
    assert rest.split() == ["SELECT", "COUNT(*)", "AS", "n", "FORM", "visits"]
    assert (len(rest), rest.index("\n"), rest.index("FORM")) == (
        len(text),
        text.index("\n"),
        text.index("FORM"),
    )
