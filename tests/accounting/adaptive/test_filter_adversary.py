"""Ten thousand spending strategies, over children and threads, and no limit is ever exceeded.

The judge does not trust the accounts. It keeps its own list of what was admitted and adds up, for
every kind of unit there can be, the prices of the events that this unit can notice.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import pytest

from discreet import events
from discreet.accounting import PURE, ZERO_CONCENTRATED, zcdp_rho
from discreet.accounting.adaptive import (
    AcrossParts,
    ApproxFilter,
    Budget,
    ByPerson,
    ByRow,
    PrivacyFilter,
    PureFilter,
    RenyiFilter,
    SplitRenyiFilter,
    ZCDPFilter,
    allocate,
    currency,
    open_child,
    open_parts,
)
from discreet.accounting.adaptive import filter as filters
from discreet.accounting.adaptive.orders import renyi_budget, renyi_price
from discreet.core import pricing
from discreet.core.errors import Exhausted
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP
from discreet.core.unit import Person, PrivacyUnit, Replace, Row

STRATEGIES, THREADED, CHARGES, THREADS = 1600, 160, 14, 4
ORDERS = (4, 16, 64)
UNITS: tuple[PrivacyUnit, ...] = (Row(), Person("id", max_rows=9), Replace(Row()))
PROMISE = ApproxDP(epsilon=2, delta=1e-6)

Price = tuple[Fraction, ...]


@dataclass(frozen=True)
class Kind:
    """A filter, the limit of each component, and how the judge prices."""

    name: str
    make: Callable[[PrivacyUnit], PrivacyFilter]
    limits: tuple[float, ...]
    price: Callable[[events.Event, float | None], Price]
    share: Callable[[PrivacyFilter, Fraction], Guarantee] | None
    gaussian: bool = True
    one_holds: bool = False


@cache
def pair(event: events.Event, delta: float | None) -> Price:
    if delta is None:
        return (PURE.price(event), Fraction(0))
    return (Fraction(event.epsilon(delta=delta)), Fraction(delta))


def rho(limit: Guarantee) -> float:
    assert isinstance(limit, ZCDP)
    return float(limit.rho)


CONVERTED = rho(ZCDPFilter.converted(limit=PROMISE).limit)

KINDS = (
    Kind(
        "pure",
        lambda unit: PureFilter(limit=PureDP(epsilon=1, unit=unit)),
        (1.0,),
        lambda event, _: (PURE.price(event),),
        lambda budget, part: PureDP(epsilon=part, unit=budget.unit),
        gaussian=False,
    ),
    Kind(
        "approx",
        lambda unit: ApproxFilter(limit=ApproxDP(epsilon=2, delta=1e-6, unit=unit)),
        (2.0, 1e-6),
        pair,
        lambda budget, part: ApproxDP(epsilon=2 * part, delta=part / 10**6, unit=budget.unit),
    ),
    Kind(
        "zcdp",
        lambda unit: ZCDPFilter(limit=ZCDP(rho=0.0625, unit=unit)),
        (0.0625,),
        lambda event, _: (ZERO_CONCENTRATED.price(event),),
        lambda budget, part: ZCDP(rho=part / 16, unit=budget.unit),
    ),
    Kind(
        "converted",
        lambda unit: ZCDPFilter.converted(limit=ApproxDP(epsilon=2, delta=1e-6, unit=unit)),
        (CONVERTED,),
        lambda event, _: (ZERO_CONCENTRATED.price(event),),
        lambda budget, part: ZCDP(rho=part * Fraction(CONVERTED), unit=budget.unit),
    ),
    Kind(
        "renyi",
        lambda unit: RenyiFilter(limit=RenyiDP(alpha=8, epsilon=0.5, unit=unit)),
        (0.5,),
        cache(lambda event, _: (Fraction(renyi_price(event, 8)),)),
        lambda budget, part: RenyiDP(alpha=8, epsilon=part / 2, unit=budget.unit),
    ),
    Kind(
        "split",
        lambda unit: SplitRenyiFilter(
            limit=ApproxDP(epsilon=2, delta=1e-6, unit=unit), orders=ORDERS
        ),
        tuple(renyi_budget(alpha, epsilon=2, delta=1e-6 / 3) for alpha in ORDERS),
        cache(lambda event, _: tuple(Fraction(renyi_price(event, a)) for a in ORDERS)),
        None,
        one_holds=True,
    ),
)


@dataclass
class Scene:
    """A hierarchy; each account with the parts whose units notice its events."""

    budget: PrivacyFilter
    unit: PrivacyUnit
    first: dict[object, frozenset[str]] = field(default_factory=dict)
    second: dict[object, frozenset[str]] = field(default_factory=dict)
    accounts: list[Budget] = field(default_factory=list)

    def add(self, account: Budget, first: frozenset[str], second: frozenset[str]) -> None:
        self.accounts.append(account)
        self.first[account], self.second[account] = first, second


EVERY_A, EVERY_B, NONE = frozenset("abc"), frozenset("xyz"), frozenset[str]()


def build(kind: Kind, chance: random.Random) -> Scene:
    unit = chance.choice(UNITS)
    scene = Scene(kind.make(unit), unit)
    root = scene.budget
    scene.add(root, EVERY_A, EVERY_B)
    by_unit = ByPerson("abc") if isinstance(unit, Person) else ByRow("abc")
    ones = open_parts(root, by_unit)
    twos = open_parts(open_child(root), AcrossParts("xyz", at_most=2))
    for name, part in ones.items():
        scene.add(part, frozenset({str(name)}), NONE)
    for name, part in twos.items():
        scene.add(part, NONE, frozenset({str(name)}))
    scene.add(open_child(ones["a"], twos["x"]), frozenset("a"), frozenset("x"))
    scene.add(open_child(ones["a"], ones["b"]), frozenset("ab"), NONE)
    scene.add(open_child(ones["c"]), frozenset("c"), NONE)
    if kind.share is not None:
        share = kind.share(root, Fraction(chance.randrange(1, 40), 100))
        for analyst in allocate(root, {"ann": share, "bob": share}).values():
            scene.add(analyst, EVERY_A, EVERY_B)
        scene.add(open_child(root, limit=share), EVERY_A, EVERY_B)
    return scene


MENU = [events.Pure(epsilon=Fraction(n, 40)) for n in range(1, 9)]
MENU += [events.Laplace(epsilon=epsilon) for epsilon in (0.01, 0.1, 0.2, 0.37, 1.0)]
NOISY: list[events.Event] = [events.Gaussian(noise_multiplier=z) for z in (3, 5.3, 10, 31.7)]
NOISY += [MENU[0] * 3, MENU[8] * 20]
DELTAS = (1e-7, 2.5e-7, 3e-8)


def charge(kind: Kind, chance: random.Random) -> tuple[events.Event, float | None]:
    if kind.gaussian and chance.random() < 0.5:
        return chance.choice(NOISY), chance.choice(DELTAS) if kind.name == "approx" else None
    return chance.choice(MENU), None


Entry = tuple[Budget, Price]


def spend(kind: Kind, scene: Scene, seed: int, charges: int) -> list[Entry]:
    """One adversary: now greedy, now random, now hitting one account until it refuses."""
    chance = random.Random(seed)
    admitted: list[Entry] = []
    account = chance.choice(scene.accounts)
    greedy = chance.random() < 0.3
    for _ in range(charges):
        if not greedy or chance.random() < 0.2:
            account = chance.choice(scene.accounts)
        event, delta = charge(kind, chance)
        try:
            account.record(event, delta=delta)
        except Exhausted:
            continue
        admitted.append((account, kind.price(event, delta)))
    return admitted


def units(unit: PrivacyUnit) -> Iterator[tuple[list[str], list[str]]]:
    """Every way in which a changed unit can lie in the parts; an exchange is two positions."""
    one = list(itertools.product("abc", itertools.combinations("xyz", 2)))
    if not isinstance(unit, Replace):
        yield from (([first], list(second)) for first, second in one)
        return
    for (a, x), (b, y) in itertools.combinations_with_replacement(one, 2):
        yield [a, b], [*x, *y]


def judge(kind: Kind, scene: Scene, admitted: list[Entry]) -> None:
    sums = {account: (Fraction(0),) * len(kind.limits) for account, _ in admitted}
    for account, price in admitted:
        sums[account] = tuple(a + b for a, b in zip(sums[account], price, strict=True))
    for first, second in units(scene.unit):
        totals = [Fraction(0)] * len(kind.limits)
        for account, price in sums.items():
            if scene.first[account] & set(first) or scene.second[account] & set(second):
                totals = [total + part for total, part in zip(totals, price, strict=True)]
        within = [total <= Fraction(most) for total, most in zip(totals, kind.limits, strict=True)]
        assert any(within) if kind.one_holds else all(within)


@pytest.fixture(autouse=True)
def prices_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The menu is short and its prices do not change: compute each once."""
    monkeypatch.setattr(currency, "renyi_price", cache(renyi_price))
    monkeypatch.setattr(pricing, "epsilon", cache(pricing.epsilon))
    monkeypatch.setattr(filters, "zcdp_rho", cache(zcdp_rho))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_strategy_exceeds_the_limit(kind: Kind) -> None:
    full = 0
    for seed in range(STRATEGIES):
        scene = build(kind, random.Random(seed))
        admitted = spend(kind, scene, seed, CHARGES)
        full += len(admitted) < CHARGES
        judge(kind, scene, admitted)
    assert full > STRATEGIES / 10  # many of them did reach the limit


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_strategy_of_several_threads_exceeds_the_limit(kind: Kind) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            for seed in range(THREADED):
                scene = build(kind, random.Random(seed))
                jobs = [
                    pool.submit(spend, kind, scene, THREADS * seed + thread, CHARGES)
                    for thread in range(THREADS)
                ]
                admitted = [entry for job in jobs for entry in job.result()]
                judge(kind, scene, admitted)
    finally:
        sys.setswitchinterval(interval)


def test_there_were_ten_thousand() -> None:
    assert len(KINDS) * (STRATEGIES + THREADED) >= 10_000
