"""Estimation of a graphical model from noisy marginals: a concave dual, climbed by L-BFGS.

The model of total N with marginals μ_c that minimises

    Σ_c |μ_c - y_c|² / 2 v_c  +  λ N KL(p | base)

has log-potentials θ_c = (y_c - μ_c) / (λ v_c), and these minimise the smooth convex

    N log Z(θ) - Σ_c <θ_c, y_c> + (λ/2) Σ_c v_c |θ_c|²,

whose gradient is μ_c(θ) - y_c + λ v_c θ_c. As λ falls, the loss tends to its least value over all
distributions, and the model to the one of largest entropy that attains it. Noise levels may differ
from marginal to marginal and from cell to cell; negative counts are no obstacle.

λ is small against what noise hides: a log-potential of one moves a count with the median noise by
``slack`` of its deviation.

Source: 004b:A14; modern-data:A3. Errata: weights are 1/variance, which reference code has as
1/deviation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from discreet.core.arrays import Floats
from discreet.core.parameters import count, positive
from discreet.synthetic.graphical.inference import CalibratedTree, Passes
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places
from discreet.synthetic.graphical.measurement import NoisyMarginal, distinct

_LEAST_DEVIATION = 1e-3
"""Exact measurements are fitted as if they had this much noise."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Log-potentials over some sets of attributes, and the model that they make."""

    potentials: Mapping[Places, Floats]
    model: CalibratedTree
    base: Mapping[Places, Floats] = field(default_factory=dict)
    """Log-potentials that were given and not estimated, such as structural zeros."""


@dataclass(frozen=True)
class Estimator:
    """How a model is estimated.

    ``slack`` is the bias that the entropy's pull has, as a share of the deviation of a count with
    the median noise, for a log-potential of one. ``iterations`` bounds the work.
    """

    slack: float = 0.3
    iterations: int = 60
    tolerance: float = 1e-3
    """Stop when no marginal is further from its optimum than this share of its deviation."""

    def __post_init__(self) -> None:
        """Refuse what cannot be fitted with, before any data is seen."""
        positive("slack", self.slack)
        positive("tolerance", self.tolerance)
        count("iterations", self.iterations)

    def fit(
        self,
        tree: JunctionTree,
        measured: Sequence[NoisyMarginal],
        total: float,
        *,
        start: Mapping[Places, Floats] | None = None,
        base: Mapping[Places, Floats] | None = None,
    ) -> Fitted:
        """The model of these measurements; ``start`` are potentials of an earlier one."""
        given = distinct(measured)
        sets = [each.places for each in given]
        passes = Passes(tree, sets, base)
        shapes = [each.values.shape for each in given]
        ends = np.cumsum([each.values.size for each in given])[:-1]
        y = np.concatenate([each.values.ravel() for each in given])
        v = np.concatenate(
            [np.broadcast_to(np.asarray(e.variance, float), e.values.shape).ravel() for e in given]
        )
        v = np.maximum(v, _LEAST_DEVIATION**2)
        ridge = self.slack * v / np.sqrt(np.median(v))
        # Counts vary over orders of magnitude: scaled by the root of the dual's curvature.
        scale = 1 / np.sqrt(np.clip(y, 1.0, total) + ridge)

        def tables(flat: Floats) -> list[Floats]:
            parts = np.split(flat, ends)
            return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

        def objective(x: Floats) -> tuple[float, Floats]:
            theta = x * scale
            found = passes.calibrate(tables(theta))
            mu = np.concatenate([each.ravel() for each in passes.expectations(found)]) * total
            pull = ridge * theta
            value = total * found.log_mass - theta @ y + 0.5 * (theta @ pull)
            return float(value), (mu - y + pull) * scale

        known = start or {}
        begin = np.concatenate(
            [
                np.ravel(known[each.places]) if each.places in known else _first_guess(each)
                for each in given
            ]
        )
        found = minimize(
            objective,
            begin / scale,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": self.iterations,
                "maxfun": 2 * self.iterations,
                "maxcor": 20,
                "gtol": self.tolerance * float(np.sqrt(v.min())) * float(scale.min()),
                "ftol": 1e-12,
            },
        )
        potentials = tables(found.x * scale)
        model = passes.calibrate(potentials)
        return Fitted(dict(zip(sets, potentials, strict=True)), model, base or {})


def _first_guess(measured: NoisyMarginal) -> Floats:
    """Log-potentials of a column by itself are about its log-counts; of others nothing is known."""
    if len(measured.places) > 1:
        return np.zeros(measured.values.size)
    logs = np.log(np.maximum(measured.values, max(1.0, measured.deviation)))
    return np.asarray(logs - logs.mean())
