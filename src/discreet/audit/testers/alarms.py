"""How often a suite of randomised tests may fail although nothing is wrong.

Source: Bonferroni's inequality.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, probability


@dataclass
class FalseAlarms:
    """A suite-wide rate of false alarms, handed out to named tests in equal shares.

    Contract: ``tests`` is the greatest number of differently named tests that may ask; one
    name asked again gets the same share, since it is the same test.
    Guarantee: if each test fails wrongly with at most the probability it was handed, the
    suite fails wrongly with at most ``total``.

    >>> alarms = FalseAlarms(total=1e-6, tests=100)
    >>> alarms.alpha("laplace, scale 2")
    1e-08
    >>> alarms.spent <= alarms.total
    True
    """

    total: float
    tests: int
    _names: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the rate and the number of tests."""
        probability("total", self.total)
        object.__setattr__(self, "tests", count("tests", self.tests))

    @property
    def share(self) -> float:
        """The rate that each test receives."""
        return self.total / self.tests

    @property
    def spent(self) -> float:
        """The rate handed out so far, by Bonferroni's inequality."""
        return self.share * len(self._names)

    def alpha(self, name: str) -> float:
        """The share of the test called ``name``; refused once all shares are given."""
        if name not in self._names and len(self._names) == self.tests:
            raise InvalidParameter(
                code="false_alarms_exhausted",
                expectation=f"at most {self.tests} randomised tests",
                received=name,
                remedy="Raise `tests`, which lowers every share and keeps the stated total.",
            )
        self._names.add(name)
        return self.share
