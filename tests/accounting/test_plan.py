"""Plans: shares that add up exactly, and the cost of wanted errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.adaptive import filter_for
from discreet.accounting.plan import WantedError, plan, plan_errors
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.core.unit import Row
from discreet.events import Pure
from discreet.mechanisms import Laplace

weights = st.dictionaries(
    st.text(min_size=1, max_size=3),
    st.one_of(st.floats(1e-3, 1e3), st.integers(1, 1000), st.fractions(Fraction(1, 99), 99)),
    min_size=1,
    max_size=6,
)


@given(weights, st.floats(1e-6, 100))
def test_shares_never_exceed_the_total(parts: dict[str, Any], amount: float) -> None:
    whole = sum(map(Fraction, parts.values()))
    shares = plan(PureDP(epsilon=amount, unit=Row()), parts)
    assert sum(Fraction(share.epsilon) for share in shares.values()) <= Fraction(amount)
    for name, share in shares.items():
        assert share.unit == Row()
        assert float(share.epsilon) == pytest.approx(float(amount * Fraction(parts[name]) / whole))
    budget = filter_for(PureDP(epsilon=amount))
    for share in shares.values():
        budget.record(Pure(epsilon=share.epsilon))
    squares = plan(GaussianDP(mu=amount), parts).values()
    assert sum(Fraction(share.mu) ** 2 for share in squares) <= Fraction(amount) ** 2


def test_every_notion_is_split_in_its_own_currency() -> None:
    halves = {"a": 1, "b": 1}
    assert plan(ApproxDP(epsilon=3, delta=1e-6), halves)["a"] == ApproxDP(epsilon=1.5, delta=5e-7)
    assert plan(ZCDP(rho=0.5), halves)["a"] == ZCDP(rho=0.25)
    assert plan(RenyiDP(alpha=8, epsilon=1), halves)["b"] == RenyiDP(alpha=8, epsilon=0.5)
    assert plan(GaussianDP(mu=2), {"a": 1, "b": 3})["a"] == GaussianDP(mu=1.0)
    with pytest.raises(InvalidParameter):
        plan(PureDP(epsilon=1), {"a": 0})


def laplace_error(spend: Guarantee) -> float:
    assert isinstance(spend, (PureDP, ApproxDP))
    return Laplace(epsilon=spend.epsilon, sensitivity=1).error(confidence=0.95)


def test_wanted_errors_are_bought_at_their_least_cost() -> None:
    """004d:F24: an error of 5 costs 0.5991."""
    made = plan_errors(
        PureDP(epsilon=1),
        {
            "searched": WantedError(5, laplace_error),
            "built": Laplace.for_error(10, confidence=0.95, sensitivity=1),
        },
    )
    assert made.costs["searched"].epsilon == pytest.approx(0.59915, abs=1e-5)  # type: ignore[attr-defined]
    assert laplace_error(made.costs["searched"]) <= 5
    assert made.costs["built"].epsilon == pytest.approx(0.29957, abs=1e-5)  # type: ignore[attr-defined]
    assert made.suffices
    dear = plan_errors(
        made.total, {"a": WantedError(5, laplace_error), "b": WantedError(5, laplace_error)}
    )
    assert not dear.suffices
    one = plan_errors(made.total, {"a": WantedError(1, laplace_error)})
    assert one.costs["a"].epsilon == pytest.approx(2.9957, abs=1e-4)  # type: ignore[attr-defined]
    assert not one.suffices


def test_errors_that_no_spend_reaches_are_refused() -> None:
    for total in (PureDP(epsilon=1), ApproxDP(epsilon=1, delta=0.01)):
        with pytest.raises(InvalidParameter) as caught:
            plan_errors(total, {"a": WantedError(1, lambda spend: 2.0)})
        assert caught.value.code == "accuracy_unreachable"
