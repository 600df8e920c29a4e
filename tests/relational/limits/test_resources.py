"""What a question may use is public and is checked before it is paid for."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.limits import resources
from discreet.relational.limits.resources import require_statement


def curator() -> dp.Curator:
    rows = {"a": np.array([0.5, 1.5]), "b": np.array([0.5, 2.5]), "n": np.array([1, 2])}
    columns = {"a": dp.Number(0, 1), "b": dp.Number(0, 1), "n": dp.Number(0, 5)}
    return dp.Curator(
        t=dp.table(rows, unit=dp.Row(), columns=columns),
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
    )


def refused(sql: str, code: str) -> None:
    """Refused by the preview and by the question, free of charge."""
    spend = dp.PureDP(epsilon=0.9)
    with curator() as asked:
        for door in (asked.preview, asked.sql):
            with pytest.raises(DiscreetError) as refusal:
                door(sql, spend=spend)
            assert refusal.value.code == code
        assert asked.spent.epsilon == 0  # type: ignore[attr-defined]


def test_the_refusal_of_too_many_rows_states_the_limit_that_was_broken() -> None:
    unit = dp.Person("a", max_rows=1)
    rows = {"a": np.array([1, 2]), "n": np.array([1, 2])}
    public = dp.public({"n": np.repeat([1, 2], 500_000)})
    branch = "SELECT t.n FROM t JOIN p ON t.n = p.n"
    many = " UNION ALL ".join([branch] * 9)
    with (
        dp.Curator(
            t=dp.table(rows, unit=unit, columns={"n": dp.Number(0, 5)}),
            p=public,
            budget=dp.PureDP(epsilon=10),
            ledger=dp.ledger.Memory(),
        ) as asked,
        pytest.raises(DiscreetError, match="at most 4000000 at one step"),
    ):
        asked.preview(f"SELECT COUNT(*) AS n FROM ({many}) AS q", spend=dp.PureDP(epsilon=1))


BY_BINS = "FROM t GROUP BY bin(a, 0, 1, 1000), bin(b, 0, 1, 1000)"


def test_cells_times_candidates_have_a_limit() -> None:
    refused(f"SELECT MEDIAN(a * 1.5) AS m {BY_BINS}", "too_many_numbers")


def test_cells_times_measures_have_a_limit() -> None:
    sums = ", ".join(f"SUM(a + {number}) AS s{number}" for number in range(60))
    refused(f"SELECT {sums} {BY_BINS}", "too_many_numbers")


def test_few_cells_with_many_candidates_are_answered() -> None:
    with curator() as asked:
        sql = "SELECT bin(a, 0, 1, 10) AS g, MEDIAN(b) AS m FROM t GROUP BY g"
        assert len(asked.sql(sql, spend=dp.PureDP(epsilon=1)).to_dict()["m"]) == 10


def nested(levels: int, width: int, step: str) -> str:
    """Each level names the column of the one below many times."""
    rows = "SELECT n AS x FROM t"
    for _ in range(levels):
        wide = " + ".join(["x"] * width)
        rows = step.format(wide=wide, rows=rows)
    return f"SELECT COUNT(*) AS n FROM ({rows}) AS q WHERE x > 3"


@pytest.mark.parametrize(
    "step",
    [
        "SELECT DISTINCT least({wide}, 9) AS x FROM ({rows}) AS q",
        "SELECT least({wide}, 9) AS x FROM ({rows}) AS q UNION ALL SELECT n AS x FROM t",
        "SELECT x FROM (SELECT least({wide}, 9) AS x FROM ({rows}) AS q UNION ALL "
        "SELECT n AS x FROM t) AS q WHERE x > 1",
    ],
    ids=["distinct", "union", "filtered"],
)
def test_inner_columns_written_out_have_a_limit(step: str) -> None:
    refused(nested(5, 32, step), "expression_too_large")
    with curator() as asked:
        asked.sql(nested(2, 8, step), spend=dp.PureDP(epsilon=1))


def test_a_statement_has_a_longest_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "MAX_STATEMENT", 10)
    assert require_statement("SELECT 123") == "SELECT 123"
    with pytest.raises(DiscreetError, match="expression_too_large"):
        require_statement("SELECT 1234")
    with curator() as asked:
        with pytest.raises(DiscreetError, match="expression_too_large"):
            asked.sql("SELECT COUNT(*) AS n FROM t", spend=dp.PureDP(epsilon=1))
        assert asked.spent.epsilon == 0  # type: ignore[attr-defined]


def test_a_public_table_of_many_names_fits_into_a_statement() -> None:
    names = np.array([f"{number:05d}{'z' * 90}" for number in range(50_000)])
    with dp.Curator(
        t=dp.table({"k": names[:40]}, unit=dp.Row(), columns={}),
        p=dp.public({"k": names, "r": np.arange(50_000) % 2}),
        budget=dp.PureDP(epsilon=1e5),
        ledger=dp.ledger.Memory(),
    ) as asked:
        sql = "SELECT r, COUNT(*) AS n FROM t JOIN p ON t.k = p.k GROUP BY r"
        # Noise moves a count with a probability below 1e-40.
        assert asked.sql(sql, spend=dp.PureDP(epsilon=1e3)).to_dict()["n"] == [20, 20]
