"""Events are values: frozen, versioned, written as JSON and read back, composed with + and *."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import APPROX, PURE, ZERO_CONCENTRATED
from discreet.core.errors import InvalidParameter, Mismatch, NotPrivate
from discreet.core.events.event import Event
from discreet.core.unit import Relation

positive = st.one_of(
    st.floats(1e-9, 1e9),
    st.integers(1, 10**30),
    st.fractions(min_value=Fraction(1, 10**20), max_value=10**20).filter(bool),
)
deltas = st.one_of(
    st.floats(0, 1, exclude_max=True), st.fractions(min_value=0, max_value=Fraction(9, 10))
)
counts = st.integers(1, 10**12)
SIMPLE: list[st.SearchStrategy[Event]] = [
    st.just(events.Nothing()),
    *(
        st.builds(kind, epsilon=positive)
        for kind in (
            events.Pure,
            events.Laplace,
            events.Exponential,
            events.PermuteAndFlip,
            events.NoisyMax,
        )
    ),
    st.builds(events.Approximate, epsilon=positive, delta=deltas),
    st.builds(events.Concentrated, positive),
    st.builds(events.DiscreteLaplace, epsilon=positive, steps=counts),
    st.builds(events.Gaussian, positive),
    st.builds(events.DiscreteGaussian, positive, positive),
    st.builds(events.RandomizedResponse, epsilon=positive, categories=st.integers(2, 10**9)),
    st.builds(events.SparseVector, epsilon=positive, cutoff=counts),
]
simple = st.one_of(SIMPLE)
rates = st.one_of(st.floats(1e-9, 1), st.just(1), st.just(Fraction(1, 3)))


def nested(inner: st.SearchStrategy[Event]) -> st.SearchStrategy[Event]:
    return st.one_of(
        st.builds(events.Composed, st.lists(inner, max_size=3).map(tuple)),
        st.builds(events.Repeated, inner, counts),
        st.builds(events.PoissonSampled, inner, rates),
        st.builds(events.Unprotected, inner, st.text(max_size=5)),
    )


every_event = st.recursive(simple, nested, max_leaves=5)
small = st.recursive(
    st.one_of(
        st.just(events.Nothing()),
        st.builds(events.Laplace, epsilon=st.fractions(Fraction(1, 99), 9)),
        st.builds(events.Exponential, epsilon=st.fractions(Fraction(1, 99), 9)),
    ),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, k: a * k, inner, st.integers(0, 4)),
    ),
    max_leaves=4,
)
KINDS = {
    kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, Event)
} - {Event}


@given(every_event)
def test_json_gives_back_an_equal_event(event: Event) -> None:
    text = event.to_json()
    again = events.from_json(text)
    assert again == event
    assert type(again) is type(event)
    assert hash(again) == hash(event)
    assert again.to_json() == text
    assert json.loads(text)["version"] == 1


def test_every_public_kind_is_written_and_read() -> None:
    e = events
    one: list[Event] = [
        *(
            e.Nothing(),
            e.Pure(epsilon=1),
            e.Approximate(epsilon=1, delta=0.1),
            e.Laplace(epsilon=1),
        ),
        *(e.DiscreteLaplace(epsilon=1, steps=2), e.Gaussian(1), e.DiscreteGaussian(1, 2)),
        *(e.Exponential(epsilon=1), e.PermuteAndFlip(epsilon=1), e.NoisyMax(epsilon=1)),
        *(e.RandomizedResponse(epsilon=1, categories=2), e.SparseVector(epsilon=1, cutoff=1)),
        *(
            kind(epsilon=1, delta=0.1, groups=2, swaps=1)
            for kind in (e.KeySelection, e.GeometricThreshold, e.GaussianThreshold)
        ),
        e.Concentrated(rho=1),
        e.ConcentratedThreshold(rho=1, delta=0.1, groups=2, swaps=1),
    ]
    laplace = e.Laplace(epsilon=1)
    one += [e.Composed((laplace, laplace)), e.Repeated(laplace, 3), laplace.subsample(rate=0.5)]
    one.append(laplace.subsample(size=2, of=9))
    one.append(e.OneOf((laplace, e.Gaussian(1))))
    one.append(e.Shuffled(e.RandomizedResponse(epsilon=1, categories=2), 9))
    one.append(e.Tuned(laplace, e.PoissonRuns(mean=3)))
    one.append(e.Unprotected(laplace, reason="seeded"))
    assert {type(event) for event in one} == KINDS
    for event in one:
        assert events.from_json(event.to_json()) == event
        assert type(event).__name__ in repr(event)


def test_the_written_form_is_pinned() -> None:
    event = events.Laplace(epsilon=Fraction(1, 3)) * 2 + events.Gaussian(2)
    assert json.loads(event.to_json()) == {
        "kind": "Composed",
        "version": 1,
        "parts": [
            {
                "kind": "Repeated",
                "version": 1,
                "times": 2,
                "event": {"kind": "Laplace", "version": 1, "epsilon": {"ratio": ["1", "3"]}},
            },
            {"kind": "Gaussian", "version": 1, "noise_multiplier": 2},
        ],
    }


@given(every_event)
def test_events_are_frozen(event: Event) -> None:
    for field in dataclasses.fields(event):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(event, field.name, 1)


@given(simple, simple)
def test_events_of_different_kinds_are_never_equal(one: Event, other: Event) -> None:
    assert type(one) is type(other) or one != other


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("event_not_json", "not json"),
        ("event_not_json", "[1]"),
        ("event_not_json", "null"),
        ("event_unknown", "{}"),
        ("event_unknown", '{"kind": "Laplace", "epsilon": 1}'),
        ("event_unknown", '{"kind": "Laplace", "version": 2, "epsilon": 1}'),
        ("event_unknown", '{"kind": "Laplace", "version": "1", "epsilon": 1}'),
        ("event_unknown", '{"kind": "Mystery", "version": 1}'),
        ("event_unknown", '{"kind": ["Laplace"], "version": 1}'),
        ("event_fields", '{"kind": "Laplace", "version": 1}'),
        ("event_fields", '{"kind": "Laplace", "version": 1, "epsilon": 1, "delta": 0}'),
        ("event_fields", '{"kind": "Laplace", "version": 1, "loss": 1}'),
        ("not_finite", '{"kind": "Laplace", "version": 1, "epsilon": NaN}'),
        ("not_positive", '{"kind": "Laplace", "version": 1, "epsilon": -1}'),
        ("not_a_number", '{"kind": "Laplace", "version": 1, "epsilon": "1"}'),
        ("not_a_number", '{"kind": "Laplace", "version": 1, "epsilon": true}'),
    ],
)
def test_unknown_kinds_versions_and_fields_are_refused(code: str, text: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        events.from_json(text)
    assert refusal.value.code == code


@pytest.mark.parametrize("price", [PURE.price, ZERO_CONCENTRATED.price, APPROX.price])
@given(small, small, small, st.integers(0, 5), st.integers(0, 5))
def test_composition_is_an_algebra_of_prices(  # noqa: PLR0917
    price: Any, a: Event, b: Event, c: Event, j: int, k: int
) -> None:
    nothing = events.Nothing()
    assert (a + b) + c == a + (b + c)
    assert a + nothing == nothing + a == a
    assert a * 1 == 1 * a == a
    assert a * 0 == nothing * k == nothing
    assert price(a + b) == price(b + a)
    assert price(a * (j + k)) == price(a * j + a * k)
    assert price((a + b) * k) == price(a * k + b * k)
    assert price((a * j) * k) == price(a * (j * k))


@pytest.mark.parametrize("times", [-1, 0.5, True, "2", math.inf])
def test_only_whole_numbers_of_times_make_sense(times: Any) -> None:
    with pytest.raises(InvalidParameter):
        events.Laplace(epsilon=1) * times


def test_only_events_are_added() -> None:
    with pytest.raises(TypeError):
        events.Laplace(epsilon=1) + 1  # type: ignore[operator]


def test_what_was_not_private_has_no_price() -> None:
    seeded = events.Unprotected(events.Laplace(epsilon=1), reason="seeded")
    for event in (seeded, seeded + events.Laplace(epsilon=1), seeded * 3):
        for price in (PURE.price, APPROX.price, ZERO_CONCENTRATED.price):
            with pytest.raises(NotPrivate):
                price(event)
        with pytest.raises(NotPrivate):
            event.epsilon(delta=1e-6)


def test_a_kind_is_taken_once() -> None:
    with pytest.raises(InvalidParameter, match="event_kind_taken"):
        type("Fake", (Event,), {"kind": "Laplace"})


def test_fractions_survive_pricing() -> None:
    third = events.Laplace(epsilon=Fraction(1, 3))
    assert PURE.price(third * 3) == 1
    assert (third * 3).epsilon(delta=0) == 1.0


def test_samples_for_different_neighbours_meet_in_no_composition() -> None:
    poisson = events.Laplace(epsilon=1).subsample(rate=0.5)
    fixed = events.Laplace(epsilon=1).subsample(size=1, of=2)
    mixtures: list[Any] = [
        lambda: poisson + fixed,
        lambda: fixed * 2 + events.Gaussian(1) + poisson,
        lambda: events.Composed((poisson, fixed)),
        lambda: fixed.subsample(rate=0.5),
        lambda: poisson.subsample(size=1, of=2),
    ]
    for mixed in mixtures:
        with pytest.raises(Mismatch, match="relation_mismatch"):
            mixed()
    assert (poisson + poisson).relation() is Relation.ADD_REMOVE
    assert (fixed + fixed).relation() is Relation.REPLACE
