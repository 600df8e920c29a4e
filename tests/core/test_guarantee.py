"""Guarantees: oracles of group privacy, upward rounding, and units that never mix."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.audit.testers import hockey_stick
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.core.unit import Edge, Node, Person, Replace, Row

EVERY: list[Guarantee] = [
    PureDP(epsilon=1),
    ApproxDP(epsilon=1, delta=1e-6),
    ZCDP(rho=0.5),
    RenyiDP(alpha=2, epsilon=1),
    GaussianDP(mu=1),
]


def test_the_tight_sum_for_groups() -> None:
    """000a:A7: the printed k e^{(k-1) epsilon} delta is larger than what is needed."""
    four = ApproxDP(epsilon=0.5, delta=1e-6).group(4)
    assert four.epsilon == 2
    assert float(four.delta) == pytest.approx(9.8487e-6, rel=1e-4)
    printed = 4 * math.exp(1.5) * 1e-6
    assert printed == pytest.approx(1.7927e-5, rel=1e-4)
    assert four.delta < printed


def test_add_remove_to_replacement() -> None:
    """004a:A5."""
    pair = ApproxDP(epsilon=1, delta=1e-6, unit=Row()).replaced()
    assert isinstance(pair, ApproxDP)
    assert pair.unit == Replace(Row())
    assert pair.epsilon == 2
    assert float(pair.delta) == pytest.approx(3.71828e-6, rel=1e-5)
    assert PureDP(epsilon=0.25).replaced() == PureDP(epsilon=0.5)
    with pytest.raises(Mismatch, match="unit_mismatch"):
        pair.replaced()


@pytest.mark.parametrize("n", [2, 5, 100])
def test_a_node_of_a_complete_graph_is_n_minus_one_edges(n: int) -> None:
    """000a:A2."""
    edges = PureDP(epsilon=Fraction(1, 10), unit=Edge())
    assert edges.group(n - 1).epsilon == (n - 1) * Fraction(1, 10)


def test_groups_of_other_notions() -> None:
    assert ZCDP(rho=0.5).group(2).rho == 2
    assert GaussianDP(mu=0.5).group(3).mu == 1.5
    assert RenyiDP(alpha=2, epsilon=1).group(1) == RenyiDP(alpha=2, epsilon=1)
    with pytest.raises(InvalidParameter, match="no_group_privacy"):
        RenyiDP(alpha=2, epsilon=1).group(2)


def test_nothing_spent_is_nothing_for_any_group() -> None:
    for zero in (PureDP(epsilon=0), ApproxDP(epsilon=0, delta=0), ZCDP(rho=0), GaussianDP(mu=0)):
        assert zero.group(10**9) == zero
    assert ApproxDP(epsilon=1000, delta=0).group(1000) == ApproxDP(epsilon=10**6, delta=0)


def test_zero_zero_holds_only_for_equal_laws() -> None:
    """000a:A3."""
    assert hockey_stick([0.5, 0.5], [0.5, 0.5], epsilon=0) == 0
    assert hockey_stick([0.5, 0.5], [0.5 + 1e-9, 0.5 - 1e-9], epsilon=0) > 0


@given(
    st.floats(0, 50),
    st.floats(1e-300, 1e-3),
    st.integers(2, 60),
)
def test_group_deltas_round_upward(epsilon: float, delta: float, size: int) -> None:
    with localcontext() as context:
        context.prec = 60
        factor = sum(((j * Decimal(epsilon)).exp() for j in range(size)), Decimal(0))
        truth = Decimal(delta) * factor
        assume(truth < Decimal("0.99"))
        stated = Decimal(float(ApproxDP(epsilon=epsilon, delta=delta).group(size).delta))
        assert truth <= stated <= truth * (1 + Decimal("1e-11"))


@given(st.floats(0, 1e6), st.integers(1, 10**6))
def test_group_products_round_upward(value: float, size: int) -> None:
    assert Fraction(PureDP(epsilon=value).group(size).epsilon) >= Fraction(value) * size
    assert Fraction(ZCDP(rho=value).group(size).rho) >= Fraction(value) * size**2
    assert Fraction(GaussianDP(mu=value).group(size).mu) >= Fraction(value) * size


@given(st.one_of(st.floats(0, 1e100), st.fractions(0, 1000)))
def test_pure_is_concentrated_at_half_its_square(epsilon: Any) -> None:
    rho = Fraction(PureDP(epsilon=epsilon).zcdp().rho)
    assert Fraction(epsilon) ** 2 / 2 <= rho
    assert rho <= Fraction(epsilon) ** 2 / 2 * (1 + Fraction(1, 2**50)) + Fraction(1, 2**1074)


def test_fractions_stay_exact() -> None:
    third = ApproxDP(epsilon=1, delta=Fraction(1, 3))
    assert third.group(1) == third
    tiny = ApproxDP(epsilon=1, delta=Fraction(1, 10**400))
    assert tiny.group(2).delta > 0, "a positive delta never becomes zero"
    assert PureDP(epsilon=Fraction(1, 3)).group(3).epsilon == 1
    assert ZCDP(rho=Fraction(1, 9)).group(3).rho == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda: ApproxDP(epsilon=1, delta=0.5).group(9),
        lambda: ApproxDP(epsilon=1000.0, delta=1e-6).group(2),
        lambda: PureDP(epsilon=1e308).group(100),
        lambda: PureDP(epsilon=1e300).zcdp(),
    ],
)
def test_groups_without_a_guarantee_are_refused(build: Any) -> None:
    with pytest.raises(InvalidParameter):
        build()


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        (PureDP(epsilon=1), PureDP(epsilon=1)),
        (PureDP(epsilon=1), ApproxDP(epsilon=1, delta=0)),
        (ApproxDP(epsilon=1, delta=0), PureDP(epsilon=2)),
        (ApproxDP(epsilon=1, delta=1e-6), ApproxDP(epsilon=2, delta=1e-5)),
        (PureDP(epsilon=1), ZCDP(rho=0.6)),
        (PureDP(epsilon=1), RenyiDP(alpha=9, epsilon=1)),
        (ZCDP(rho=0.1), RenyiDP(alpha=4, epsilon=0.5)),
        (GaussianDP(mu=1), ZCDP(rho=0.5)),
        (RenyiDP(alpha=4, epsilon=1), RenyiDP(alpha=2, epsilon=1)),
    ],
)
def test_implication(stronger: Guarantee, weaker: Guarantee) -> None:
    assert stronger.implies(weaker)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ApproxDP(epsilon=1, delta=1e-6), PureDP(epsilon=9)),
        (ApproxDP(epsilon=1, delta=1e-6), ApproxDP(epsilon=2, delta=1e-7)),
        (ZCDP(rho=0.1), PureDP(epsilon=99)),
        (RenyiDP(alpha=2, epsilon=1), RenyiDP(alpha=4, epsilon=1)),
        (RenyiDP(alpha=2, epsilon=1), ZCDP(rho=9)),
        (GaussianDP(mu=1), PureDP(epsilon=9)),
        (GaussianDP(mu=0.1), ZCDP(rho=0.005)),
        (ZCDP(rho=0.1), RenyiDP(alpha=3, epsilon=0.3)),
    ],
)
def test_no_implication(one: Guarantee, other: Guarantee) -> None:
    """The last two would hold in rounded arithmetic and do not hold in truth."""
    assert not one.implies(other)


@given(st.fractions(0, 9), st.fractions(0, Fraction(1, 2)), st.fractions(0, 9))
def test_pure_implies_what_it_says(epsilon: Fraction, delta: Fraction, other: Fraction) -> None:
    claim = PureDP(epsilon=epsilon).implies(ApproxDP(epsilon=other, delta=delta))
    assert claim == (epsilon <= other)


@pytest.mark.parametrize("one", EVERY)
@pytest.mark.parametrize("other", EVERY)
def test_different_units_never_compare(one: Guarantee, other: Guarantee) -> None:
    units: list[Any] = [
        Row(),
        Replace(Row()),
        Edge(),
        Node(),
        Person("id", max_rows=1),
        Person("id"),
    ]
    for unit in units[1:]:
        with pytest.raises(Mismatch, match="unit_mismatch"):
            one.per(units[0]).implies(other.per(unit))
    with pytest.raises(Mismatch, match="unit_mismatch"):
        one.per(Row()).implies(other)
    with pytest.raises(Mismatch, match="unit_mismatch"):
        one.per(Row()).per(Edge())
    assert one.per(Row()) != one
    assert one.per(Row()).per(Row()) == one.per(Row())


BAD = [math.nan, math.inf, -math.inf, -1, -1e-300, True, "1", None, [1], 1j]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    "build",
    [
        lambda x: PureDP(epsilon=x),
        lambda x: ApproxDP(epsilon=x, delta=0.1),
        lambda x: ApproxDP(epsilon=1, delta=x),
        lambda x: ZCDP(rho=x),
        lambda x: RenyiDP(alpha=2, epsilon=x),
        lambda x: RenyiDP(alpha=x, epsilon=1),
        lambda x: GaussianDP(mu=x),
    ],
)
def test_bad_numbers_get_one_clear_error(build: Any, bad: Any) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        build(bad)
    assert refusal.value.code
    assert refusal.value.remedy


@pytest.mark.parametrize("delta", [1, 1.0, 1.5])
def test_delta_stays_below_one(delta: float) -> None:
    with pytest.raises(InvalidParameter, match="delta_out_of_range"):
        ApproxDP(epsilon=1, delta=delta)


def test_parameters_are_keywords_and_numpy_numbers_are_numbers() -> None:
    with pytest.raises(TypeError):
        PureDP(1)  # type: ignore[call-arg, arg-type]
    assert PureDP(epsilon=np.float32(0.5)).group(2).epsilon == 1  # type: ignore[arg-type]
    assert PureDP(epsilon=np.int64(2)).zcdp().rho == 2  # type: ignore[arg-type]
    assert hash(PureDP(epsilon=1)) == hash(PureDP(epsilon=1.0))
