"""Parts that requests of several kinds share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from discreet.core.guarantee import Guarantee
from discreet.curator.accuracy import Within
from discreet.curator.paid_before import PaidBefore, PayAgain, Reuse
from discreet.relational.plan.left_out import LeftOut
from discreet.server.jobs.kind import JobRequest, Paid
from discreet.server.spends import spend_of

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Whole = Annotated[int, Field(strict=True)]
Sql = Annotated[str, Field(max_length=100_000)]


class PricedRequest(Paid):
    """A request that states its price."""

    epsilon: Finite | None = None
    delta: Finite | None = None
    rho: Finite | None = None

    def spend(self) -> Guarantee | None:
        """The price; None where the numbers are left out."""
        return spend_of(epsilon=self.epsilon, delta=self.delta, rho=self.rho)


class WantedAccuracy(JobRequest):
    """An error of at most ``within`` in each cell."""

    within: Finite | str
    confidence: Finite = 0.95
    rows_at_least: Whole | None = None

    def build_accuracy(self) -> Within:
        """As the curator takes it."""
        return Within(self.within, self.confidence, self.rows_at_least)


class PriceLimit(JobRequest):
    """The most that an accuracy may cost."""

    epsilon: Finite | None = None
    delta: Finite | None = None
    rho: Finite | None = None

    def build_guarantee(self) -> Guarantee | None:
        """As the curator takes it."""
        return spend_of(epsilon=self.epsilon, delta=self.delta, rho=self.rho)


class WantedReport(JobRequest):
    """Also what the limits left out, for a share of the price."""

    share: Finite
    rows_at_most: Whole | None = None
    groups_at_most: Whole | None = None

    def build_left_out(self) -> LeftOut:
        """As the curator takes it."""
        return LeftOut(
            share=self.share, rows_at_most=self.rows_at_most, groups_at_most=self.groups_at_most
        )


Before = Literal["reuse", "pay_again"]
"""What to do where it was paid for on another snapshot of the data."""


def paid_before(word: Before | None) -> PaidBefore | None:
    """As the curator takes it."""
    if word is None:
        return None
    return Reuse() if word == "reuse" else PayAgain()
