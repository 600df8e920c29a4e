"""How a conversation shares its spend among its rounds: by which definitions, at which prices.

A conversation is made again from its spend when it is resumed, and must come out as it was paid
for. So the rule is written down with it, and former ones stay; one that was written down without a
rule goes by the first.

Source: contract, "Spending" (noise that outlives a call).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from discreet.accounting.zcdp import QUADRATIC, ZERO_CONCENTRATED, ZeroConcentrated
from discreet.core.errors import InvalidData
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.mechanisms.for_spend import additive_readings, additive_spend


class SharingRule(ABC):
    """The definitions in which rounds may share a spend, and what rho an event costs."""

    version: ClassVar[int]
    """As it is written down."""
    prices: ClassVar[ZeroConcentrated]

    @abstractmethod
    def readings(self, spend: Guarantee) -> tuple[PureDP | ZCDP, ...]:
        """The definitions among which the most exact one is taken."""


@dataclass(frozen=True)
class QuadraticSharing(SharingRule):
    """The first: (epsilon, delta) is shared as rho, at the prices of old."""

    version = 1
    prices = QUADRATIC

    def readings(self, spend: Guarantee) -> tuple[PureDP | ZCDP, ...]:
        return (additive_spend(spend),)


@dataclass(frozen=True)
class TightSharing(SharingRule):
    """(epsilon, delta) is shared as epsilons or as rho, as leaves more, at tight prices."""

    version = 2
    prices = ZERO_CONCENTRATED

    def readings(self, spend: Guarantee) -> tuple[PureDP | ZCDP, ...]:
        return additive_readings(spend)


CURRENT = TightSharing()
_RULES = {rule.version: rule for rule in (QuadraticSharing(), CURRENT)}


def sharing_rule(version: object) -> SharingRule:
    """The rule of a version."""
    if version not in _RULES:
        raise InvalidData(
            code="journal_misread",
            expectation="a conversation whose rule this version knows",
            received=version,
            remedy="Resume it with the version of the software that opened it.",
        )
    assert isinstance(version, int)
    return _RULES[version]
