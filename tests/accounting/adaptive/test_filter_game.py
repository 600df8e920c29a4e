"""The adaptive composition experiment (000a:D2, boosting-and-analysts:B1), enumerated.

World 0 or 1 is fixed. The adversary picks the cost of each randomized response in view of the
earlier answers, and asks for more than is left if it likes. Every strategy of a small tree is
played against a real filter, the laws of both worlds are computed, and the distance between them
is compared with the filter's promise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from discreet import events
from discreet.accounting.adaptive import (
    ApproxFilter,
    PrivacyFilter,
    PureFilter,
    RenyiFilter,
    SplitRenyiFilter,
    ZCDPFilter,
)
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP, RenyiDP

Cost = tuple[float, float]
Law = list[tuple[float, float]]
"""Each view with its probability in either world."""
ROUNDING = 1e-12


def response(cost: Cost) -> Law:
    """Tell the world openly with probability delta, else by randomized response."""
    epsilon, delta = cost
    keep = (1 - delta) / (1 + math.exp(-epsilon))
    lie = 1 - delta - keep
    honest = [(keep, lie), (lie, keep)]
    return honest if delta == 0 else [*honest, (delta, 0.0), (0.0, delta)]


def event(cost: Cost) -> events.Event:
    epsilon, delta = cost
    if delta:
        return events.Approximate(epsilon=epsilon, delta=delta)
    return events.RandomizedResponse(epsilon=epsilon, categories=2)


def games(make: Callable[[], PrivacyFilter], menu: tuple[Cost, ...], depth: int) -> Iterator[Law]:
    """The law of the view under every deterministic adaptive strategy."""
    (answers,) = {len(response(cost)) for cost in menu}
    nodes = [
        history
        for length in range(depth)
        for history in itertools.product(range(answers), repeat=length)
    ]

    @cache
    def admitted(costs: tuple[Cost, ...]) -> tuple[bool, ...]:
        budget, decisions = make(), []
        for cost in costs:
            wanted = budget.admits(event(cost))
            if wanted:
                budget.record(event(cost))
            decisions.append(wanted)
        return tuple(decisions)

    for choice in itertools.product(menu, repeat=len(nodes)):
        strategy = dict(zip(nodes, choice, strict=True))
        law: Law = []
        open_views: list[tuple[tuple[int, ...], tuple[Cost, ...], float, float]] = [
            ((), (), 1.0, 1.0)
        ]
        while open_views:
            history, costs, p, q = open_views.pop()
            if history not in strategy:
                law.append((p, q))
                continue
            asked = (*costs, strategy[history])
            if not admitted(asked)[-1]:
                open_views.append(((*history, 0), asked, p, q))  # refused: nothing is learnt
                continue
            for answer, (in_0, in_1) in enumerate(response(strategy[history])):
                open_views.append(((*history, answer), asked, p * in_0, q * in_1))
        yield law


def advantage(law: Law) -> float:
    return sum(max(0.0, p - q) for p, q in law)


def hockey_stick(law: Law, epsilon: float) -> float:
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in law)


def divergence(law: Law, alpha: float) -> float:
    return math.log(sum(q * (p / q) ** alpha for p, q in law)) / (alpha - 1)


def bound(epsilon: float, delta: float) -> float:
    """000a:D2."""
    return (math.exp(epsilon) - 1 + 2 * delta) / (math.exp(epsilon) + 1)


PURE_MENU = ((0.25, 0.0), (0.5, 0.0), (0.75, 0.0), (1.0, 0.0))


def test_the_advantage_against_a_pure_filter_is_that_of_its_limit() -> None:
    most, loss, played = 0.0, 0.0, 0
    for law in games(lambda: PureFilter(limit=PureDP(epsilon=1)), PURE_MENU, 3):
        most = max(most, advantage(law))
        loss = max(loss, *(math.log(p / q) for p, q in law))
        played += 1
    assert played == 4 ** (1 + 2 + 4)
    assert most == pytest.approx(bound(1, 0), abs=ROUNDING)  # reached, and never passed
    assert loss == pytest.approx(1, abs=ROUNDING)


def test_the_advantage_against_sums_of_pairs() -> None:
    menu = ((0.5, 0.05), (0.25, 0.1), (1.0, 0.1), (1.0, 0.05))
    limit = ApproxDP(epsilon=1, delta=0.1)
    most, excess = 0.0, 0.0
    for law in games(lambda: ApproxFilter(limit=limit), menu, 2):
        most = max(most, advantage(law))
        excess = max(excess, hockey_stick(law, 1))
    assert excess == pytest.approx(0.1, abs=ROUNDING)
    assert most == pytest.approx(bound(1, 0.1), abs=ROUNDING)


def test_every_order_of_a_concentrated_filter_holds() -> None:
    for law in games(lambda: ZCDPFilter(limit=ZCDP(rho=0.5)), PURE_MENU, 3):
        for alpha in (1.1, 2.0, 5.0, 40.0):
            assert divergence(law, alpha) <= 0.5 * alpha


@pytest.mark.parametrize("alpha", [1.5, 4, 32])
def test_the_order_of_a_renyi_filter_holds(alpha: float) -> None:
    limit, most = RenyiDP(alpha=alpha, epsilon=0.45), 0.0
    for law in games(lambda: RenyiFilter(limit=limit), PURE_MENU, 3):
        most = max(most, divergence(law, alpha))
    assert 0.2 < most <= 0.45


@pytest.mark.parametrize(
    "make",
    [
        lambda: ZCDPFilter.converted(limit=ApproxDP(epsilon=1, delta=0.05)),
        lambda: RenyiFilter.converted(limit=ApproxDP(epsilon=1, delta=0.05), alpha=6),
        lambda: SplitRenyiFilter(limit=ApproxDP(epsilon=1, delta=0.05), orders=[4, 8, 16]),
    ],
)
def test_converted_filters_keep_their_promise(make: Callable[[], PrivacyFilter]) -> None:
    most = 0.0
    for law in games(make, PURE_MENU, 3):
        assert hockey_stick(law, 1) <= 0.05
        most = max(most, advantage(law))
    assert 0 < most <= bound(1, 0.05)


NOISE = 0.25


def hidden(epsilon: float, answers: tuple[int, ...], world: int) -> float:
    """An interactive mechanism: a randomized response, kept secret, about which it answers noisily.

    Each answer depends on the same secret, so the answers are dependent and no split by round
    would describe them; the whole conversation is post-processing of the secret.
    """
    keep = 1 / (1 + math.exp(-epsilon))
    likelihood = 0.0
    for secret in (0, 1):
        term = keep if secret == world else 1 - keep
        for answer in answers:
            term *= 1 - NOISE if answer == secret else NOISE
        likelihood += term
    return likelihood


State = tuple[tuple[int, ...], tuple[int, ...]]


def test_interleaving_live_mechanisms_costs_no_more_than_their_sum() -> None:
    """004d:F17, at its worst over every adaptive interleaving of nine questions to two of them."""
    losses, rounds = (0.75, 1.25), 9

    def laws(state: State) -> tuple[float, float]:
        p, q = (
            hidden(losses[0], state[0], world) * hidden(losses[1], state[1], world)
            for world in (0, 1)
        )
        return p, q

    @cache
    def worst(state: State, alpha: float) -> float:
        """The largest moment that a best continuation reaches."""
        if len(state[0]) + len(state[1]) == rounds:
            p, q = laws(state)
            return math.exp(alpha * math.log(p) + (1 - alpha) * math.log(q))
        first, second = state
        return max(
            sum(worst((tuple(sorted((*first, answer))), second), alpha) for answer in (0, 1)),
            sum(worst((first, tuple(sorted((*second, answer)))), alpha) for answer in (0, 1)),
        )

    for alpha in (1.5, 3.0, 10.0):
        each = sum(divergence(response((loss, 0.0)), alpha) for loss in losses)
        joint = math.log(worst(((), ()), alpha)) / (alpha - 1)
        assert 0.3 * each < joint <= each
    for split in range(rounds + 1):
        for answers in itertools.product((0, 1), repeat=rounds):
            p, q = laws((answers[:split], answers[split:]))
            assert abs(math.log(p / q)) <= sum(losses)
