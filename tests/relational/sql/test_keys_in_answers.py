"""Keys by their aliases, all keys at once, exact values of keys, slips of the pen, many numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError

RICH = dp.ApproxDP(epsilon=1000, delta=1e-3)
VISITS = pl.DataFrame(
    {
        "patient": [number // 2 for number in range(400)],
        "ward": ["A" if number % 4 else "B" for number in range(400)],
        "zip": [10_000_000 + number % 3 for number in range(400)],
        "cost": [float(number % 7) for number in range(400)],
    }
)


@pytest.fixture(scope="module")
def source() -> Iterator[dp.Curator]:
    visits = dp.table(
        VISITS,
        unit=dp.Person("patient", max_rows=2),
        columns={
            "ward": dp.Category(["A", "B", "long name"]),
            "zip": dp.Number(0, 99_999_999),
            "cost": dp.Number(0, 10),
        },
    )
    wards = dp.public(pl.DataFrame({"ward": ["A", "B"], "beds": [10, 20]}))
    with dp.Curator(
        visits=visits,
        wards=wards,
        budget=dp.ApproxDP(epsilon=1_000_000, delta=0.5),
        ledger=dp.ledger.Memory(),
    ) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY w DESC", "lBA"),
        ("SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY w HAVING w <> 'A' ORDER BY w", "Bl"),
        ("SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ALL HAVING n > 9 ORDER BY 2", "BA"),
        ("SELECT upper(ward) AS w, COUNT(*) AS n FROM visits GROUP BY ALL ORDER BY w", "ABL"),
    ],
)
def test_keys_go_by_their_aliases(source: dp.Curator, question: str, expected: str) -> None:
    answer = source.sql(question, spend=RICH)
    assert "".join(str(value)[0] for value in answer.keys["w"]) == expected


def test_all_keys_of_nothing_are_none(source: dp.Curator) -> None:
    assert len(source.sql("SELECT COUNT(*) AS n FROM visits GROUP BY ALL", spend=RICH)) == 1


def test_the_value_of_a_key_is_exact(source: dp.Curator) -> None:
    answer = source.sql(
        "SELECT w.ward, w.beds, COUNT(*) / w.beds AS each, COUNT(*) AS n FROM visits v "
        "JOIN wards w ON v.ward = w.ward GROUP BY w.ward, w.beds",
        spend=dp.PureDP(epsilon=1),
    )
    each: Any = answer["each"]
    n: Any = answer["n"]
    stood: Any = answer.keys["beds"]
    for row, beds in enumerate(stood):
        # Counts are shown as whole numbers; what is computed from them is not rounded first.
        assert each.values[row] == pytest.approx(n.values[row] / beds, abs=0.5 / beds)
        assert each.lower[row] == pytest.approx(n.lower[row] / beds, abs=1.5 / beds)


def test_identifiers_are_counted_as_rows(source: dp.Curator) -> None:
    rows = source.sql("SELECT COUNT(*) AS n FROM visits", spend=RICH)
    assert source.sql("SELECT COUNT(patient) AS n FROM visits", spend=RICH)["n"] == rows["n"]
    some = "SELECT COUNT(patient) FILTER (WHERE ward = 'B') AS n FROM visits"
    assert source.sql(some, spend=RICH)["n"].values == (100,)


@pytest.mark.parametrize(
    "condition",
    [
        "ward = 'a'",
        "ward <> 'Z'",
        "ward IN ('A', 'lon name')",
        "ward IS DISTINCT FROM 'C'",
        "cost > 1 AND NOT (ward = 'C')",
    ],
)
def test_a_constant_that_nobody_listed_is_refused_for_free(
    source: dp.Curator, condition: str
) -> None:
    before = source.spent
    for question in (
        f"SELECT COUNT(*) AS n FROM visits WHERE {condition}",
        f"SELECT COUNT(*) FILTER (WHERE {condition}) AS n FROM visits",
    ):
        with pytest.raises(DiscreetError, match="value_not_listed") as refusal:
            source.sql(question, spend=RICH)
        assert "'A', 'B', 'long name'" in str(refusal.value)
        with pytest.raises(DiscreetError, match="value_not_listed"):
            source.batch({"one": question}, spend=RICH)
    assert source.spent == before


def test_a_long_list_is_told_by_its_nearest_names() -> None:
    table = dp.table(
        VISITS,
        unit=dp.Row(),
        columns={"ward": dp.Category([f"ward {number}" for number in range(500)])},
    )
    with (
        dp.Curator(t=table, budget=RICH, ledger=dp.ledger.Memory()) as source,
        pytest.raises(DiscreetError, match="value_not_listed") as refusal,
    ):
        source.sql("SELECT COUNT(*) AS n FROM t WHERE ward = 'word 321'", spend=RICH)
    assert "'ward 321'" in str(refusal.value)
    assert "ward 7'" not in str(refusal.value)


def test_whole_numbers_too_many_to_list_are_discovered(source: dp.Curator) -> None:
    question = "SELECT zip, COUNT(*) AS n FROM visits GROUP BY zip"
    answer = source.sql(question, spend=RICH)
    assert set(answer.keys["zip"]) == {10_000_000, 10_000_001, 10_000_002}
    with pytest.raises(DiscreetError, match="keys_need_delta"):
        source.sql(question, spend=dp.PureDP(epsilon=1))
