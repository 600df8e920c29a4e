"""What a wanted accuracy may cost, and errors that are shares.

The price follows from the plan, bounds and public sizes; every refusal is free.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.curator.price_limit import require_within
from discreet.errors import DiscreetError

COUNT = "SELECT COUNT(*) AS n FROM visits"
SUM = "SELECT SUM(cost) AS s FROM visits"
MEAN = "SELECT AVG(cost) AS a FROM visits"
PATIENT = dp.Person("patient", max_rows=5)
ROW = dp.Row()
LARGE = dp.PureDP(epsilon=30)


def curator(budget: Guarantee = LARGE, unit: Any = ROW, **more: Any) -> dp.Curator:
    frame = pl.DataFrame(
        {
            "cost": [100 + row % 50 for row in range(2000)],
            "age": [7] * 2000,
            "patient": [row % 400 for row in range(2000)],
        }
    )
    columns = {"cost": dp.Number(100, 150), "age": dp.Number(0, 99)}
    return dp.Curator(
        visits=dp.table(frame, unit=unit, columns=columns, snapshot="one"),
        budget=budget,
        ledger=dp.ledger.Memory(),
        **more,
    )


def code_of(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except DiscreetError as refusal:
        return refusal.code
    return "answered"


# At most -----------------------------------------------------------------------------------------


def test_an_error_meant_as_a_share_does_not_buy_the_truth() -> None:
    """Five hundredths of one row would have cost more than all there is."""
    source = curator(unit=PATIENT)
    with pytest.raises(DiscreetError) as refused:
        source.sql(COUNT, accuracy=dp.Within(0.05))
    assert refused.value.code == "accuracy_too_expensive"
    assert "5%" in refused.value.remedy
    assert "at_most=" in refused.value.remedy
    assert source.spent == dp.PureDP(epsilon=0, unit=PATIENT)
    assert source.preview(COUNT, accuracy=dp.Within(0.05)).price.epsilon > 10  # type: ignore[attr-defined]


def test_an_explicit_word_pays_more_than_is_usual() -> None:
    source = curator(unit=PATIENT)
    price = source.preview(COUNT, accuracy=dp.Within(1)).price
    assert price.epsilon > 10  # type: ignore[attr-defined]
    source.sql(COUNT, accuracy=dp.Within(1), at_most=dp.PureDP(epsilon=19))
    assert source.spent == price


@pytest.mark.parametrize("verb", ["sql", "preview", "frame"])
def test_a_price_above_at_most_is_refused_free(verb: str) -> None:
    source = curator()
    ask: dict[str, Callable[..., object]] = {
        "sql": lambda **more: source.sql(COUNT, **more),
        "preview": lambda **more: source.preview(COUNT, **more),
        "frame": lambda **more: source.frame("visits").agg(n=dp.count()).release(**more),
    }
    within = dp.Within(3)  # about epsilon 1
    least = dp.PureDP(epsilon=0.5)
    assert code_of(lambda: ask[verb](accuracy=within, at_most=least)) == "accuracy_too_expensive"
    assert source.spent == dp.PureDP(epsilon=0, unit=dp.Row())
    enough = dp.PureDP(epsilon=1.5)
    assert code_of(lambda: ask[verb](accuracy=within, at_most=enough)) == "answered"


@pytest.mark.parametrize(
    ("budget", "usual", "dear"),
    [
        (dp.ZCDP(rho=9), dp.Within(2), dp.Within(0.9)),
        (dp.ApproxDP(epsilon=40, delta=1e-6, by=dp.ZCDP), dp.Within(2), dp.Within(0.9)),
        (dp.RenyiDP(alpha=4, epsilon=40), dp.Within(2), dp.Within(0.7)),
        (dp.ApproxDP(epsilon=40, delta=1e-6), dp.Within(2), dp.Within(0.1)),
    ],
    ids=["zcdp", "by zcdp", "renyi", "approx"],
)
def test_what_is_usual_holds_in_every_definition(
    budget: Guarantee, usual: dp.Within, dear: dp.Within
) -> None:
    source = curator(budget)
    mean = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
    assert code_of(lambda: source.sql(COUNT, accuracy=usual)) == "answered"
    spent = source.spent
    several = {"n": dear, "s": dp.Within(dear.error * 100)}
    assert code_of(lambda: source.sql(mean, accuracy=several)) == "accuracy_too_expensive"
    assert source.spent == spent


@pytest.mark.parametrize(
    ("at_most", "code"),
    [
        (dp.ZCDP(rho=0.5), "answered"),
        (dp.ZCDP(rho=0.1), "accuracy_too_expensive"),
        (dp.PureDP(epsilon=1), "answered"),
        (dp.PureDP(epsilon=0.5), "accuracy_too_expensive"),
        (dp.ApproxDP(epsilon=6, delta=1e-6), "answered"),
        (dp.ApproxDP(epsilon=2, delta=1e-6), "accuracy_too_expensive"),
        (dp.RenyiDP(alpha=4, epsilon=9), "spend_notion"),
        (0.5, "not_a_spend"),
    ],
)
def test_a_limit_is_read_in_the_definition_of_the_price(at_most: Any, code: str) -> None:
    source = curator(dp.ZCDP(rho=9))
    price = source.preview(COUNT, accuracy=dp.Within(2)).price
    assert 0.2 < price.rho < 0.5  # type: ignore[attr-defined]
    assert code_of(lambda: source.sql(COUNT, accuracy=dp.Within(2), at_most=at_most)) == code


@pytest.mark.parametrize(
    ("price", "limit", "enough"),
    [
        (dp.RenyiDP(alpha=4, epsilon=2), dp.ZCDP(rho=0.5), True),  # rho times alpha
        (dp.RenyiDP(alpha=4, epsilon=2.001), dp.ZCDP(rho=0.5), False),
        (dp.RenyiDP(alpha=4, epsilon=2.001), dp.PureDP(epsilon=2), False),
        (dp.RenyiDP(alpha=4, epsilon=2), dp.RenyiDP(alpha=4, epsilon=2), True),
        (dp.RenyiDP(alpha=4, epsilon=2.001), dp.RenyiDP(alpha=4, epsilon=2), False),
        (dp.ZCDP(rho=0.5), dp.PureDP(epsilon=1), True),  # epsilon squared over two
        (dp.ZCDP(rho=0.501), dp.PureDP(epsilon=1), False),
        (dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=1e-6), True),
        (dp.PureDP(epsilon=1.001), dp.ApproxDP(epsilon=1, delta=1e-6), False),
    ],
)
def test_a_limit_in_another_definition_is_what_it_permits_there(
    price: Any, limit: Any, *, enough: bool
) -> None:
    attempt = code_of(lambda: require_within(price, limit))
    assert attempt == ("answered" if enough else "accuracy_too_expensive")


def test_a_limit_beside_a_spend_is_refused() -> None:
    source = curator()
    spend = dp.PureDP(epsilon=1)
    assert code_of(lambda: source.sql(COUNT, spend=spend, at_most=spend)) == (
        "at_most_without_accuracy"
    )


def test_the_cap_of_a_policy_holds_for_the_price_of_an_accuracy() -> None:
    tables: Any = {"visits": {"filter": [], "group": [], "aggregate": []}}
    policy = dp.Policy.of({"max_spend": {"epsilon": 0.5}, "tables": tables})
    source = curator(policy=policy)
    large = dp.PureDP(epsilon=20)
    assert code_of(lambda: source.sql(COUNT, accuracy=dp.Within(3), at_most=large)) == (
        "policy_spend"
    )
    assert source.spent == dp.PureDP(epsilon=0, unit=dp.Row())


# Shares ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [(COUNT, 50.0), (SUM, 5_000.0), (MEAN, 5.0)],
)
def test_a_share_is_one_of_the_least_that_public_bounds_allow(text: str, same: float) -> None:
    """Five in a hundred of a thousand rows, of a thousand times 100, of 100."""
    source = curator()
    relative = dp.Within("5%", rows_at_least=1000)
    named = source.preview(text, accuracy=relative)
    assert named.price == source.preview(text, accuracy=dp.Within("5%"), rows_at_least=1000).price
    assert named.price == source.preview(text, accuracy=dp.Within(same), rows_at_least=1000).price
    source.sql(text, accuracy=relative)


def test_the_rows_of_a_column_stand_before_those_of_the_query() -> None:
    source = curator()
    large = source.preview(COUNT, accuracy=dp.Within("5%", rows_at_least=1000), rows_at_least=10)
    assert large.price == source.preview(COUNT, accuracy=dp.Within(50)).price


@pytest.mark.parametrize(
    ("text", "within", "code"),
    [
        (COUNT, dp.Within("5%"), "relative_to_unknown"),
        ("SELECT SUM(age) AS s FROM visits", dp.Within("5%", rows_at_least=9), "relative_to_zero"),
        ("SELECT AVG(age) AS a FROM visits", dp.Within("5%", rows_at_least=9), "relative_to_zero"),
        (
            "SELECT SUM(cost - 120) AS s FROM visits",
            dp.Within("5%", rows_at_least=9),
            "relative_to_zero",
        ),
        ("SELECT SUM(0 - cost) AS s FROM visits", dp.Within("5%", rows_at_least=900), "answered"),
    ],
)
def test_a_share_of_what_may_be_nothing_is_refused(text: str, within: dp.Within, code: str) -> None:
    assert code_of(lambda: curator().sql(text, accuracy=within)) == code


@pytest.mark.parametrize("error", ["5", "5 %%", "%", "five%", "-5%", "0%", "101%", "nan%"])
def test_what_is_no_share_is_refused_by_name(error: str) -> None:
    assert code_of(lambda: dp.Within(error)) == "error_misread"


@pytest.mark.parametrize("rows", [0, -3, 1.5, "9"])
def test_rows_at_least_is_a_positive_number(rows: Any) -> None:
    assert code_of(lambda: dp.Within("5%", rows_at_least=rows)) != "answered"
