"""Going on with a counter from its state: the same noise, the same price, the next tick.

Source: contract, "Spending" (resume re-reads, never redraws). Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from discreet.core.foreign_text import refusing
from discreet.noise.randomness import SYSTEM, Source
from discreet.release.kept_guarantee import keeps
from discreet.streams.node_noise import is_enough, noise_from_dict
from discreet.streams.stored import State, part, unreadable
from discreet.streams.tags import from_dict, spend_from_dict, spend_to_dict, to_dict

if TYPE_CHECKING:
    from discreet.streams.counter import ContinualCounter, Counter, LiveCounter

FORM = "stream-counter/1"

KINDS = {
    "tree/1": "tree:BinaryTree",
    "reduced-tree/1": "tree:ReducedTree",
    "per-tick/1": "baselines:NoisePerTick",
    "per-prefix/1": "baselines:NoisePerPrefix",
    "doubling/1": "doubling:DoublingTree",
    "window/1": "window:SlidingWindow",
    "toeplitz/1": "factorisation.toeplitz:ToeplitzCounter",
    "dense/1": "factorisation.dense:OptimalCounter",
    "buffered/1": "factorisation.buffered:BufferedToeplitzCounter",
}
"""Where each kind of counter lives; the names on the left never change."""


def describe(mechanism: ContinualCounter) -> State:
    """What a counter was opened with, as plain values."""
    kind = getattr(mechanism, "kind", None)
    if kind not in KINDS or _class_of(kind) is not type(mechanism):  # a derived one is another
        raise unreadable(expected="a counter of a known kind")
    return {
        "kind": mechanism.kind,
        "horizon": mechanism.horizon,
        "keys": mechanism.keys,
        "spend": spend_to_dict(mechanism.spend),
        "unit": to_dict(mechanism.unit),
        "contribution": to_dict(mechanism.contribution),
        "noise": mechanism.noise.to_dict(),
        "shape": mechanism.shape(),
    }


def state_of(counter: LiveCounter, live: State) -> State:
    """The whole state of a live counter."""
    return {"form": FORM, "mechanism": describe(counter.mechanism), "live": live}


def mechanism_from(plain: object, *, randomness: Source = SYSTEM) -> ContinualCounter:
    """The description of a counter, with the very noise that it was opened with."""
    if not isinstance(plain, Mapping) or plain.get("kind") not in KINDS:
        raise unreadable(expected="a counter of a known kind")
    found: ContinualCounter = _class_of(plain["kind"])(
        horizon=plain.get("horizon"),
        keys=plain.get("keys"),
        spend=spend_from_dict(plain.get("spend")),
        unit=from_dict(plain.get("unit")),
        contribution=from_dict(plain.get("contribution")),
        randomness=randomness,
        **part(plain, "shape", dict),
    )
    # In place of a calibration that a later version might do otherwise.
    found.__dict__["noise"] = noise_from_dict(part(plain, "noise", dict))
    return found


def from_state(state: State, *, randomness: Source = SYSTEM) -> Counter:
    """The live counter that ``state()`` described, as it was then.

    Nothing is drawn, and nothing is to be paid: the whole stream was paid for when it was opened.
    """
    if not isinstance(state, Mapping) or state.get("form") != FORM:
        raise unreadable(expected="the state of a counter")
    with refusing(code="stream_state_unreadable", expectation="the state of a counter"):
        mechanism = mechanism_from(state.get("mechanism"), randomness=randomness)
        if not keeps(mechanism.spend, mechanism.noise.event):
            raise unreadable(expected="noise that costs no more than the spend")
        if not is_enough(mechanism.noise, mechanism.sensitivity()):
            raise unreadable(expected="noise for all that its unit can move")
        counter: Any = mechanism.open()
        counter.resume(part(state, "live", dict))
    found: Counter = counter
    return found


def _class_of(kind: str) -> Any:
    """The counter that a frozen name stands for, loaded when it is needed."""
    return resolve_name(f"discreet.streams.{KINDS[kind]}")
