"""People who lie on purpose: how far they move an estimate, and what can be said in spite of them.

A report that supports a target counts for (1 - q) / (p - q) people, much more than one where
epsilon is small. No oracle prevents it: all reports are possible ones. What helps is to know it: a
bound for a number of liars that is assumed, and shares that must add up to one.

Source: 004a:C33.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.local.direct import DirectEncoding
from discreet.local.frequencies import Frequencies
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import LocalHashing
from discreet.local.oracle import SupportOracle
from discreet.local.reports import ReportBatch
from discreet.local.subset import SubsetSelection
from discreet.local.unary import UnaryEncoding


def gain_of_one(oracle: SupportOracle) -> float:
    """By how many people one liar moves the count of a target.

    >>> round(gain_of_one(DirectEncoding(epsilon=1, domain=2)), 3)
    1.582
    """
    p, q = oracle.support_chances
    return float((1 - q) / (p - q))


def poison(oracle: SupportOracle, target: Any, *, liars: int) -> ReportBatch:
    """The reports most favourable to one value, each of which an honest client could have sent."""
    wanted = oracle.choices.numbers([target])
    many = np.repeat(wanted, count("liars", liars))
    batch = oracle.privatize_many(many)
    columns = dict(batch.columns)
    if isinstance(oracle, DirectEncoding):
        columns["value"] = many.astype(columns["value"].dtype)
    elif isinstance(oracle, LocalHashing):
        a, b = columns["a"].astype(np.int64), columns["b"].astype(np.int64)
        hashed = (a * many + b) % oracle.prime % oracle.cells
        columns["cell"] = hashed.astype(columns["cell"].dtype)
    elif isinstance(oracle, HadamardResponse):
        word = np.zeros(liars, dtype=np.int64)
        for place in range(oracle.bits):
            rows = columns[f"row{place}"].astype(np.int64)
            word |= (np.bitwise_count(rows & many).astype(np.int64) & 1) << place
        columns["word"] = word.astype(columns["word"].dtype)
    elif isinstance(oracle, UnaryEncoding):
        bits = columns["bits"].copy()
        bits[:, int(wanted[0]) >> 3] |= np.uint8(1 << (int(wanted[0]) & 7))
        columns["bits"] = bits
    else:
        raise _unknown_lies(oracle)
    return ReportBatch(columns)


@dataclass(frozen=True)
class TolerantShares:
    """Shares that lie within these bounds whatever the assumed liars sent, up to noise."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def tolerant(
    oracle: SupportOracle, found: Frequencies, *, liars: int, confidence: float
) -> TolerantShares:
    """Bounds of honest people's shares if at most ``liars`` of all reports are lies.

    With m liars of n reports the estimate is the honest one times (n - m) / n plus what liars add,
    between -q / (p - q) and (1 - q) / (p - q) each.
    """
    n, m = found.people, _liars_below(found.people, liars)
    p, q = (float(chance) for chance in oracle.support_chances)
    low, high = found.intervals(confidence=confidence)
    honest = (n - m) / n
    most, least = m / n * (1 - q) / (p - q), -m / n * q / (p - q)
    return TolerantShares(
        np.clip((low - most) / honest, 0, 1), np.clip((high - least) / honest, 0, 1)
    )


def recovered(oracle: SupportOracle, found: Frequencies, *, liars: int) -> Frequencies:
    """Shares of honest people if so many liars push one value, the one that stands out most.

    With m liars of n reports who lie as :func:`poison` does, an estimate is (n - m) / n times the
    honest share plus m / n times (s - q) / (p - q), where s is the chance that a lie supports the
    value: one for the target, :func:`support_of_lies` for every other. Both are taken off and the
    rest is divided by (n - m) / n, so that shares are unbiased if liars are as many and as
    assumed; some may be negative (``projected`` sets that right). A guess, for comparison: honest
    peaks are lowered too.
    """
    n, m = found.people, _liars_below(found.people, liars)
    p, q = (float(chance) for chance in oracle.support_chances)
    lies = np.full(len(found.shares), float(support_of_lies(oracle)))
    lies[int(np.argmax(found.shares))] = 1.0
    honest = (n - m) / n
    shares = (found.shares - m / n * (lies - q) / (p - q)) / honest
    return replace(found, shares=shares, known_variances=found.variances / honest**2)


def support_of_lies(oracle: SupportOracle) -> Fraction:
    """The chance that a lie about one value supports a given other one too.

    Nought for direct reports, which name one value: there a lie takes from every other value what
    q / (p - q) people are worth. For the others a lie is otherwise drawn like an honest report.

    >>> support_of_lies(DirectEncoding(epsilon=1, domain=8))
    Fraction(0, 1)
    """
    if isinstance(oracle, DirectEncoding):
        return Fraction(0)
    if isinstance(oracle, LocalHashing):
        return oracle.collision
    if isinstance(oracle, SubsetSelection):
        return Fraction(oracle.chosen - 1, oracle.size - 1)
    if isinstance(oracle, HadamardResponse | UnaryEncoding):
        return oracle.support_chances[1]
    raise _unknown_lies(oracle)


def _unknown_lies(oracle: SupportOracle) -> InvalidParameter:
    return InvalidParameter(
        code="local_poison_kind",
        expectation="direct, unary, hashing or Hadamard reports",
        received=type(oracle).__name__,
        remedy="Use gain_of_one for the bound, which holds for every oracle.",
    )


def _liars_below(people: int, liars: int) -> int:
    """The number of liars; not all may lie."""
    if count("liars", liars, least=0) >= people:
        raise InvalidParameter(
            code="local_too_many_liars",
            expectation="fewer liars than reports",
            received=liars,
            remedy="Nothing can be said if everybody may lie.",
        )
    return liars
