"""Nothing to release is an answer, or a refusal that is free: never a charge and a failure.

No row, no row after WHERE, no key that WHERE permits, no key that is found, no column of numbers:
each way to have nothing meets each verb. Verbs are those of ``test_every_verb``, where a new one is
listed, and all forms of a query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.curator.test_every_verb import ALLOWED, PAYING

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)
LEFT_OUT = dp.LeftOut(share=0.1, rows_at_most=10)
COLUMNS: dict[str, Any] = {
    "ward": dp.Category(["A", "B", "C"]),
    "age": dp.Number(0, 99),
    "cost": dp.Number(0.0, 99.0),
    "note": dp.Discovered(),
}


def visits(rows: int) -> pl.DataFrame:
    """So many rows of few people, with a note that nobody shares."""
    return pl.DataFrame(
        {
            "who": pl.Series([row // 8 for row in range(rows)], dtype=pl.Int64),
            "ward": pl.Series(["ABC"[row % 3] for row in range(rows)], dtype=pl.String),
            "age": pl.Series([row % 100 for row in range(rows)], dtype=pl.Int64),
            "cost": pl.Series([row % 100 / 2 for row in range(rows)], dtype=pl.Float64),
            "note": pl.Series([f"note {row}" for row in range(rows)], dtype=pl.String),
        }
    )


def curator(rows: int, budget: Any = None) -> dp.Curator:
    unit = dp.Person("who", max_rows=4, max_groups=2)
    return dp.Curator(
        visits=dp.table(visits(rows), unit=unit, columns=COLUMNS),
        wards=dp.public({"ward": np.array(["A", "B"]), "beds": np.array([3, 4])}),
        empty=dp.public(pl.DataFrame({"ward": pl.Series([], dtype=pl.String)})),
        budget=budget or dp.ApproxDP(epsilon=1e6, delta=0.1),
        ledger=dp.ledger.Memory(),
    )


def asked(made: dp.Curator, ask: Callable[[dp.Curator], object]) -> str:
    """Answered, or a code; what is refused was free, and nothing fails after a charge."""
    before = made.spent
    try:
        ask(made)
    except DiscreetError as refusal:
        code = refusal.code
    else:
        return "answered"
    assert code != "engine_failed"
    assert made.spent == before
    return code


@pytest.mark.parametrize("verb", PAYING)
def test_no_verb_fails_on_a_table_without_rows(verb: str) -> None:
    columns = {name: COLUMNS[name] for name in ("ward", "age", "cost")}
    with dp.Curator(
        visits=dp.table(visits(0).drop("who", "note"), unit=dp.Row(), columns=columns),
        budget=dp.PureDP(epsilon=10_000),
        ledger=dp.ledger.Memory(),
    ) as made:
        asked(made, lambda c: PAYING[verb](c, "cost", **ALLOWED))


CONDITIONS = {
    "all": "",
    "no row": " WHERE age > 1000",
    "no key": " WHERE ward = 'nowhere'",
    "two keys that exclude each other": " WHERE ward = 'A' AND ward = 'B'",
    "no public row": " WHERE ward IN (SELECT ward FROM empty)",
    "no public row beyond a bound": " WHERE ward IN (SELECT ward FROM wards WHERE beds > 9)",
    "no truth": " WHERE FALSE",
    "a comparison with nothing": " WHERE age = NULL",
}
AGGREGATES = {
    "a count": "COUNT(*) AS n",
    "people": "COUNT(DISTINCT who) AS n",
    "different values": "COUNT(DISTINCT age) AS n",
    "a sum": "SUM(cost) AS n",
    "a mean": "AVG(age) AS n",
    "a median": "MEDIAN(age) AS n",
    "quantiles": "QUANTILE(age, [0.25, 0.75]) AS n",
    "a spread": "STDDEV(age) AS n",
    "a correlation": "CORR(age, cost) AS n",
    "a share": "COUNT_IF(age > 3) / COUNT(*) AS n",
    "no number": "",
}
KEYS = {
    "no keys": ("", ""),
    "declared": ("ward, ", " GROUP BY ward"),
    "discovered": ("note, ", " GROUP BY note"),
    "both": ("ward, note, ", " GROUP BY ward, note"),
}
ENDS = ("", " HAVING FALSE", " LIMIT 0", " ORDER BY 1 LIMIT 2", " ORDER BY 2 DESC LIMIT 2 OFFSET 9")


def different(text: str) -> str:
    """The same columns of fewer rows, so that there are two answers."""
    among = "FROM (SELECT * FROM visits WHERE ward <> 'C') AS visits"
    return text.replace("FROM visits", among)


VERBS: dict[str, Callable[..., object]] = {
    "sql": lambda c, text: c.sql(text, spend=SPEND),
    "left out": lambda c, text: c.sql(text, spend=SPEND, left_out=LEFT_OUT),
    "batch": lambda c, text: c.batch({"a": text}, spend=SPEND),
    "batch with what is left out": lambda c, text: c.batch(
        {"a": text, "b": "SELECT COUNT(*) AS n FROM visits"}, spend=SPEND, left_out=LEFT_OUT
    ),
    "around": lambda c, text: c.sql(
        f"SELECT SUM(q.n) AS s, COUNT(*) AS m FROM ({text}) AS q", spend=SPEND
    ),
    "united": lambda c, text: c.sql(f"{text} UNION ALL {text}", spend=SPEND),
    "batch of two": lambda c, text: c.batch({"a": text, "b": different(text)}, spend=SPEND),
    "without another": lambda c, text: c.sql(f"{text} EXCEPT {different(text)}", spend=SPEND),
    "preview": lambda c, text: c.preview(text, spend=SPEND),
}


def text_of(keys: str, aggregate: str, condition: str, end: str) -> str:
    named, grouped = KEYS[keys]
    columns = f"{named}{AGGREGATES[aggregate]}".rstrip(", ")
    return f"SELECT {columns} FROM visits{CONDITIONS[condition]}{grouped}{end}"


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_to_release_is_answered_or_free(verb: str) -> None:
    """Each condition with some of the rest; all of them in the slow test."""
    outcomes = []
    with curator(0) as none, curator(60) as some:
        for place, condition in enumerate(CONDITIONS):
            for number, keys in enumerate(KEYS):
                aggregate = list(AGGREGATES)[(3 * place + number) % len(AGGREGATES)]
                text = text_of(keys, aggregate, condition, ENDS[(place + number) % len(ENDS)])
                made = some if (place + number) % 2 else none
                outcomes.append(asked(made, partial(VERBS[verb], text=text)))
    assert "answered" in outcomes


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("rows", [0, 60])
@pytest.mark.parametrize("keys", KEYS)
def test_every_way_to_have_nothing_is_answered_or_free(verb: str, rows: int, keys: str) -> None:
    with curator(rows) as made:
        for condition in CONDITIONS:
            for aggregate in AGGREGATES:
                for end in ENDS:
                    text = text_of(keys, aggregate, condition, end)
                    asked(made, partial(VERBS[verb], text=text))


@pytest.mark.parametrize("verb", ["preview", "batch of two", "without another"])
def test_keys_alone_are_told_for_nothing(verb: str) -> None:
    """Several answers without a number have nothing to divide a spend over."""
    with curator(60) as made:
        text = text_of("declared", "no number", "all", "")
        assert asked(made, partial(VERBS[verb], text=text)) == "answered"
        assert made.spent == dp.ApproxDP(epsilon=0, delta=0, unit=made.unit)


def test_a_report_about_no_key_is_an_empty_table() -> None:
    with curator(60) as made:
        answer = made.sql(
            "SELECT note, COUNT(*) AS n FROM visits GROUP BY note", spend=SPEND, left_out=LEFT_OUT
        )
        assert answer.to_dict()["n"] == []
        assert answer.left_out is not None
        assert answer.left_out.to_dict()["people_at_least"] == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.batch({}, spend=SPEND),
        lambda c: c.sql("", spend=SPEND),
        lambda c: c.universe("visits"),
        lambda c: c.bounds("visits", "note", spend=SPEND),
    ],
)
def test_empty_requests_are_refused_free(ask: Callable[[dp.Curator], object]) -> None:
    with curator(60) as made:
        before = made.spent
        with pytest.raises((DiscreetError, TypeError)):
            ask(made)
        assert made.spent == before
