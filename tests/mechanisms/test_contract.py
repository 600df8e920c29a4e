"""What every mechanism owes its user: found by discovery, so that none is forgotten."""

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any

import pytest

from discreet import mechanisms
from discreet.core.events.event import Event, from_json
from discreet.core.measurement import Measurement
from discreet.core.metric import L1, L2
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.examples import EXAMPLES

PACKAGES = ("discreet.mechanisms", "discreet.mechanisms.robust")
PRIVACY = {"epsilon", "epsilon_each", "delta", "rho", "sensitivity", "keep", "unit"}


def exported(package: str) -> list[type[Any]]:
    module = import_module(package)
    named = [getattr(module, name) for name in module.__all__]
    return [
        item
        for item in named
        if inspect.isclass(item)
        and not inspect.isabstract(item)
        and (hasattr(item, "release") or hasattr(item, "open"))
    ]


EVERY = [kind for package in PACKAGES for kind in exported(package)]


DOCUMENTED = [
    item
    for package in ("discreet.queries", "discreet.queries.analysts", "discreet.noise")
    for item in (getattr(import_module(package), name) for name in import_module(package).__all__)
    if inspect.isclass(item)
]
"""What these packages export beside functions: mechanisms, and what they are described with."""


@pytest.mark.parametrize("kind", [*EVERY, *exported("discreet.mechanisms.quantiles"), *DOCUMENTED])
def test_its_docstring_has_assumptions_guarantee_and_source(kind: type[Any]) -> None:
    """004d:D15: low-level primitives document what they assume, and say so in their own words."""
    text = vars(kind).get("__doc__") or ""
    for section in ("Assumptions", "Guarantee", "Source"):
        found = re.search(rf"\b{section}(, [^:]+)?:\s+\S", text)
        assert found, section


def test_none_is_forgotten() -> None:
    assert set(exported("discreet.mechanisms")) == set(EXAMPLES)
    assert len(EVERY) > len(EXAMPLES), "the robust ones are found as well"


@pytest.mark.parametrize("kind", EVERY)
class TestForm:
    def test_parameters_are_keywords_and_privacy_has_no_default(self, kind: type[Any]) -> None:
        for name, parameter in inspect.signature(kind).parameters.items():
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, name
            if name in PRIVACY:
                assert parameter.default is inspect.Parameter.empty, name

    def test_it_is_frozen(self, kind: type[Any]) -> None:
        assert dataclasses.is_dataclass(kind)
        assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]

    def test_it_has_an_event_and_an_accuracy(self, kind: type[Any]) -> None:
        assert isinstance(inspect.getattr_static(kind, "event"), property)
        # An answer that is exact or absent has a chance of being absent instead of an error.
        told = [n for n in dir(kind) if n.startswith(("error", "failure")) or n.endswith("_needed")]
        assert told, "an `error` method, or one on how often there is no answer"


@pytest.mark.parametrize(("kind", "parameters"), EXAMPLES.items())
class TestBehaviour:
    def test_its_event_is_priced_and_survives_json(
        self, kind: type[Any], parameters: dict[str, Any]
    ) -> None:
        event = kind(**parameters).event
        assert isinstance(event, Event)
        assert from_json(event.to_json()) == event
        assert 0 < event.epsilon(delta=1e-6) < 100
        assert (event * 2).epsilon(delta=1e-6) > event.epsilon(delta=1e-6)

    def test_every_pure_one_costs_exactly_its_epsilon(
        self, kind: type[Any], parameters: dict[str, Any]
    ) -> None:
        if "epsilon" in parameters and "delta" not in parameters:
            assert kind(**parameters).event.epsilon(delta=0) == parameters["epsilon"]

    def test_test_mode_is_marked_and_private_mode_is_not(
        self, kind: type[Any], parameters: dict[str, Any]
    ) -> None:
        assert kind(**parameters).event.kind != "Unprotected"
        for randomness in (Seeded(5), Noiseless()):
            event = kind(**parameters, randomness=randomness).event
            assert event.kind == "Unprotected"
            assert from_json(event.to_json()) == event

    def test_it_is_a_value(self, kind: type[Any], parameters: dict[str, Any]) -> None:
        one, other = kind(**parameters), kind(**parameters)
        assert one == other
        assert hash(one) == hash(other)
        assert "object at" not in repr(one)
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.randomness = Seeded(1)
        with pytest.raises(TypeError):
            kind(*parameters.values())

    def test_it_says_how_accurate_it_is(self, kind: type[Any], parameters: dict[str, Any]) -> None:
        mechanism = kind(**parameters)
        others = {
            name: 50
            for name in inspect.signature(kind.error).parameters
            if name in {"candidates", "people", "questions"}
        }
        narrow = mechanism.error(confidence=0.5, **others)
        wide = mechanism.error(confidence=0.99, **others)
        assert 0 <= narrow < wide < float("inf")


def test_additive_mechanisms_are_mechanisms_of_the_calculus() -> None:
    from discreet.core.domain import Integers
    from discreet.core.measurement import Mechanism
    from discreet.core.space import Space

    for kind, metric in (
        (mechanisms.Laplace, L1()),
        (mechanisms.DiscreteLaplace, L1()),
        (mechanisms.Gaussian, L2()),
        (mechanisms.DiscreteGaussian, L2()),
    ):
        mechanism = kind(**EXAMPLES[kind])
        assert isinstance(mechanism, Mechanism)
        assert isinstance(mechanism.over(Space(Integers(), metric)), Measurement)
