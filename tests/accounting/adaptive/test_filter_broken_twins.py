"""Broken twins: rules that look like filters, each caught spending more than it was given."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.accounting import PURE
from discreet.accounting.adaptive import (
    AcrossParts,
    ByRow,
    PureFilter,
    SplitRenyiFilter,
    ZCDPFilter,
    open_child,
    open_parts,
)
from discreet.accounting.adaptive.orders import renyi_budget
from discreet.accounting.rdp import RENYI, RenyiCurve
from discreet.core.errors import Exhausted
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.core.unit import Person, Replace, Row

# --- The best order, chosen after the fact -------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Coin(events.Event):
    """One bit: 1 with probability p in one world, q < p in the other."""

    p: float
    q: float
    kind = "tests.Coin"


@dataclass(frozen=True)
class CoinCurve(RenyiCurve):
    coin: Coin

    @property
    def ceiling(self) -> float:
        p, q = self.coin.p, self.coin.q
        return max(abs(math.log(p / q)), abs(math.log1p(-p) - math.log1p(-q))) * (1 + 1e-12)

    def bounds(self, orders: Any) -> Any:
        both = []
        for p, q in ((self.coin.p, self.coin.q), (self.coin.q, self.coin.p)):
            heads = orders * math.log(p) + (1 - orders) * math.log(q)
            tails = orders * math.log1p(-p) + (1 - orders) * math.log1p(-q)
            both.append(np.logaddexp(heads, tails) / (orders - 1))
        return np.maximum(*both) * (1 + 1e-12)


@RENYI.prices(Coin)
def _coin(event: Coin) -> RenyiCurve:
    return CoinCurve(event)


EPSILON, DELTA, LOW, HIGH = 4.0, 1e-4, 4.0, 16.0
ORDERS = (LOW, HIGH)
LIMIT = ApproxDP(epsilon=EPSILON, delta=DELTA)


class BestOrderAfterwards:
    """Goes on while the least epsilon over all orders, each at the whole delta, is within."""

    def __init__(self) -> None:
        self.spent = [0.0] * len(ORDERS)
        self.most = [renyi_budget(alpha, epsilon=EPSILON, delta=DELTA) for alpha in ORDERS]

    def record(self, event: events.Event) -> None:
        curve = RENYI.price(event)
        self.spent = [
            spent + float(curve(alpha)) for spent, alpha in zip(self.spent, ORDERS, strict=True)
        ]
        if not any(spent <= most for spent, most in zip(self.spent, self.most, strict=True)):
            raise Exhausted(code="budget_exhausted", expectation="", remedy="")


def loaded(loss: float, alpha: float, most: float) -> Coin:
    """The likeliest coin whose heads lose ``loss``, for a divergence of ``most`` at ``alpha``."""
    low, high = 1e-12, 0.999
    for _ in range(100):
        middle = math.sqrt(low * high)
        price = float(RENYI.price(Coin(middle, middle * math.exp(-loss)))(alpha))
        low, high = (middle, high) if price <= most else (low, middle)
    return Coin(low, low * math.exp(-loss))


def attack(budget: BestOrderAfterwards | SplitRenyiFilter, most: list[float]) -> float:
    """Toss a coin with rare, dear heads; after tails use up the low order, after heads the high.

    The moments of low order are made of the likely tails, those of high order of the rare heads:
    each branch has nearly all of one order's delta to itself. Returns P(S) - exp(epsilon) Q(S).
    """
    rare = 30 * DELTA
    first = Coin(rare, rare * math.exp(-0.7))
    paid = [float(RENYI.price(first)(alpha)) for alpha in ORDERS]
    already = (math.log1p(-first.p) - math.log1p(-first.q), 0.7)
    reach = [(1 - first.p, 1 - first.q), (first.p, first.q)]
    total = 0.0
    for branch, alpha in enumerate(ORDERS):
        sharpest = EPSILON + math.log(alpha / (alpha - 1))
        left = (most[branch] - paid[branch]) * (1 - 1e-9)
        second = loaded(sharpest - already[branch], alpha, left)
        twin = type(budget)() if isinstance(budget, BestOrderAfterwards) else _again()
        twin.record(first)
        twin.record(second)
        p, q = reach[branch]
        total += p * second.p - math.exp(EPSILON) * q * second.q
    return total


def _again() -> SplitRenyiFilter:
    return SplitRenyiFilter(limit=LIMIT, orders=ORDERS)


def test_choosing_the_best_order_afterwards_spends_delta_twice() -> None:
    whole = [renyi_budget(alpha, epsilon=EPSILON, delta=DELTA) for alpha in ORDERS]
    assert attack(BestOrderAfterwards(), whole) > 1.9 * DELTA
    with pytest.raises(Exhausted):
        attack(_again(), whole)
    halves = [renyi_budget(alpha, epsilon=EPSILON, delta=DELTA / 2) for alpha in ORDERS]
    assert 0.9 * DELTA < attack(_again(), halves) <= DELTA  # the split is nearly sharp


# --- A race between the check and the record -----------------------------------------------------


class Unlocked:
    """Checks, then records, and lets go of the budget in between."""

    def __init__(self, limit: Fraction, pause: threading.Barrier) -> None:
        self.limit, self.spent, self.pause = limit, Fraction(0), pause

    def record(self, event: events.Event) -> None:
        price = PURE.price(event)
        if self.spent + price > self.limit:
            raise Exhausted(code="budget_exhausted", expectation="", remedy="")
        self.pause.wait(timeout=10)
        self.spent += price


def in_threads(budget: Unlocked | PureFilter, event: events.Event, threads: int) -> int:
    admitted = []

    def spend() -> None:
        try:
            budget.record(event)
        except Exhausted:
            return
        admitted.append(event)

    workers = [threading.Thread(target=spend) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(admitted)


def test_checking_without_a_lock_admits_everyone() -> None:
    event = events.Laplace(epsilon=0.75)
    assert in_threads(Unlocked(Fraction(1), threading.Barrier(4)), event, 4) == 4
    assert in_threads(PureFilter(limit=PureDP(epsilon=1)), event, 4) == 1


# --- Maxima where sums are due -------------------------------------------------------------------


def loss_of_responses(losses: list[float]) -> float:
    """The exact loss of randomized responses about one bit: all of them true against all false."""
    keeps = [1 / (1 + math.exp(-loss)) for loss in losses]
    return math.log(math.prod(keeps) / math.prod(1 - keep for keep in keeps))


def test_a_maximum_in_place_of_a_sum_is_caught() -> None:
    charges = [0.5, 0.5, 0.25]
    assert loss_of_responses(charges) == pytest.approx(sum(charges))
    assert loss_of_responses(charges) > max(charges)
    budget = PureFilter(limit=PureDP(epsilon=max(charges)))
    budget.record(events.Pure(epsilon=charges[0]))
    assert not budget.admits(events.Pure(epsilon=charges[1]))


def test_parts_that_overlap_do_not_compose_in_parallel() -> None:
    """One person with rows on both days, asked on each: declared falsely, it is twice the limit."""
    day = events.RandomizedResponse(epsilon=0.5, categories=2)
    false = PureFilter(limit=PureDP(epsilon=0.5, unit=Row()))
    for part in open_parts(false, ByRow(["monday", "tuesday"])).values():
        part.record(day)
    assert loss_of_responses([0.5, 0.5]) == pytest.approx(2 * 0.5)
    true = PureFilter(limit=PureDP(epsilon=1, unit=Person("id")))
    for part in open_parts(true, AcrossParts(["monday", "tuesday"], at_most=2)).values():
        part.record(day)
    assert true.spent() == PureDP(epsilon=1, unit=Person("id"))


def test_an_ancestor_charged_once_for_a_join_of_two_partitions_is_overspent() -> None:
    """Rows lie in A1 or A2 and in B1 or B2. A join of A1 and B1 asks 1, then A2 asks 1.

    Charged with the larger of two increases the root stands at 1, although a unit in A2 and B1
    noticed both. Charged for each way to it, it stands at 2.
    """
    root = PureFilter(limit=PureDP(epsilon=3, unit=Row()))
    a, b = open_parts(root, ByRow(["A1", "A2"])), open_parts(root, ByRow(["B1", "B2"]))
    open_child(a["A1"], b["B1"]).record(events.Pure(epsilon=1))
    a["A2"].record(events.Pure(epsilon=1))
    assert root.spent() == PureDP(epsilon=2, unit=Row())
    assert loss_of_responses([1.0, 1.0]) == pytest.approx(2)


def test_an_exchange_within_one_part_needs_its_own_price() -> None:
    """Values in [-1, 1], summed in one part with Gaussian noise of deviation 2, under Replace.

    Adding or removing a unit moves the sum by 1 at most, an exchange by 2: the multiplier is 2 in
    the one case and 1 in the other. Twice the former price does not cover the exchange.
    """
    lost = Fraction(2**2, 2 * 2**2)  # rho of a shift by 2
    charged = []
    for multiplier in (2, 1):
        budget = ZCDPFilter(limit=ZCDP(rho=2, unit=Replace(Row())))
        open_parts(budget, ByRow("ab"))["a"].record(events.Gaussian(noise_multiplier=multiplier))
        spent = budget.spent()
        assert isinstance(spent, ZCDP)
        charged.append(spent.rho)
    assert charged[0] < lost <= charged[1]
