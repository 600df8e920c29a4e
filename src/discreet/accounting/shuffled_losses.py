"""The privacy loss of shuffled reports, so that rounds of them compose.

Each round has fresh reports and a fresh shuffle; neighbours replace one person's input in all of
them. One round is dominated by the pair of :mod:`discreet.accounting.shuffle`: given C = c, with
a = exp(loss) / (exp(loss) + 1) and b = Bin(c, 1/2), the count j has P = a b(j-1) + (1-a) b(j);
Q has a and 1-a exchanged, and the privacy loss is

    2 artanh(tanh(loss / 2) (2 j - c - 1) / (c + 1)).

Its law is put on an even grid, each atom split over two grid points so that both its probabilities
are kept: an upper bound, of second order in the step. More people have less to lose, so beyond a
hundred million they are counted as that many.

Bits by randomized response have a curve of their own (:mod:`discreet.accounting.shuffled_bits`).
Their pair is the one whose curve goes through it at some thresholds, and straight in exp(epsilon)
between them, which is above it, since every curve is convex in that.

Source: modern-learn:7, 004a:C36. Proof: ``proofs/shuffle.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from discreet.accounting.binomial import masses_above
from discreet.accounting.pld.accountant import PRIVACY_LOSS, Losses
from discreet.accounting.pld.pair import ULP, AtomicPair, response_pair
from discreet.accounting.shuffle import FAIR, SHUFFLED, Blanket, groups, shuffled_epsilon
from discreet.accounting.shuffled_bits import MOST_PEOPLE, bits_delta
from discreet.core.arrays import Floats
from discreet.core.events.shuffled import Shuffled
from discreet.core.parameters import rounded_up

_POINTS = 1 << 12
_FINE = 3e-4
_NEAR = 8.0
_LOST = 60.0
"""Outcomes left out have a probability of at most 2 exp(-60), about 1e-26."""
_MOST_PEOPLE = 10**8
_LARGEST = 20.0
_LEAST = 1e-12
_THRESHOLDS = 128
_UNSEEN = 1e-26
_USUAL = 1e-9
"""The delta at which both pairs are compared, of more people than bits are summed for."""


@dataclass(frozen=True)
class ShuffledPair(AtomicPair):
    """Losses on an even grid, above those of the shuffle bound: nobody need attain them."""


@lru_cache(maxsize=32)
def shuffled_pair(blanket: Blanket) -> ShuffledPair:
    """The dominating pair of one round."""
    few = replace(blanket, people=min(blanket.people, _MOST_PEOPLE))
    loss = rounded_up(few.loss)
    slope = math.tanh(loss / 2)
    values = groups(few.people - 1, few.share())
    least, weights = _coarser(values.least, values.masses)
    lost = values.low_tail + 2 * math.exp(-_LOST)
    rows = [_list_losses_given_count(int(c), slope, loss) for c in least.tolist()]
    top = max(float(np.abs(z).max()) for z, _ in rows) * (1 + 8 * ULP)
    step = 2 * top / _POINTS
    masses = np.zeros(_POINTS + 3)
    for (z, p), weight in zip(rows, weights.tolist(), strict=True):
        place = np.floor((z + top) / step).astype(np.intp)
        ahead = z - (place * step - top) + 16 * ULP * top
        up = np.clip(np.expm1(-ahead) / math.expm1(-step), 0.0, 1.0)
        masses += np.bincount(place, weight * p * (1 - up), len(masses))
        masses += np.bincount(place + 1, weight * p * up, len(masses))
    kept = np.flatnonzero(masses)
    losses = np.arange(len(masses)) * step - top
    raised = masses * (1 + 1e-12)
    return ShuffledPair(tuple(losses[kept].tolist()), tuple(raised[kept].tolist()), lost)


@lru_cache(maxsize=32)
def bits_pair(loss: float, people: int) -> ShuffledPair:
    """The dominating pair of one round of bits: from its curve at thresholds from the largest down.

    Every atom is as heavy as the curve at the threshold below it asks for, given those above.
    """
    top = loss
    if bits_delta(loss, people, loss / 2) < _UNSEEN:
        low, top = 0.0, loss / 2
        for _ in range(20):
            middle = (low + top) / 2
            seen = bits_delta(loss, people, middle) > _UNSEEN
            low, top = (middle, top) if seen else (low, middle)
    lost = 0.0 if top == loss else bits_delta(loss, people, top)
    at = np.linspace(0.0, top, _THRESHOLDS + 1)
    masses = np.zeros(_THRESHOLDS + 1)
    for place in range(_THRESHOLDS, 0, -1):
        wanted = bits_delta(loss, people, float(at[place - 1])) - lost
        given = masses[place:] @ -np.expm1(at[place - 1] - at[place:])
        masses[place] = max(wanted - given, 0.0) / -math.expm1(at[place - 1] - at[place])
    fewer = masses * np.exp(-at)
    masses[0] = max(1 - masses[1:].sum() - fewer[1:].sum(), 0.0)
    atoms = np.concatenate((-at[:0:-1], at)), np.concatenate((fewer[:0:-1], masses))
    kept = np.flatnonzero(atoms[1])
    losses, raised = atoms[0][kept], atoms[1][kept] * (1 + 1e-12)
    return ShuffledPair(tuple(losses.tolist()), tuple(raised.tolist()), lost)


def _are_bits_better(blanket: Blanket) -> bool:
    """Whether the curve of bits is known, and lower; of more people than it is summed for."""
    if not blanket.binary or blanket.people >= 2 * MOST_PEOPLE:
        return False
    if blanket.people <= MOST_PEOPLE:
        return True
    least = shuffled_epsilon(loss=blanket.loss, people=blanket.people, even=True, delta=_USUAL)
    return bits_delta(rounded_up(blanket.loss), MOST_PEOPLE, least) < _USUAL


def _coarser(least: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Groups of groups, each judged by its least: as fine as a few parts in ten thousand of c.

    Far from the mean, where there is next to nothing, they are wider.
    """
    mean = float(least @ masses)
    spread = math.sqrt(max(float((least - mean) ** 2 @ masses), 1.0))
    width = np.where(np.abs(least - mean) < _NEAR * spread, 1.0, _NEAR) * max(_FINE * mean, 1.0)
    cells = np.floor(least / width)
    starts = np.flatnonzero(np.concatenate(([True], np.diff(cells) != 0)))
    return least[starts], np.add.reduceat(masses, starts) * (1 + 1e-12)


def _list_losses_given_count(c: int, slope: float, loss: float) -> tuple[Floats, Floats]:
    """Losses and P-masses given C = c, both rounded up, within Hoeffding's reach."""
    reach = math.sqrt(c * _LOST / 2) + 1
    low, high = max(math.floor(c / 2 - reach), 0), min(math.ceil(c / 2 + reach), c)
    b = masses_above(np.arange(low, high + 1, dtype=np.float64), c, FAIR) if c else np.ones(1)
    fall = math.exp(-loss)
    truth, lie = 1 / (1 + fall), fall / (1 + fall)
    p = np.concatenate((b * lie, [0.0])) + np.concatenate(([0.0], b * truth))
    j = np.arange(low, high + 2, dtype=np.float64)
    y = slope * (2 * j - c - 1) / (c + 1)
    z = 2 * np.arctanh(y)
    return z + 8 * ULP * (np.abs(z) + 2 / (1 - y * y)), p


@PRIVACY_LOSS.prices(Shuffled)
def _shuffled(event: Shuffled) -> Losses:
    blanket = SHUFFLED.price(event)
    if not _LEAST < blanket.loss < _LARGEST:
        return Losses(((response_pair(rounded_up(blanket.loss)), 1),))
    if _are_bits_better(blanket):
        pair = bits_pair(rounded_up(blanket.loss), min(blanket.people, MOST_PEOPLE))
        return Losses(((pair, 1),))
    return Losses(((shuffled_pair(blanket), 1),))
