"""What is promised: pure, approximate, (approximate) zero-concentrated, Rényi, Gaussian privacy.

A guarantee carries its unit. Used as a limit or a spend (``PureDP(epsilon=0.5)``) it has none
yet; the curator, or ``per(unit)``, attaches it. Guarantees of different units never compare:
convert first.

Source: 000a:A3, 000a:A7, 004a:A5, 004a:A6; 004d:F10.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.parameters import (
    Number,
    count,
    delta_parameter,
    exact,
    finite,
    nonnegative,
    rounded_up,
)
from discreet.core.unit import PrivacyUnit, Replace, TickWindow


@dataclass(frozen=True, kw_only=True)
class Guarantee(ABC):
    """Base of the privacy definitions. ``unit`` is None only for limits not attached to data."""

    unit: PrivacyUnit | None = None

    def per(self, unit: PrivacyUnit) -> Self:
        """The same numbers, promised to ``unit``."""
        if self.unit is not None and self.unit != unit:
            raise _units(self.unit, unit)
        return replace(self, unit=unit)

    @abstractmethod
    def group(self, size: int) -> Guarantee:
        """What ``size`` units together are promised."""

    @abstractmethod
    def implies(self, other: Guarantee) -> bool:
        """Whether this guarantee is at least as strong as ``other``; same unit required."""

    def replaced(self) -> Guarantee:
        """The promise under ``Replace``: replacing one unit is removing one and adding one.

        >>> round(ApproxDP(epsilon=1, delta=1e-6).replaced().delta, 12)
        3.718282e-06
        """
        if isinstance(self.unit, Replace | TickWindow):
            raise _units(self.unit, "an add/remove unit")
        pair = self.group(2)
        return pair if self.unit is None else replace(pair, unit=Replace(self.unit))

    def _check_same_unit(self, other: Guarantee) -> None:
        if self.unit != other.unit:
            raise _units(self.unit, other.unit)


@dataclass(frozen=True, kw_only=True)
class PureDP(Guarantee):
    """Probabilities of any outcome differ by a factor of at most exp(epsilon)."""

    epsilon: Number

    def __post_init__(self) -> None:
        """Refuse a negative or infinite epsilon."""
        object.__setattr__(self, "epsilon", nonnegative("epsilon", self.epsilon))

    def group(self, size: int) -> PureDP:
        """For k units: k epsilon."""
        return replace(self, epsilon=_times(self.epsilon, count("size", size)))

    def implies(self, other: Guarantee) -> bool:
        """Stronger than every pure, approximate or concentrated promise it converts into."""
        self._check_same_unit(other)
        match other:
            case PureDP() | ApproxDP():
                return self.epsilon <= other.epsilon
            case ZCDP():
                return self.zcdp().rho <= other.rho
            case RenyiDP():
                return self.epsilon <= other.epsilon
            case _:
                return False

    def approximate(self) -> ApproxDP:
        """The same promise with delta zero."""
        return ApproxDP(epsilon=self.epsilon, delta=0, unit=self.unit)

    def zcdp(self) -> ZCDP:
        """epsilon**2 / 2, rounded up."""
        return ZCDP(rho=_upward(exact(self.epsilon) ** 2 / 2, "epsilon"), unit=self.unit)


@dataclass(frozen=True, kw_only=True)
class ApproxDP(Guarantee):
    """P(S) <= exp(epsilon) Q(S) + delta for every set S of outcomes and both directions.

    As a budget it is spent by adding up pairs; ``by=ZCDP`` converts it to rho once, when the
    budget is opened, and adds up rho: better for many Gaussian answers, worse for few pure ones.
    ``by=ApproxZCDP`` does the same with half of delta, and sets the other half apart for keys that
    nobody listed.
    """

    epsilon: Number
    delta: Number
    by: type[Guarantee] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse epsilon < 0, delta outside [0, 1), and ways to add up that are not known."""
        if self.by is not None and self.by is not ZCDP and self.by is not ApproxZCDP:
            raise InvalidParameter(
                code="by_unknown",
                expectation="by=ZCDP, by=ApproxZCDP, or nothing",
                received=self.by,
                remedy="Leave `by` out to add up pairs of epsilon and delta.",
            )
        object.__setattr__(self, "epsilon", nonnegative("epsilon", self.epsilon))
        object.__setattr__(self, "delta", delta_parameter("delta", self.delta))

    def group(self, size: int) -> ApproxDP:
        """For k units: (k epsilon, delta (e^{k epsilon} - 1)/(e^epsilon - 1)).

        The tight sum of the hybrid argument, below the printed k e^{(k-1) epsilon} delta
        (000a:A7).
        """
        size = count("size", size)
        if size == 1:
            return self
        delta = _group_delta(float(self.epsilon), rounded_up(exact(self.delta)), size)
        if not delta < 1:
            raise InvalidParameter(
                code="delta_out_of_range",
                expectation="a group small enough that its delta stays below one",
                received=size,
                remedy="A group this large has no guarantee; ask for a smaller one.",
            )
        return replace(self, epsilon=_times(self.epsilon, size), delta=delta)

    def implies(self, other: Guarantee) -> bool:
        """Stronger than every approximate promise with both numbers at least as large."""
        self._check_same_unit(other)
        match other:
            case ApproxDP():
                return self.epsilon <= other.epsilon and self.delta <= other.delta
            case PureDP():
                return self.delta == 0 and self.epsilon <= other.epsilon
            case _:
                return False


@dataclass(frozen=True, kw_only=True)
class ZCDP(Guarantee):
    """Rényi divergence at most rho alpha at every order alpha > 1."""

    rho: Number

    def __post_init__(self) -> None:
        """Refuse a negative or infinite rho."""
        object.__setattr__(self, "rho", nonnegative("rho", self.rho))

    def group(self, size: int) -> ZCDP:
        """For k units: k**2 rho (004a:A5)."""
        return replace(self, rho=_times(self.rho, count("size", size) ** 2))

    def implies(self, other: Guarantee) -> bool:
        """Stronger than every larger rho, and than the Rényi promises on its line."""
        self._check_same_unit(other)
        match other:
            case ZCDP() | ApproxZCDP():
                return self.rho <= other.rho
            case RenyiDP():
                return exact(self.rho) * exact(other.alpha) <= other.epsilon
            case _:
                return False


@dataclass(frozen=True, kw_only=True)
class ApproxZCDP(Guarantee):
    """rho-zCDP but for events of probability ``delta`` on either side.

    Both laws are mixtures, with weight ``delta``, of something arbitrary and of rho-zCDP laws.
    What names keys that nobody listed keeps this and no plain rho.
    """

    rho: Number
    delta: Number

    def __post_init__(self) -> None:
        """Refuse a negative or infinite rho, and delta outside [0, 1)."""
        object.__setattr__(self, "rho", nonnegative("rho", self.rho))
        object.__setattr__(self, "delta", delta_parameter("delta", self.delta))

    def group(self, size: int) -> ApproxZCDP:
        """One unit only: along a chain of units the arbitrary parts do not line up."""
        if count("size", size) == 1:
            return self
        raise InvalidParameter(
            code="no_group_privacy",
            expectation="a privacy definition whose group privacy follows from its numbers",
            received=f"ApproxZCDP, group of {size}",
            remedy="Convert to ApproxDP first, or price the event for the group directly.",
        )

    def implies(self, other: Guarantee) -> bool:
        """Stronger than every such promise with both numbers at least as large."""
        self._check_same_unit(other)
        if isinstance(other, ApproxZCDP):
            return self.rho <= other.rho and self.delta <= other.delta
        return isinstance(other, ZCDP) and self.delta == 0 and self.rho <= other.rho


@dataclass(frozen=True, kw_only=True)
class RenyiDP(Guarantee):
    """Rényi divergence of one fixed order ``alpha`` at most ``epsilon``."""

    alpha: Number
    epsilon: Number

    def __post_init__(self) -> None:
        """Refuse orders of one or less."""
        object.__setattr__(self, "epsilon", nonnegative("epsilon", self.epsilon))
        object.__setattr__(self, "alpha", finite("alpha", self.alpha))
        if self.alpha <= 1:
            raise InvalidParameter(
                code="order_out_of_range",
                expectation="a Rényi order above one",
                received=self.alpha,
                remedy="Choose alpha > 1; integers from 2 to 64 are usual.",
            )

    def group(self, size: int) -> RenyiDP:
        """One unit only: a Rényi promise at a single order says nothing linear about groups."""
        if count("size", size) == 1:
            return self
        raise InvalidParameter(
            code="no_group_privacy",
            expectation="a privacy definition whose group privacy follows from one number",
            received=f"RenyiDP at one order, group of {size}",
            remedy="Use ZCDP, or price the event for the group directly.",
        )

    def implies(self, other: Guarantee) -> bool:
        """Stronger than the same or a lower order with a larger epsilon."""
        self._check_same_unit(other)
        if isinstance(other, RenyiDP):
            return self.alpha >= other.alpha and self.epsilon <= other.epsilon
        return False


@dataclass(frozen=True, kw_only=True)
class GaussianDP(Guarantee):
    """No harder to tell apart than N(0, 1) and N(mu, 1)."""

    mu: Number

    def __post_init__(self) -> None:
        """Refuse a negative or infinite mu."""
        object.__setattr__(self, "mu", nonnegative("mu", self.mu))

    def group(self, size: int) -> GaussianDP:
        """For k units: k mu."""
        return replace(self, mu=_times(self.mu, count("size", size)))

    def implies(self, other: Guarantee) -> bool:
        """Stronger than every larger mu, and than rho = mu**2 / 2."""
        self._check_same_unit(other)
        match other:
            case GaussianDP():
                return self.mu <= other.mu
            case ZCDP():
                return exact(self.mu) ** 2 / 2 <= other.rho
            case _:
                return False


def _times(value: Number, factor: int) -> Number:
    """An exact product; where it is a float, the least one that is not below it."""
    product = exact(value) * factor
    return _upward(product, "size") if isinstance(value, float) else value * factor


def _group_delta(epsilon: float, delta: float, size: int) -> float:
    """The hybrid sum of size terms e^{j epsilon} delta, rounded up; infinite if too large."""
    if delta == 0:
        return delta
    # In logarithms, since the sum may overflow although delta times the sum does not.
    growth = (size - 1) * epsilon
    tail = math.expm1(-size * epsilon) / math.expm1(-epsilon) if epsilon else float(size)
    exponent = math.log(delta) + growth + math.log(tail)
    if exponent >= 0:
        return math.inf
    slack = 2.0**-47 + (growth + abs(math.log(delta))) * 2.0**-49
    return math.exp(exponent) * (1 + slack)


def _upward(value: Fraction, name: str) -> float:
    bound = rounded_up(value)
    if math.isinf(bound):
        raise InvalidParameter(
            code="not_finite",
            expectation="a guarantee that is still finite",
            received=f"{name} too large",
            remedy="There is no guarantee that large; ask for a smaller group or epsilon.",
        )
    return bound


def _units(left: object, right: object) -> Mismatch:
    return Mismatch(
        code="unit_mismatch",
        expectation=f"guarantees for the same unit, here {left!r}",
        received=right,
        remedy="Convert explicitly: `.replaced()` for Replace, `.group(k)` for several units.",
    )
