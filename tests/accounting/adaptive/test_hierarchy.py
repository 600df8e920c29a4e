"""Children, joins, parts and analysts below one budget."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet import events
from discreet.accounting.adaptive import (
    AcrossParts,
    ApproxFilter,
    ByPerson,
    ByRow,
    PureFilter,
    RenyiFilter,
    SplitRenyiFilter,
    ZCDPFilter,
    allocate,
    open_child,
    open_parts,
)
from discreet.accounting.adaptive.hierarchy import DeclaredParts
from discreet.accounting.adaptive.steps import steps_up
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP, RenyiDP
from discreet.core.unit import Edge, Node, Person, PrivacyUnit, Replace, Row

PERSON = Person("id", max_rows=5)


def code(attempt: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(DiscreetError) as caught:
        attempt(*arguments, **options)
    return caught.value.code


def pure(epsilon: float | Fraction) -> events.Event:
    return events.Pure(epsilon=epsilon)


def budget_of(epsilon: float, unit: PrivacyUnit = PERSON) -> PureFilter:
    return PureFilter(limit=PureDP(epsilon=epsilon, unit=unit))


def test_the_parent_pays_the_increase_of_the_maximum() -> None:
    """004d:F16: charges .5, .3, .4, .1 cost the parent .5, 0, .2, 0, in total .7."""
    budget = budget_of(0.75)
    part = open_parts(budget, ByPerson(["C1", "C2"]))
    paid = []
    for name, tenths in (("C1", 5), ("C2", 3), ("C2", 4), ("C1", 1)):
        before = budget._spent[0]
        part[name].record(pure(Fraction(tenths, 10)))
        paid.append(budget._spent[0] - before)
    whole = sum(paid)
    assert [Fraction(amount, whole) for amount in paid] == [Fraction(n, 7) for n in (5, 0, 2, 0)]
    assert budget._spent == (steps_up(Fraction(7, 10)),)
    assert part["C1"]._spent == (steps_up(Fraction(6, 10)),)
    assert part["C1"].remaining().epsilon == pytest.approx(0.15)  # type: ignore[attr-defined]
    assert code(part["C1"].record, pure(Fraction(16, 100))) == "budget_exhausted"
    part["C1"].record(pure(Fraction(15, 100)))
    part["C2"].record(pure(Fraction(5, 100)))
    assert budget.remaining() == PureDP(epsilon=0.0, unit=PERSON)
    assert part["C1"].limit == PureDP(epsilon=0.75, unit=PERSON)


@pytest.mark.parametrize(
    ("unit", "parts", "factor"),
    [
        (Row(), ByRow("abc"), 1),
        (Edge(), ByRow("abc"), 1),
        (PERSON, ByPerson("abc"), 1),
        (PERSON, AcrossParts("abc", at_most=2), 2),
        (PERSON, AcrossParts("abc", at_most=9), 3),
        (Node(), AcrossParts("abc", at_most=2), 2),
        (Replace(Row()), ByRow("abc"), 2),
        (Replace(PERSON), AcrossParts("abc", at_most=3), 6),
    ],
)
def test_the_factor_is_in_how_many_parts_a_unit_lies(
    unit: PrivacyUnit, parts: DeclaredParts, factor: int
) -> None:
    budget = budget_of(10, unit)
    part = open_parts(budget, parts)
    for name in "abc":
        part[name].record(pure(0.5))
    assert budget.spent() == PureDP(epsilon=0.5 * factor, unit=unit)
    assert part["a"].limit.epsilon == pytest.approx(10 / factor)  # type: ignore[attr-defined]


def test_parts_of_one_person_s_many_rows_are_refused_without_a_bound() -> None:
    """Contract, "Units and neighbours"."""
    assert code(open_parts, budget_of(1), ByRow("ab")) == "parts_not_per_unit"
    assert code(open_parts, budget_of(1, Row()), ByPerson("ab")) == "parts_not_per_unit"
    assert code(open_parts, budget_of(1, Node()), ByRow("ab")) == "parts_not_per_unit"
    assert code(open_parts, PureFilter(limit=PureDP(epsilon=1)), ByRow("ab")) == (
        "parts_without_unit"
    )
    assert code(ByRow, "aa") == code(ByRow, "") == "parts_not_distinct"
    assert code(AcrossParts, "ab", at_most=0) == "not_a_count"


def test_maxima_are_taken_for_each_component_and_order() -> None:
    budget = ApproxFilter(limit=ApproxDP(epsilon=3, delta=0.25, unit=PERSON))
    part = open_parts(budget, ByPerson("ab"))
    part["a"].record(events.Approximate(epsilon=1, delta=0.0625))
    part["b"].record(events.Approximate(epsilon=0.5, delta=0.125))
    assert budget.spent() == ApproxDP(epsilon=1.0, delta=0.125, unit=PERSON)
    orders = SplitRenyiFilter(limit=ApproxDP(epsilon=4, delta=1e-6, unit=Row()), orders=[4, 64])
    part = open_parts(orders, ByRow("ab"))
    part["a"].record(events.Gaussian(noise_multiplier=10))  # larger at the high order
    part["b"].record(pure(0.25))  # larger at the low one
    each = [part[name]._spent for name in "ab"]
    assert orders._spent == tuple(map(max, *each))
    assert orders._spent not in each


def test_parts_within_parts_and_children_within_them() -> None:
    budget = ZCDPFilter(limit=ZCDP(rho=1, unit=PERSON))
    wards = open_parts(budget, ByPerson("ab"))
    days = open_parts(wards["a"], AcrossParts([1, 2, 3], at_most=2))
    child = open_child(days[1], limit=ZCDP(rho=0.25, unit=PERSON))
    gaussian = events.Gaussian(noise_multiplier=2)  # rho 1/8
    child.record(gaussian)
    days[3].record(gaussian)
    assert wards["a"].spent() == budget.spent() == ZCDP(rho=0.25, unit=PERSON)
    wards["b"].record(gaussian * 2)
    assert budget.spent() == ZCDP(rho=0.25, unit=PERSON)
    child.record(gaussian)
    assert child.remaining() == ZCDP(rho=0.0, unit=PERSON)
    assert budget.spent() == ZCDP(rho=0.5, unit=PERSON)
    assert not child.admits(gaussian)
    assert days[1].admits(gaussian)
    assert days[1].remaining() == ZCDP(rho=0.25, unit=PERSON)  # half of what the root has left


def test_a_join_charges_every_parent_or_none() -> None:
    orders, visits = budget_of(1), budget_of(0.5)
    joined = open_child(orders, visits)
    joined.record(pure(0.25))
    assert (orders.spent(), visits.spent()) == (PureDP(epsilon=0.25, unit=PERSON),) * 2
    visits.record(pure(0.125))
    assert joined.remaining() == PureDP(epsilon=0.125, unit=PERSON)
    assert joined.limit == PureDP(epsilon=0.5, unit=PERSON)
    assert code(joined.record, pure(0.25)) == "budget_exhausted"
    assert orders.spent() == joined.spent() == PureDP(epsilon=0.25, unit=PERSON)


def test_a_common_ancestor_pays_once_for_each_way_to_it() -> None:
    root = budget_of(1)
    first, second = open_child(root), open_child(root)
    open_child(first, second).record(pure(0.25))
    assert root.spent() == PureDP(epsilon=0.5, unit=PERSON)
    # Within one partition the two ways raise one maximum.
    part = open_parts(root, ByPerson("ab"))
    open_child(part["a"], part["b"]).record(pure(0.25))
    assert root.spent() == PureDP(epsilon=0.75, unit=PERSON)
    assert part["b"].spent() == PureDP(epsilon=0.25, unit=PERSON)


def test_parents_must_agree() -> None:
    budget = budget_of(1)
    assert code(open_child, budget, budget) == "parents_not_distinct"
    assert code(open_child, budget, budget_of(1, Row())) == "notion_mismatch"
    other = ZCDPFilter(limit=ZCDP(rho=1, unit=PERSON))
    assert code(open_child, budget, other) == "notion_mismatch"
    assert code(open_child, budget, limit=PureDP(epsilon=1)) == "notion_mismatch"
    assert code(open_child, budget, limit=ZCDP(rho=1, unit=PERSON)) == "notion_mismatch"


def test_sampling_in_parts() -> None:
    sampled = events.Laplace(epsilon=0.1).subsample(rate=0.5)
    fixed = events.Laplace(epsilon=0.1).subsample(size=5, of=10)
    replaced = RenyiFilter(limit=RenyiDP(alpha=2, epsilon=1, unit=Replace(Row())))
    part = open_parts(replaced, ByRow("ab"))
    assert code(part["a"].record, sampled) == "relation_in_part"
    assert code(part["a"].record, fixed) == "relation_in_part"
    removed = RenyiFilter(limit=RenyiDP(alpha=2, epsilon=1, unit=Row()))
    below = open_child(open_parts(removed, ByRow("ab"))["a"])
    below.record(sampled)
    assert code(below.record, fixed) == "relation_mismatch"


def test_shares_are_reserved_when_granted() -> None:
    total = PureFilter(limit=PureDP(epsilon=1))
    shares = {"ann": PureDP(epsilon=Fraction(2, 3)), "bob": PureDP(epsilon=Fraction(1, 4))}
    own = allocate(total, shares)
    assert total.remaining().epsilon == pytest.approx(1 / 12)  # type: ignore[attr-defined]
    assert code(allocate, total, {"eve": PureDP(epsilon=0.1)}) == "budget_exhausted"
    own["ann"].record(pure(Fraction(2, 3)))
    assert not own["ann"].admits(pure(1e-9))
    assert own["bob"].remaining() == PureDP(epsilon=0.25)  # as if nobody else were there
    own["bob"].record(pure(0.25))
    both = {"eve": PureDP(epsilon=0.05), "dan": PureDP(epsilon=0.05)}
    assert code(allocate, total, both) == "budget_exhausted"
    assert allocate(total, {"eve": PureDP(epsilon=0.05)})["eve"].remaining() == both["eve"]


def test_shares_are_in_the_currency_of_the_total() -> None:
    promise = ApproxDP(epsilon=2, delta=1e-6)
    converted = ZCDPFilter.converted(limit=promise)
    assert code(allocate, converted, {"ann": promise}) == "notion_mismatch"
    assert allocate(converted, {"ann": ZCDP(rho=0.01)})["ann"].limit == ZCDP(rho=0.01)
    renyi = RenyiFilter(limit=RenyiDP(alpha=8, epsilon=1))
    assert code(allocate, renyi, {"ann": RenyiDP(alpha=9, epsilon=0.1)}) == "notion_mismatch"
    assert allocate(renyi, {"ann": RenyiDP(alpha=8, epsilon=0.5)})["ann"].admits(pure(0.1))
    several = SplitRenyiFilter(limit=promise, orders=[8, 64])
    assert code(allocate, several, {"ann": promise}) == "no_shares"
    assert code(open_child, several, limit=promise) == "no_shares"
    child = open_child(several)
    child.record(pure(0.1))
    assert child.spent() == promise
    assert isinstance(child.remaining(), RenyiDP)
    approx = ApproxFilter(limit=promise)
    large = {"ann": ApproxDP(epsilon=1, delta=0.75), "bob": ApproxDP(epsilon=1, delta=0.75)}
    assert code(allocate, approx, large) == "budget_exhausted"
