"""The privacy calculus: privacy by construction, asked without data, open to third parties."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import calculus as t
from discreet import events
from discreet.accounting import APPROX, PURE, ZERO_CONCENTRATED
from discreet.accounting.tight_rho import pure_rho
from discreet.calculus.transformation import Transformation, stable
from discreet.core.domain import Integers, Nullable, Reals, Rows
from discreet.core.errors import DiscreetError, InvalidParameter, Mismatch, Unpriced
from discreet.core.events.event import Event, from_json
from discreet.core.measurement import Measurement, Mechanism, both
from discreet.core.metric import L1, L2, AddRemove, ChangeOne
from discreet.core.space import Space
from discreet.mechanisms import Gaussian, Laplace

NUMBERS = Space(Rows(Nullable(Reals())), AddRemove())


class Explosive:
    """Data that must not be touched: every access raises."""

    def __getattribute__(self, name: str) -> Any:
        message = "data was touched"
        raise AssertionError(message)

    def __iter__(self) -> Any:
        message = "data was touched"
        raise AssertionError(message)

    __len__ = __getitem__ = __bool__ = __eq__ = __hash__ = __iter__  # type: ignore[assignment]


def scaled(factor: int) -> Transformation[Any, Any]:
    space = Space(Integers(), L1())
    return Transformation(space, space, lambda value: factor * value, stable(factor))


def pure(epsilon: Any, space: Space) -> Measurement[Any, Any]:
    """A measurement whose event is pure with ``epsilon`` per unit of distance."""
    return Measurement(
        space, lambda value: value, lambda d_in: events.Pure(epsilon=Fraction(epsilon) * d_in)
    )


def test_stabilities_multiply_into_the_price() -> None:
    chained = scaled(2) >> scaled(3) >> pure(Fraction(1, 10), Space(Integers(), L1()))
    assert chained.event(1) == events.Pure(epsilon=Fraction(6, 10))
    assert chained.event(1).epsilon(delta=0) == pytest.approx(0.6)


@given(st.one_of(st.floats(0, 1e9), st.integers(0, 10**20)), st.integers(0, 10**6))
def test_distances_round_upward(factor: float, distance: int) -> None:
    apart = stable(factor)
    assert Fraction(apart(distance)) >= Fraction(factor) * distance
    assert Fraction(apart(float(distance))) >= Fraction(factor) * distance
    assert apart(0) == 0
    assert stable(2)(math.inf) == math.inf


def test_chaining_is_associative() -> None:
    parts = scaled(2), scaled(3), pure(Fraction(1, 10), Space(Integers(), L1()))
    left, right = (parts[0] >> parts[1]) >> parts[2], parts[0] >> (parts[1] >> parts[2])
    assert left.event(5) == right.event(5)
    assert left.release(7) == right.release(7) == 42


@pytest.mark.parametrize(
    "before",
    [
        t.count_rows(NUMBERS),
        t.sum_rows(NUMBERS, lower=-3, upper=2, grid=1),
        t.histogram(NUMBERS, (1, 2)),
    ],
    ids=["count", "sum", "histogram"],
)
def test_one_laplace_serves_count_and_sum(before: Transformation[Any, Any]) -> None:
    sensitivity = before.map(1)
    noisy = before >> Laplace(epsilon=0.5, sensitivity=sensitivity)
    assert noisy.event(1) == events.Laplace(epsilon=0.5)
    assert noisy.event(1).epsilon(delta=0) == 0.5
    assert noisy.event(2).epsilon(delta=0) == 1
    assert noisy.release((1.0, 2.0, None)) is not None


def test_maps_need_no_data() -> None:
    clamped = t.clamp_rows(NUMBERS, lower=0, upper=9)
    pipeline = clamped >> t.sum_rows(clamped.output, lower=0, upper=9, grid=1)
    assert clamped.map(4) == 4
    assert pipeline.map(2) == 18
    assert (pipeline >> Laplace(epsilon=1, sensitivity=9)).event(1).epsilon(delta=0) == 1


def test_approximate_maps_return_a_pair_and_concentrated_ones_grow_quadratically() -> None:
    noisy = t.count_rows(NUMBERS, metric=L2()) >> Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    one, two = noisy.event(1), noisy.event(2)
    assert one.epsilon(delta=1e-6) == pytest.approx(1)
    assert one.delta(epsilon=1) == pytest.approx(1e-6)
    assert ZERO_CONCENTRATED.price(two) == 4 * ZERO_CONCENTRATED.price(one)
    assert APPROX.price(two).inverse_squares == 4 * APPROX.price(one).inverse_squares


CHANGED = Space(Rows(Nullable(Reals()), 5), ChangeOne())
ILL_TYPED: list[tuple[str, Callable[[], Any]]] = [
    ("domain_mismatch", lambda: t.drop_nulls(NUMBERS) >> t.count_rows(NUMBERS)),
    ("metric_mismatch", lambda: t.filter_rows(CHANGED, bool) >> t.map_rows(CHANGED, abs, Reals())),
    (
        "metric_mismatch",
        lambda: t.map_rows(CHANGED, abs, Reals()) >> t.count_rows(NUMBERS),
    ),
    (
        "metric_mismatch",
        lambda: t.count_rows(NUMBERS) >> Gaussian(epsilon=1, delta=1e-6, sensitivity=1),
    ),
    (
        "metric_mismatch",
        lambda: t.histogram(NUMBERS, (1,), metric=L2()) >> Laplace(epsilon=1, sensitivity=1),
    ),
    ("cannot_chain", lambda: t.count_rows(NUMBERS) >> (lambda value: value)),  # type: ignore[operator]
    ("metric_mismatch", lambda: both(pure(1, NUMBERS), pure(1, CHANGED))),
    ("nothing_to_compose", both),
]


@pytest.mark.parametrize(("code", "build"), ILL_TYPED)
def test_ill_typed_pipelines_fail_before_data_is_opened(
    code: str, build: Callable[[], Any]
) -> None:
    data = Explosive()
    with pytest.raises(DiscreetError) as refusal:
        build().release(data)
    assert refusal.value.code == code


def test_well_typed_ones_do_touch_the_data() -> None:
    with pytest.raises(AssertionError, match="touched"):
        (t.count_rows(NUMBERS) >> Laplace(epsilon=1, sensitivity=1)).release(Explosive())  # type: ignore[arg-type]


def test_a_conversion_makes_the_pipeline_fit() -> None:
    converted = t.change_one_to_add_remove(CHANGED)
    pipeline = converted >> t.count_rows(converted.output) >> Laplace(epsilon=1, sensitivity=1)
    assert pipeline.event(1).epsilon(delta=0) == 2


@pytest.mark.parametrize(
    "build",
    [
        lambda: Transformation(NUMBERS, NUMBERS, tuple, None),  # type: ignore[arg-type]
        lambda: Transformation(NUMBERS, NUMBERS, None, stable(1)),  # type: ignore[arg-type]
        lambda: Transformation(NUMBERS, None, tuple, stable(1)),  # type: ignore[arg-type]
        lambda: Transformation(Reals(), NUMBERS, tuple, stable(1)),  # type: ignore[arg-type]
        lambda: Measurement(NUMBERS, tuple, None),  # type: ignore[arg-type]
        lambda: Measurement(NUMBERS, None, lambda d: events.Nothing()),  # type: ignore[arg-type]
        lambda: Measurement(None, tuple, lambda d: events.Nothing()),  # type: ignore[arg-type]
    ],
)
def test_a_plug_in_without_a_map_cannot_be_built(build: Callable[[], Any]) -> None:
    with pytest.raises(InvalidParameter, match="incomplete_component"):
        build()


def test_a_plug_in_without_any_map_argument_cannot_be_built() -> None:
    with pytest.raises(TypeError):
        Transformation(NUMBERS, NUMBERS, tuple)  # type: ignore[call-arg]


def test_an_event_map_that_returns_something_else_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not_an_event"):
        Measurement(NUMBERS, tuple, lambda d: 0.5).event(1)  # type: ignore[arg-type, return-value]


def test_post_processing_is_free() -> None:
    noisy = t.count_rows(NUMBERS) >> Laplace(epsilon=0.3, sensitivity=1)
    after = noisy.then(lambda value: max(0, value)).then(str)
    for distance in (1, 2, 7):
        assert after.event(distance) == noisy.event(distance)
    assert isinstance(after.release(()), str)


def test_composition_adds_events() -> None:
    one, other = pure(Fraction(1, 10), NUMBERS), pure(Fraction(2, 10), NUMBERS)
    together = both(one, other, one)
    assert together.event(2).epsilon(delta=0) == 0.8
    assert together.release((1.0,)) == ((1.0,),) * 3


# A third party: its own event and price, mechanism, transformation and combinator.


@dataclass(frozen=True, repr=False)
class Staircase(Event):
    """Noise by another law, pure with the given loss per step."""

    kind = "acme.Staircase"
    steepness: Fraction


@PURE.prices(Staircase)
def staircase(event: Staircase) -> Fraction:
    return event.steepness


@dataclass(frozen=True)
class StaircaseMechanism:
    """Structural: it has ``over`` and inherits from nothing."""

    steepness: Fraction

    def over(self, space: Space) -> Measurement[Any, Any]:
        if space.metric != L1():
            raise Mismatch(
                code="metric_mismatch", expectation="L1", received=space.metric, remedy="Use L1."
            )
        return Measurement(space, lambda x: x, lambda d: Staircase(self.steepness * d))


def top_coded(space: Space, top: int) -> Transformation[Any, Any]:
    return Transformation(
        space, space, lambda rows: tuple(min(row, top) for row in rows), stable(1)
    )


def repeated(measurement: Measurement[Any, Any], times: int) -> Measurement[Any, list[Any]]:
    return Measurement(
        measurement.input,
        lambda data: [measurement.function(data) for _ in range(times)],
        lambda d_in: measurement.event(d_in) * times,
    )


def test_third_parties_extend_the_calculus_through_its_public_face() -> None:
    whole = Space(Rows(Integers()), AddRemove())
    mechanism = StaircaseMechanism(Fraction(1, 20))
    assert isinstance(mechanism, Mechanism)
    total = t.sum_rows(whole, lower=0, upper=5, grid=1)
    pipeline = repeated(top_coded(whole, 5) >> total >> mechanism, 3)
    event = pipeline.event(1)
    assert event.epsilon(delta=0) == 0.75
    assert ZERO_CONCENTRATED.price(event) == 3 * pure_rho(Fraction(1, 4))
    assert from_json(event.to_json()) == event
    assert pipeline.release((1, 9)) == [6, 6, 6]


def test_an_event_without_a_price_may_not_be_spent() -> None:
    @dataclass(frozen=True, repr=False)
    class Unheard(Event):
        kind = "acme.Unheard"

    event = Unheard() + events.Laplace(epsilon=1)
    with pytest.raises(Unpriced, match="unpriced"):
        event.epsilon(delta=1e-6)
    with pytest.raises(Unpriced, match="unpriced"):
        event.delta(epsilon=1.0)


def test_a_second_price_for_an_event_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="price_taken"):
        PURE.prices(Staircase)(staircase)


def test_a_subclass_of_a_priced_event_has_no_price_of_its_own() -> None:
    @dataclass(frozen=True, repr=False, init=False)
    class Louder(events.Laplace):
        kind = "acme.Louder"

    with pytest.raises(Unpriced):
        PURE.price(Louder(epsilon=1))
