"""Where rows lie within their bounds: a noisy middle of each feature, and one width for all.

Bounds that are declared are usually wide, and rows crowd in a corner of them: a share of spam mails
has few dollar signs, none a hundred. What bounds the influence of a row is the corner's distance
from zero, what there is to learn is the spread inside, and a ridge or a clip that is fair to the
first drowns the second. So a part of the spend buys the mean of each feature, then the share of all
numbers within 1/2, 1/4, … of those means. Rows are moved to the means, cut at a width that holds
nine of ten numbers, and measured in it. Where noise is too large to tell, bounds stay as declared.

Source: 004d:M2 (what is learnt for preparing data is paid for as well); modern-learn:12.
Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import exact
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE, Box
from discreet.learn.exact_sums import Whole, slices
from discreet.learn.privacy import Privacy

_WIDTHS = 2.0 ** -np.arange(1, 7)
_WITHIN = 0.9
"""The share of numbers that a width is to hold."""
_ROOM = 1.5
"""How much wider than that it is taken."""
_UNCLEAR = 0.3
"""The deviation of a noisy mean, in units of the bounds, from which on nothing is moved."""


_ENOUGH = Fraction(64)
"""The epsilon, or rho, that is enough."""


@dataclass(frozen=True)
class Centre:
    """A middle of each feature and a width, in units of the bounds; public once it was paid for."""

    middle: Floats
    width: float

    @classmethod
    def declared(cls, features: int) -> Centre:
        """The bounds as they were declared."""
        return cls(np.zeros(features), 1.0)

    def centre_rows(self, units: Floats) -> Floats:
        """Rows measured from the middle in the width, within [-1, 1]; a last column of ones stays.

        Each row is a function of that row alone.
        """
        if self.width == 1:
            return units
        there = units.copy()
        features = there[:, :-1]
        features -= self.middle
        features /= self.width
        np.clip(features, -1, 1, out=features)
        return there

    def within(self, box: Box) -> Box:
        """The same as bounds of the features: what rows are measured in."""
        middle, half = box.middle + self.middle * box.half, self.width * box.half
        return Box(middle - half, middle + half)


@dataclass(frozen=True)
class Centring:
    """Buys a centre of rows that lie within [-1, 1].

    Assumptions: spend, unit and number of features are chosen without the data; rows that are
    passed are those that count, at most as many of a unit as it allows.

    Guarantee: ``find_centre`` costs ``event``, which the spend covers.

    >>> from discreet import PureDP, Row
    >>> Centring(Privacy(PureDP(epsilon=1), Row()), 3).event.epsilon(delta=0)
    1.0

    Source: 004d:M2, modern-learn:12. Proof: ``proofs/learn.md``.

    Numerics: sums in exact integers; what a row adds is rounded to 2**-36.
    """

    privacy: Privacy
    features: int

    def __post_init__(self) -> None:
        """Refuse spends that buy no noise of this kind, before rows are read."""
        _ = self._noise

    @property
    def event(self) -> Event:
        """What the centre costs."""
        return self._noise.event

    @property
    def known_ahead(self) -> Mapping[str, float]:
        """The noise of both sums, by name."""
        names = "noise of sums that find the middle", "noise of sums that find the width"
        return {name: self._noise.deviation(place) for place, name in enumerate(names)}

    @cached_property
    def _noise(self) -> BoundedNoise:
        half = Fraction(1, 2)
        groups = (SumGroup(self.features + 1, half), SumGroup(len(_WIDTHS), half))
        return BoundedNoise(self.privacy, groups)

    def find_centre(self, units: Floats) -> Centre:
        """The centre of rows with a last column of ones, by two noisy sums."""
        noise = self._noise
        *sums, rows = noise.release(0, _sums(units), bits=BITS)
        rows = max(1.0, rows)
        unclear = noise.deviation(0) / rows
        means = np.array(sums) / rows
        # A mean that noise explains is none: it is drawn towards the middle of the bounds.
        middle = np.clip(
            means * np.maximum(0, 1 - (unclear / np.maximum(abs(means), 1e-9)) ** 2), -1, 1
        )
        inside = noise.release(1, _inside(units, middle), bits=BITS)
        shares = (inside - noise.deviation(1)) / rows / 2 + 0.5
        narrow = int(np.argmin(np.append(shares >= _WITHIN, False)))
        if unclear > _UNCLEAR or narrow == 0:
            return Centre.declared(self.features)
        return Centre(middle, float(_ROOM * _WIDTHS[narrow - 1]))


def most_of_use(spend: Guarantee) -> Fraction:
    """The largest share of a spend that buys something: noise that is less would tell no more."""
    match spend:
        case PureDP(epsilon=much) | ApproxDP(epsilon=much) | ZCDP(rho=much):
            return _ENOUGH / max(_ENOUGH, exact(much))
    return Fraction(1)


def _sums(units: Floats) -> Whole:
    """Sums of the columns, in steps of 2**-36; 2**13 of them are exact in doubles."""
    total = np.zeros(units.shape[1], dtype=object)
    for part in slices(len(units)):
        total += np.rint(units[part] * ONE).sum(axis=0).astype(np.int64).astype(object)
    return total


def _inside(units: Floats, middle: Floats) -> Whole:
    """For each width the sum over rows of twice the share of features within it, less one."""
    features = len(middle)
    worth = np.array(
        [((2 * k - features) << BITS) // features for k in range(features + 1)], object
    )
    total = np.zeros(len(_WIDTHS), dtype=object)
    for part in slices(len(units)):
        away = np.abs(units[part, :-1] - middle)
        for place, width in enumerate(_WIDTHS):
            within = np.count_nonzero(away <= width, axis=1)
            seen = np.bincount(within, minlength=features + 1).astype(object)
            total[place] += int(seen @ worth)
    return total
