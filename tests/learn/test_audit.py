"""Audits of the noise that estimators share; ``test_audits.py`` has those of every estimator.

A true claim is refuted with probability at most 1e-6 in each audit. A
finding's ``lower_bound`` is the epsilon that its audit could refute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import Box
from discreet.learn.estimators.linear import RegressionNoise
from discreet.learn.estimators.moment_estimator import moments_of
from discreet.learn.privacy import Privacy

ONE = Privacy(dp.PureDP(epsilon=1), dp.Row())
THREE = Privacy(dp.PureDP(epsilon=3), dp.Row())
FEW = np.array([[1.0], [1.0]])
MORE = np.array([[1.0], [1.0], [1.0]])


def audited(
    release: Callable[[Any], object], claim: float, pair: tuple[Any, Any] = (FEW, MORE)
) -> Finding:
    return audit(
        repeated(release),
        *pair,
        epsilon=claim,
        delta=0,
        events=LearnedEvents(outcome),
        trials=1000,
        confidence=1 - 1e-6,
    )


def coarse(values: Any) -> tuple[int, ...]:
    return tuple(np.sign(np.ravel(values) - 2.5).astype(int).tolist())


class Unbounded(Box):
    """A twin that maps to the bounds and does not clamp."""

    def columns(self, values: Any, out: Any) -> Any:
        out[:] = np.rint((values - self.middle[:, None]) / self.half[:, None] * 2.0**36)
        return out


def exact_moments(features: Box) -> tuple[Any, Any]:
    boxes = features, Box.of((-1, 1), 1)
    return tuple(
        moments_of(
            ((np.ones((len(rows), 1)), boxes[1]), (rows, boxes[0])), np.ones(len(rows), dtype=bool)
        )
        for rows in (FEW, MORE)
    )  # type: ignore[return-value]


def regression(privacy: Privacy, unit: float = 1) -> Callable[[Any], tuple[int, ...]]:
    noise = RegressionNoise(privacy, 1)

    def release(exact: Any) -> tuple[int, ...]:
        noisy = noise.release(exact)
        return coarse([noisy.features[0], noisy.mixed[0], noisy.square[0, 0] / unit])

    return release


def test_regression_keeps_its_claim_and_could_have_been_refuted() -> None:
    pair = exact_moments(Box.of((-1, 1), 1))
    found = audited(regression(THREE), 3, pair)
    assert found.passes
    assert found.lower_bound > 0.5  # a claim of one half would have been refuted


def test_a_twin_that_does_not_clamp_is_refuted() -> None:
    assert audited(regression(ONE), 1, exact_moments(Box.of((-0.1, 0.1), 1))).passes
    wild = exact_moments(Unbounded.of((-0.1, 0.1), 1))
    assert not audited(regression(ONE, 100), 1, wild).passes


def test_a_twin_with_noise_for_one_row_of_a_person_is_refuted() -> None:
    """A person with six rows: the twin has the noise of one."""

    def people(privacy: Privacy, rows: Any) -> tuple[int, ...]:
        noise = BoundedNoise(privacy, (SumGroup(1),))
        total = np.array([3 * (len(rows) - 2) << 36], dtype=object)
        return coarse(noise.release(0, total, bits=36) + 1)

    honest = Privacy(dp.PureDP(epsilon=1), dp.Person("id", max_rows=3))
    assert audited(lambda rows: people(honest, rows), 1).passes
    assert not audited(lambda rows: people(ONE, rows), 1).passes


@pytest.mark.audit
def test_a_twin_that_gives_each_group_the_whole_spend_is_refuted() -> None:
    """Eight groups at epsilon one: together they cost eight.

    The twin's number of high groups is binomial, of eight at .70 or .30, so six or more have
    probabilities of .55 and .011: the audit refutes an epsilon of 2.2, with a deviation of .2.
    """

    def high(noise: BoundedNoise, rows: Any) -> int:
        total = np.array([len(rows) << 36], dtype=object)
        return sum(float(noise.release(0, total, bits=36)[0]) > 2.5 for _ in range(8))

    shared = BoundedNoise(ONE, (SumGroup(1, 0.125),) * 8)
    whole = BoundedNoise(ONE, (SumGroup(1),))
    assert audited(lambda rows: high(shared, rows), 1).passes
    assert not audited(lambda rows: high(whole, rows), 1).passes


@pytest.mark.audit
def test_gaussian_noise_keeps_its_claim_at_length() -> None:
    spend = dp.ApproxDP(epsilon=1, delta=1e-3)
    noise = BoundedNoise(replace(ONE, spend=spend), (SumGroup(40),))

    def release(rows: Any) -> int:
        total = np.full(40, len(rows) << 36, dtype=object)
        return int(np.clip(noise.release(0, total, bits=36).mean() // 4, -2, 4))

    found = audit(
        repeated(release),
        FEW,
        MORE,
        epsilon=1,
        delta=1e-3,
        events=LearnedEvents(outcome),
        trials=20000,
        confidence=1 - 1e-6,
    )
    assert found.passes
