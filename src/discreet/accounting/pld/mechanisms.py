"""The dominating pairs of the basic mechanisms.

Laplace and geometric noise on a vector are dominated by the shift of a single coordinate: noise
with a log-concave law has nested optimal tests, so moving one coordinate all the way is at
least as visible as moving several in turn. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.accounting.pld.accountant import PRIVACY_LOSS, Losses
from discreet.accounting.pld.lattice_pair import LatticePair
from discreet.accounting.pld.leaked_pair import smoothed_pair, smoothing
from discreet.accounting.pld.pair import (
    AtomicPair,
    BoundedRangePair,
    DominatingPair,
    LaplacePair,
    NormalPair,
    response_pair,
)
from discreet.core.errors import Unpriced
from discreet.core.events import mechanisms as basic
from discreet.core.parameters import exact, rounded_down, rounded_up

__all__ = ["PRIVACY_LOSS"]

_MOST_STEPS = 1 << 14
_MOST_SQUARE = 16
_MOST_SIGMA = 32
_ROOTS = 1 + Fraction(1, 1 << 40)
"""More than roots and quotients of doubles can fall short of what was meant."""
_MOST_SIGMA_ONE_STEP = 1 << 12
_LEAST = 1e-15
"""Smaller losses count as this much: ten million of them are still below 1e-7."""


def _once(pair: DominatingPair) -> Losses:
    return Losses(((pair, 1),))


def _loss(event: basic.Pure | basic.Approximate) -> float:
    loss = rounded_up(exact(event.loss))
    if math.isinf(loss):
        raise Unpriced(
            code="unpriced",
            expectation="a loss that a float can hold",
            received=event.kind,
            remedy="Use the pure accountant; nobody is protected by such an epsilon.",
        )
    return max(loss, _LEAST)


@PRIVACY_LOSS.prices(basic.Gaussian)
def _gaussian(event: basic.Gaussian) -> Losses:
    return _once(NormalPair(max(rounded_up(1 / exact(event.noise_multiplier)), _LEAST)))


@PRIVACY_LOSS.prices(basic.DiscreteGaussian)
def _discrete_gaussian(event: basic.DiscreteGaussian) -> Losses:
    sigma = exact(event.sigma)
    # Vectors of whole numbers: their squared distance is a whole number too, whose root in a
    # double may lie a little below it.
    square = max(math.floor((sigma / exact(event.noise_multiplier)) ** 2 * _ROOTS), 1)
    if square == 1 and sigma <= _MOST_SIGMA_ONE_STEP:
        return _once(LatticePair(float(sigma), 1))
    if square <= _MOST_SQUARE and sigma <= _MOST_SIGMA:
        return _once(LatticePair(float(sigma), square))
    if sigma**2 > 2 * Fraction(smoothing(square)):
        return _once(smoothed_pair(sigma, square))
    raise Unpriced(
        code="unpriced",
        expectation="a squared sensitivity of at most 16 grid steps, or noise of some steps",
        received=event.kind,
        remedy="Directions are too many, and noise too coarse to stand for the continuous: use "
        "the zero-concentrated or the Rényi accountant.",
    )


@PRIVACY_LOSS.prices(basic.Laplace)
def _laplace(event: basic.Laplace) -> Losses:
    return _once(LaplacePair(_loss(event)))


@PRIVACY_LOSS.prices(basic.DiscreteLaplace)
def _discrete_laplace(event: basic.DiscreteLaplace) -> Losses:
    loss = _loss(event)
    if event.steps == 1 or event.steps > _MOST_STEPS:
        # One step is randomized response; for very many steps that remains a valid bound.
        return _once(response_pair(loss))
    # Shifted by k steps, the loss is e (1 - 2 x / k) at x = 0 … k, with both tails at the ends.
    k = event.steps
    x = np.arange(k + 1)
    fall = math.exp(-loss / k)
    masses = np.exp(-loss * (x / k)) / (1 + fall)
    masses[1:-1] *= -math.expm1(-loss / k)
    return _once(AtomicPair(tuple((loss * (1 - 2 * x / k)).tolist()), tuple(masses.tolist())))


@PRIVACY_LOSS.prices(basic.RandomizedResponse)
def _randomized_response(event: basic.RandomizedResponse) -> Losses:
    loss = _loss(event)
    others = rounded_down(event.categories - 1)  # fewer of them tell more
    fall = math.exp(-loss)
    truth = 1 / (1 + others * fall)
    masses = (truth, fall * truth, (others - 1) * fall * truth)
    if event.categories == 2:
        return _once(response_pair(loss))
    return _once(AtomicPair((loss, -loss, 0.0), masses))


@PRIVACY_LOSS.prices(basic.Exponential)
def _exponential(event: basic.Exponential) -> Losses:
    return _once(BoundedRangePair(_loss(event)))


@PRIVACY_LOSS.prices(basic.Approximate)
def _approximate(event: basic.Approximate) -> Losses:
    return _once(response_pair(_loss(event), rounded_up(exact(event.slack))))


def _pure(event: basic.Pure) -> Losses:
    return _once(response_pair(_loss(event)))


for _kind in (basic.Pure, basic.PermuteAndFlip, basic.NoisyMax, basic.SparseVector):
    PRIVACY_LOSS.prices(_kind)(_pure)
