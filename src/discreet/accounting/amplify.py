"""Amplification by sampling, for pure and approximate privacy.

An (epsilon, delta)-private event on a sample that each unit joins independently with probability
q is (ln(1 + q (exp(epsilon) - 1)), q delta)-private for add/remove neighbours; on a uniformly
random subset of m out of a public n it is so for replaced neighbours, with q = m/n. The inner
event is meant for the same neighbours: the events check it.

Nothing else is amplified. *Correlated* sampling, such as taking all units or none at rate q, has
no event and no price, since it earns nothing: given that the sample was taken, which the output
may well show, the loss is the full epsilon.

Numerics: prices are rationals above the true value by a relative 1e-14.

Source: 004a:E1 (Thm 3.28); modern-learn:8. Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting.approx import APPROX, ApproxPrice
from discreet.accounting.pure import PURE
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.core.events.event import FixedSizeSampled, PoissonSampled
from discreet.core.parameters import (
    Number,
    delta_parameter,
    exact,
    finite,
    nonnegative,
    rounded_up,
)

if TYPE_CHECKING:
    from discreet.core.events.event import Event

_MARGIN = 1e-14
_LARGEST = 700.0


def amplified_epsilon(*, rate: Number, epsilon: Number) -> float:
    """ln(1 + rate (exp(epsilon) - 1)), rounded up; never above ``epsilon``.

    >>> round(amplified_epsilon(rate=0.01, epsilon=1), 7)
    0.0170369
    """
    return rounded_up(_amplified(_rate(rate), exact(nonnegative("epsilon", epsilon))))


def amplified_delta(*, rate: Number, delta: Number) -> float:
    """rate times delta, rounded up."""
    return rounded_up(_rate(rate) * exact(delta_parameter("delta", delta)))


def _amplified(rate: Fraction, epsilon: Fraction) -> Fraction:
    if rate == 1 or epsilon == 0:
        return epsilon
    q, each = rounded_up(rate), rounded_up(epsilon)
    if math.isinf(each):
        return epsilon
    if each <= _LARGEST:
        value = math.log1p(q * math.expm1(each))
    else:
        # ln(1 + q (exp(e) - 1)) = e + ln(q + (1 - q) exp(-e)), whose parts may nearly cancel.
        parts = each, math.log(q + math.exp(-each))
        value = sum(parts) + _MARGIN * (parts[0] - parts[1])
    return min(epsilon, Fraction(math.nextafter(value * (1 + _MARGIN), math.inf)))


def _rate(rate: object) -> Fraction:
    number = exact(finite("rate", rate))
    if not 0 < number <= 1:
        raise InvalidParameter(
            code="rate_out_of_range",
            expectation="a sampling rate in (0, 1]",
            received=rate,
            remedy="Pass the probability with which each unit joins the sample.",
        )
    return number


def _approximate(rate: Fraction, event: Event) -> ApproxPrice:
    inner = APPROX.price(event)
    if inner.inverse_squares:
        raise Unpriced(
            code="unpriced",
            expectation="a sampled event whose inner price is one (epsilon, delta)",
            received=event.kind,
            remedy="Gaussian noise has a curve: use the Rényi or privacy loss accountant.",
        )
    return ApproxPrice(epsilon=_amplified(rate, inner.epsilon), delta=rate * inner.delta)


@PURE.prices(PoissonSampled)
def _poisson_pure(event: PoissonSampled) -> Fraction:
    return _amplified(exact(event.rate), PURE.price(event.event))


@PURE.prices(FixedSizeSampled)
def _fixed_size_pure(event: FixedSizeSampled) -> Fraction:
    return _amplified(Fraction(event.size, event.of), PURE.price(event.event))


@APPROX.prices(PoissonSampled)
def _poisson(event: PoissonSampled) -> ApproxPrice:
    return _approximate(exact(event.rate), event.event)


@APPROX.prices(FixedSizeSampled)
def _fixed_size(event: FixedSizeSampled) -> ApproxPrice:
    return _approximate(Fraction(event.size, event.of), event.event)
