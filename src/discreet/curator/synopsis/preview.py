"""What a synopsis will look like before it is bought: its errors, its price, what is left.

Only the workload, the declared tables and the spend enter; under ``Replace`` also the number of
rows, which is public there and is counted. Nothing else is read, and nothing is charged.

Source: contract, "Spending" (previews use the plan, bounds and public sizes alone).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import as_written
from discreet.curator.context import Context
from discreet.curator.public_size import people_at_most
from discreet.curator.purchase import charge_of
from discreet.curator.synopsis.make import (
    is_own,
    mechanism_for,
    offer_of,
    words,
    workload_counts,
)
from discreet.curator.synopsis.mechanism import SynopsisMaker, expected_error
from discreet.curator.synopsis.release import predicted
from discreet.curator.tags import name_of
from discreet.curator.warnings import about_delta
from discreet.queries.workload.workload import Workload
from discreet.release.guarantee import guarantee_text
from discreet.release.promise import promised


@dataclass(frozen=True)
class PredictedMarginal:
    """The noise of the queries about some attributes.

    Attributes:
        attributes: Their names; none for the number of records.
        queries: How many queries there are.
        sd: The root mean square of their standard deviations, in records.
        worst: The largest of them.
    """

    attributes: tuple[str, ...]
    queries: int
    sd: float
    worst: float

    def __str__(self) -> str:
        about = ", ".join(self.attributes) or "all records"
        return f"± {self.sd:.4g} a query by {about}"


@dataclass(frozen=True)
class SynopsisPreview:
    """Expected errors of a synopsis, and its price; ``affordable`` is how many such are left.

    Attributes:
        question: What would be made, in words.
        queries: How many queries the workload has.
        rmse: The expected root mean squared error of a query; None where it depends on the data.
        marginals: The noise of each part of the workload; empty where it cannot be predicted.
        price: What it would cost.
        affordable: How many of these the account could still pay.
        warnings: What is amiss with the spend.
    """

    query: str
    queries: int
    rmse: float | None
    marginals: tuple[PredictedMarginal, ...]
    price: Guarantee
    affordable: int
    warnings: tuple[str, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean of the marginals' standard deviations; each marginal counts once."""
        return float(np.mean([each.sd for each in self.marginals])) if self.marginals else None

    @property
    def worst(self) -> PredictedMarginal | None:
        """The marginal with the largest standard deviation."""
        return max(self.marginals, key=lambda each: each.sd, default=None)

    def __str__(self) -> str:
        """A few lines for people."""
        lines = [f"{self.query}; {self.queries:,} queries", predicted(self.rmse)]
        if self.worst is not None:
            lines.append(f"  mean over {len(self.marginals)} marginals: ± {self.mean:.4g} (sd)")
            lines.append(f"  worst marginal: {self.worst} (sd)")
        lines.append(f"price: {guarantee_text(self.price)}; such synopses left: {self.affordable}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    __repr__ = __str__


def preview_synopsis(
    context: Context,
    workload: object,
    make: Callable[..., Any] | None,
    spend: Guarantee | None,
    *,
    accuracy: object,
) -> SynopsisPreview:
    """Everything that is known before spending."""
    if accuracy is not None or spend is None:
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="spend= for a synopsis; there is no default price, and no accuracy=",
            remedy="Write preview(workload, mechanism=..., spend=dp.PureDP(epsilon=0.5)).",
        )
    context.budget.check(spend)
    spend = as_written(spend)
    source = workload_counts(context, workload)
    assert isinstance(workload, Workload)  # else there is nothing to count
    context.policies.require_askable(source.query, spend)
    if is_own(make):
        context.require_own_allowed()
    mechanism = mechanism_for(context, make, workload, source=source, spend=spend)
    charge = charge_of(context, spend, offer_of(mechanism, source))
    left = context.account.remaining()
    pairs = zip(left, charge, strict=True)
    return SynopsisPreview(
        query=words(name_of(mechanism), source),
        queries=workload.queries,
        rmse=expected_error(mechanism),
        marginals=_marginals(mechanism, workload),
        price=context.budget.spent(charge),
        affordable=min((have // price for have, price in pairs if price), default=0),
        warnings=tuple(
            about_delta(promised(spend, mechanism.event), people_at_most(context, source.query))
        ),
    )


def _marginals(mechanism: SynopsisMaker, workload: Workload) -> tuple[PredictedMarginal, ...]:
    """The noise of each product of the workload, where the mechanism predicts it."""
    known = getattr(mechanism, "deviations", None)
    if known is None:
        return ()
    try:
        spread = np.asarray(known(workload), dtype=np.float64)
    except DiscreetError:
        return ()
    found, start, names = [], 0, workload.universe.names
    for product in workload.products:
        part = spread[start : (start := start + product.queries)]
        about = tuple(names[place] for place in product.kept_places)
        sd = float(np.sqrt(np.mean(part**2)))
        found.append(PredictedMarginal(about, product.queries, sd, float(part.max())))
    return tuple(found)
