"""PrivUnit for devices: the cap is the few of many random directions that lie nearest.

A person draws a public seed, from which N directions follow, ranks them by their inner product with
the own vector, and names one of the first m with chance T / 2**64, else one of the others. Whatever
the vector is, the cap has exactly m members: so the ratio of chances is T (N - m) over
(2**64 - T) m, known exactly, where the cap of a continuous sphere would need an exact sampler.
As N grows the law becomes that of PrivUnit with normal directions; the report is a seed and a
number, five or six bytes.

Source: modern-learn:9 (PrivUnit, PrivUnitG). Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr

from discreet.core.parameters import exact
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.directions import DEVIATION, directions
from discreet.local.randomiser import Columns, Numbers, whole, width_of
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.local.vectors import VectorEstimate, VectorRandomiser
from discreet.noise import bernoulli, uniform_integers

_FEWEST, _MOST, _IN_CAP = 64, 1024, 4
_SEEDS = 1 << 32
_ROOM = 1 << 22


@dataclass(frozen=True, kw_only=True)
class PrivUnit(VectorRandomiser):
    """The mean of vectors of length up to 1: a random direction, more likely one that is near.

    Longer vectors are shortened to length 1. A vector of length r is replaced by nought with chance
    1 - r first, so that its report is unbiased; nought has no nearest directions, and its report is
    uniform. The squared error of the mean of n vectors is ``variance / n``.

    On a hundred coordinates that is 3.2, 3.9, 7.9 and 7.7 % above the cap of a continuous sphere
    at epsilon 1, 2, 4 and 8. Four times the directions would bring it to 1.2, 1.6 and 3.2 % at 1, 2
    and 4, and take each device four times as long: so many more people are the lesser price.

    >>> question = PrivUnit(epsilon=1, dimensions=100)
    >>> question.directions, question.near, round(question.variance)
    (64, 22, 650)
    """

    @cached_property
    def _shape(self) -> tuple[int, int]:
        """Directions and those in the cap: powers of two until the best cap has four members."""
        directions = _FEWEST
        while True:
            near = self._best_cap(directions)
            if near >= _IN_CAP or directions >= _MOST:
                return directions, near
            directions *= 2

    def _best_cap(self, directions: int) -> int:
        """The size with the largest pull, which rises to it and falls from there."""
        near, pull = 1, self._pull(directions, 1)
        while near < directions - 1:
            larger = self._pull(directions, near + 1)
            if larger <= pull:
                break
            near, pull = near + 1, larger
        return near

    def _pull(self, directions: int, near: int) -> float:
        """The mean inner product of a report with a vector of length 1, at the best chances."""
        odds = near / (directions - near) * exp(float(self.epsilon))
        keep = odds / (1 + odds)
        first = order_sums(directions, near)[0]
        return (keep / near - (1 - keep) / (directions - near)) * first

    @property
    def directions(self) -> int:
        """How many directions a seed has."""
        return self._shape[0]

    @property
    def near(self) -> int:
        """How many of them are the cap."""
        return self._shape[1]

    @cached_property
    def keep(self) -> int:
        """Chance over 2**64 that a direction of the cap is named."""
        return largest_chance(exact(self.epsilon), Fraction(self.near, self.directions - self.near))

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and mean square of the inner product of a report with a vector of length 1."""
        first, second = order_sums(self.directions, self.near)
        keep, far = self.keep / WHOLE, self.directions - self.near
        in_cap, outside = keep / self.near, (1 - keep) / far
        return (in_cap - outside) * first, in_cap * second + outside * (self.directions - second)

    @property
    def scale(self) -> float:
        """What a direction of standard normal coordinates is multiplied by to be unbiased."""
        return 1 / self._moments[0]

    @property
    def variance(self) -> float:
        """Expected squared distance of one report, set right, from a vector of length 1."""
        return self.scale**2 * (self.dimensions - 1 + self._moments[1]) - 1

    def describe_randomiser(self) -> dict[str, Any]:
        shape = {"dimensions": self.dimensions, "steps": self.steps}
        cap = {"directions": self.directions, "near": self.near}
        return {"kind": "directions", **shape, **cap, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return ReportField("seed", "u4"), ReportField("direction", width_of(self.directions))

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [seed, place] if whole(seed, _SEEDS) and whole(place, self.directions):
                return seed, place
        return None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        known = batch.columns["direction"] < self.directions
        return np.asarray(known & (batch.columns["seed"] < _SEEDS))

    def _draw_reports(self, rows: Numbers) -> Columns:
        at_once = max(1, _ROOM // (self.directions * self.dimensions))
        parts = [
            self._draw_seeds_and_places(rows[start : start + at_once])
            for start in range(0, max(1, len(rows)), at_once)
        ]
        seeds, places = (np.concatenate(each) for each in zip(*parts, strict=True))
        return {"seed": seeds.astype("u4"), "direction": places.astype(width_of(self.directions))}

    def _draw_seeds_and_places(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """Seeds and named directions, for so many people at once."""
        people, far = len(rows), self.directions - self.near
        lengths = uniform_integers(self.steps, people, self.randomness)
        long = lengths**2 < (rows**2).sum(axis=1)
        seeds = uniform_integers(_SEEDS, people, self.randomness)
        listed = np.broadcast_to(np.arange(self.directions), (people, self.directions))
        made = directions(np.broadcast_to(seeds[:, None], listed.shape), listed, self.dimensions)
        scores = np.einsum("ikj,ij->ik", made, rows * long[:, None])
        order = np.argsort(-scores, axis=1, kind="stable")
        kept = bernoulli(Fraction(self.keep, WHOLE), people, self.randomness)
        place = np.where(
            kept,
            uniform_integers(self.near, people, self.randomness),
            self.near + uniform_integers(far, people, self.randomness),
        )
        return seeds, order[np.arange(people), place]

    @property
    def _chunks(self) -> int:
        return 1

    def _table(self, batch: ReportBatch) -> Numbers:
        """Sums of the named directions, and of their squares, coordinate by coordinate."""
        found = np.zeros((2, self.dimensions), dtype=np.int64)
        at_once = max(1, _ROOM // self.dimensions)
        for start in range(0, batch.people, at_once):
            seeds, places = (
                batch.columns[name][start : start + at_once].astype(np.int64)
                for name in ("seed", "direction")
            )
            made = directions(seeds, places, self.dimensions)
            found += np.stack([made.sum(axis=0), (made**2).sum(axis=0)])
        return found

    def mean(self, tally: Tally) -> VectorEstimate:
        """The mean vector, with the standard errors that reports themselves show."""
        self._check(tally)
        scale, n = self.scale / DEVIATION, tally.people
        first, second = tally.table / n
        return VectorEstimate(scale * first, scale * np.sqrt((second - first**2) / n))


def order_sums(size: int, first: int) -> tuple[float, float]:
    """Expected sums of the ``first`` largest of ``size`` standard normals, and of their squares.

    A value z is among them if at most ``first - 1`` of the others are above it: the sum, in steps
    of 1/400 over nine deviations to each side, of z phi(z) times that binomial chance.

    >>> round(order_sums(2, 1)[0], 12) == round(np.pi**-0.5, 12)
    True
    """
    chances = bdtr(first - 1, size - 1, ndtr(-_NODES))
    weights = size * _WEIGHTS * chances
    return float(weights @ _NODES), float(weights @ _NODES**2)


_NODES = np.arange(-3600, 3601) / 400
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.sqrt(2 * np.pi) / 400
