"""Listed keys alone are the owner's list, free; DISTINCT is understood where it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.relational.frontends.hospital import curator

PRICE = dp.PureDP(epsilon=1)


@pytest.fixture
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward FROM visits GROUP BY ward ORDER BY ward",
        "SELECT DISTINCT ward FROM visits ORDER BY ward",
        "SELECT DISTINCT ward AS ward FROM visits GROUP BY ward ORDER BY ward",
    ],
)
def test_listed_keys_alone_are_the_list_and_cost_nothing(text: str, hospital: dp.Curator) -> None:
    before = hospital.spent
    assert hospital.preview(text, spend=PRICE).is_free
    answer = hospital.sql(text, spend=PRICE)
    assert hospital.spent == before
    counted = hospital.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", spend=PRICE)
    assert set(answer.keys["ward"]) == set(counted.keys["ward"])
    assert dp.Release.from_json(answer.to_json()).keys == answer.keys
    assert "nothing is charged" in str(answer)


def test_conditions_narrow_the_list(hospital: dp.Curator) -> None:
    before = hospital.spent
    answer = hospital.sql("SELECT DISTINCT ward FROM visits WHERE ward > 'A'", spend=PRICE)
    assert answer.keys == {"ward": ("B", "C")}
    assert hospital.spent == before


def test_distinct_keys_beside_aggregates_change_nothing(hospital: dp.Curator) -> None:
    with_it = "SELECT DISTINCT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    first = hospital.sql(with_it, spend=PRICE)
    spent = hospital.spent
    again = hospital.sql(with_it.replace("DISTINCT ", ""), spend=PRICE)
    assert first["n"].values == again["n"].values
    assert hospital.spent == spent


def test_distinct_numbers_without_their_keys_are_those_of_the_answer(
    hospital: dp.Curator,
) -> None:
    made = hospital.sql("SELECT DISTINCT COUNT(*) AS n FROM visits GROUP BY ward", spend=PRICE)
    values = made["n"].values
    assert len(set(values)) == len(values)


def test_distinct_columns_that_nobody_listed_are_refused(hospital: dp.Curator) -> None:
    with pytest.raises(DiscreetError) as refusal:
        hospital.sql("SELECT DISTINCT note FROM visits", spend=PRICE)
    assert refusal.value.code == "key_not_declared"
