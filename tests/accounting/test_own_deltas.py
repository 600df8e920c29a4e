"""Events have an epsilon at the delta that is stated for them, and a delta at their epsilon.

Below that there is none. Sums of what is stated are compared as rationals, whatever the floats
beside them are. Every kind of event with a delta of its own is drawn, alone, repeated, composed,
and with pure events.
"""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet import events
from discreet.accounting import APPROX
from discreet.accounting.adaptive.currency import EpsilonsAndDeltas
from discreet.accounting.adaptive.steps import steps_up
from discreet.accounting.pure import PURE
from discreet.core.errors import Unpriced
from discreet.core.events.event import Event, compose
from discreet.core.events.key_selection import (
    ConcentratedThreshold,
    GaussianThreshold,
    GeometricThreshold,
    KeySelection,
)
from discreet.core.events.mechanisms import Approximate
from discreet.core.events.one_of import OneOf
from discreet.core.parameters import rounded_up

KINDS = (Approximate, KeySelection, GeometricThreshold, GaussianThreshold)
NEEDS_MORE = (ConcentratedThreshold,)
"""Its delta is set apart; noise of rho-zCDP has an epsilon only at more."""


def made(kind: type[Event], epsilon: object, delta: object) -> Event:
    more = {} if kind is Approximate else {"groups": 2, "swaps": 1}
    event: Event = kind(epsilon=epsilon, delta=delta, **more)  # type: ignore[call-arg]
    return event


def subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_kind_with_a_delta_is_drawn() -> None:
    ours = {each for each in subclasses(Event) if each.__module__.startswith("discreet.")}
    carrying = {each for each in ours if "slack" in {field.name for field in fields(each)}}
    assert carrying == {*KINDS, *NEEDS_MORE}


WRITTEN = st.builds(lambda k, n: Fraction(k, 10**n), st.integers(1, 999), st.integers(4, 12))
LOSSES = st.sampled_from([Fraction(1, 10), Fraction(3, 10), Fraction(57, 100), Fraction(5, 2)])
PARTS = st.lists(st.tuples(st.sampled_from(KINDS), LOSSES, WRITTEN), min_size=1, max_size=4)


@settings(max_examples=30)
@given(PARTS, st.integers(1, 3), st.integers(0, 1))
def test_an_event_has_an_epsilon_at_its_stated_delta(
    parts: list[tuple[type[Event], Fraction, Fraction]], times: int, pure: int
) -> None:
    listed = [made(*part) for part in parts]
    event = times * compose((*listed, *([events.Laplace(epsilon=1)] * pure)))
    delta = times * sum((part[2] for part in parts), Fraction(0))
    bound = times * (sum((part[1] for part in parts), Fraction(0)) + pure)
    for asked in (delta, float(delta)):  # few digits: the float is written as the rational is
        assert event.epsilon(delta=asked) <= rounded_up(bound)
        assert event.with_accountant(APPROX).epsilon(delta=asked) < math.inf
        assert event.epsilon_bounds(delta=asked)[1] < math.inf
    assert event.with_accountant(APPROX).epsilon(delta=delta * Fraction(999, 1000)) == math.inf
    for spent in (bound, float(bound)):
        assert event.delta(epsilon=spent) <= rounded_up(delta)
        assert event.with_accountant(APPROX).delta(epsilon=spent) <= rounded_up(delta)
    assert event.with_accountant(APPROX).delta(epsilon=bound * Fraction(999, 1000)) == 1
    assert event.epsilon(delta=event.delta(epsilon=float(bound))) < math.inf


@settings(max_examples=30)
@given(st.sampled_from(KINDS), st.floats(1e-12, 0.1), st.integers(1, 5))
def test_floats_are_the_numbers_that_they_store(kind: type[Event], delta: float, k: int) -> None:
    """An event made by hand holds a float; nothing is given for less than what it holds."""
    event = k * made(kind, 1.0, delta)
    stored = k * Fraction(delta)
    assert event.epsilon(delta=stored) <= k
    less = stored * (1 - Fraction(1, 2**40))
    assert event.with_accountant(APPROX).epsilon(delta=less) == math.inf


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 100), 20, max_denominator=1000), st.integers(1, 6))
def test_pure_events_need_no_delta_at_their_epsilon(loss: Fraction, times: int) -> None:
    event, whole = times * events.Pure(epsilon=loss), times * loss
    assert event.delta(epsilon=whole) == 0
    below = whole * (1 - Fraction(1, 2**40))
    assert 0 < event.with_accountant(PURE).delta(epsilon=below) < 1e-9
    written = Fraction(repr(float(whole)))
    assert events.Pure(epsilon=written).delta(epsilon=float(whole)) == 0


@pytest.mark.parametrize("delta", [1e-6, 1e-7, 3e-7, 1e-9, 0.1, 0.3])
def test_what_is_charged_is_no_less_than_what_is_stated(delta: float) -> None:
    """A delta that comes as a float is charged as it is stored, and covers no more than that."""
    pairs = EpsilonsAndDeltas(dp.Row())
    written = Fraction(repr(delta))
    event = made(KeySelection, 1, max(written, Fraction(delta)))
    if written > Fraction(delta):
        with pytest.raises(Unpriced):
            pairs.price(event, delta)
    assert pairs.price(event, max(written, Fraction(delta)))[0] == steps_up(Fraction(1))


def test_gaussian_parts_have_what_is_left() -> None:
    whole = compose(
        (made(GeometricThreshold, 1, Fraction(1, 10**6)), events.Gaussian(noise_multiplier=2))
    )
    priced = whole.with_accountant(APPROX)
    assert priced.epsilon(delta=1e-6) == math.inf
    assert priced.epsilon(delta=2e-6) == pytest.approx(
        1 + events.Gaussian(noise_multiplier=2).epsilon(delta=1e-6), rel=1e-9
    )


def test_one_of_several_has_the_epsilon_of_its_worst_part() -> None:
    parts = tuple(made(kind, 1, Fraction(1, 10**6)) for kind in KINDS[1:])
    assert OneOf(parts).epsilon(delta=1e-6) == 1


@pytest.mark.parametrize("delta", [1e-6, 1e-5, 3e-7, 7e-9, Fraction(1, 3 * 10**6)])
@pytest.mark.parametrize("text", ["COUNT(*) AS n", "COUNT(*) AS n, SUM(x) AS s, MEDIAN(x) AS m"])
def test_discovered_keys_have_an_epsilon_at_the_delta_they_were_bought_for(
    delta: float, text: str
) -> None:
    frame = pl.DataFrame({"k": ["a", "b"] * 500, "x": range(1000)})
    columns: dict[str, Any] = {"k": dp.Discovered(), "x": dp.Number(0, 9)}
    source = dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns=columns),
        budget=dp.ApproxDP(epsilon=100, delta=1e-3),
        ledger=dp.ledger.Memory(),
    )
    spend = dp.ApproxDP(epsilon=1, delta=delta)
    answer = source.sql(f"SELECT k, {text} FROM t GROUP BY k", spend=spend)
    stated = answer.guarantee
    assert isinstance(stated, dp.ApproxDP)
    assert answer.event.epsilon(delta=stated.delta) <= math.nextafter(1, 2)
    assert answer.event.epsilon(delta=delta) <= math.nextafter(1, 2)
