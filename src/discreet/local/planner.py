"""Which oracle to use: from the size of the domain, epsilon and the size of a message alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, positive
from discreet.local.direct import DirectEncoding
from discreet.local.domain import Choices
from discreet.local.hadamard import HadamardResponse, best_bits
from discreet.local.hashing import BinaryLocalHashing, OptimalLocalHashing
from discreet.local.oracle import SupportOracle
from discreet.local.subset import SubsetSelection
from discreet.local.unary import OptimizedUnary, SymmetricUnary

_LONGEST = 1 << 16
_LARGEST_DOMAIN = 1 << 20


@dataclass(frozen=True)
class OraclePlan:
    """An oracle with what it costs in bits and what it gives in accuracy."""

    oracle: SupportOracle
    message_bits: int
    variance: float

    def error(self, *, people: int) -> float:
        """Standard error of a rare value's share."""
        return math.sqrt(self.variance / count("people", people))

    def people_for(self, error: float) -> int:
        """How many people make that at most ``error``; half of it needs four times as many."""
        return math.ceil(self.variance / float(positive("error", error)) ** 2)


def plans(
    *, epsilon: Number, domain: int | Sequence[str] | Choices, message_bits: int | None = None
) -> list[OraclePlan]:
    """Every oracle that fits, the most accurate first; of equals the shorter message.

    >>> type(plans(epsilon=1, domain=4)[0].oracle).__name__
    'DirectEncoding'
    """
    choices = Choices.of(domain)
    made: list[SupportOracle] = [
        DirectEncoding(epsilon=epsilon, domain=choices),
        BinaryLocalHashing(epsilon=epsilon, domain=choices),
        OptimalLocalHashing(epsilon=epsilon, domain=choices),
    ]
    if choices.size <= _LARGEST_DOMAIN:
        made.extend(
            HadamardResponse(epsilon=epsilon, domain=choices, bits=bits)
            for bits in sorted({1, best_bits(epsilon)})
        )
    if choices.size <= _LONGEST:
        made.append(OptimizedUnary(epsilon=epsilon, domain=choices))
        made.append(SymmetricUnary(epsilon=epsilon, domain=choices))
        made.append(SubsetSelection(epsilon=epsilon, domain=choices))
    found = [OraclePlan(each, each.message_bits, each.variance) for each in made]
    if message_bits is not None:
        most = count("message_bits", message_bits)
        found = [plan for plan in found if plan.message_bits <= most]
    if not found:
        raise InvalidParameter(
            code="local_message_too_short",
            expectation="room for the shortest message, or more",
            received=message_bits,
            remedy=f"Allow {min(each.message_bits for each in made)} bits.",
        )
    return sorted(found, key=lambda plan: (round(math.log(plan.variance), 3), plan.message_bits))


def best_oracle(
    *, epsilon: Number, domain: int | Sequence[str] | Choices, message_bits: int | None = None
) -> SupportOracle:
    """The most accurate oracle whose reports have at most ``message_bits`` bits.

    >>> type(best_oracle(epsilon=1, domain=1024, message_bits=64)).__name__
    'OptimalLocalHashing'
    """
    return plans(epsilon=epsilon, domain=domain, message_bits=message_bits)[0].oracle
