"""What a fit will take before it is bought: its noise as far as that is known, its price.

Only declarations, the estimator and the spend enter. Nothing is read, and nothing is charged;
whatever cannot be fitted is refused here.

Source: contract, "Spending" (previews use the plan, bounds and public sizes alone).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import as_written
from discreet.curator.fit import FitRequest
from discreet.curator.public_size import people_at_most
from discreet.curator.purchase import charge_of
from discreet.curator.warnings import about_delta
from discreet.relational.execute.table_rows import TableRows
from discreet.release.guarantee import guarantee_text
from discreet.release.promise import promised

_SMALL = 100
_SHOWN = 10


@dataclass(frozen=True)
class NoisySums:
    """Sums that are released together, with noise of one size.

    Attributes:
        sums: How many, those of all classes together.
        noise: The deviation of the noise of each, in units of the most that one row adds.
    """

    sums: int
    noise: float


@dataclass(frozen=True)
class FitPreview:
    """What a fit would take; ``affordable`` is how many such are left.

    Attributes:
        query: What would be fitted, in words.
        features: The bounds of each feature.
        groups: The sums that would be released, in groups that share the spend; none where the
            model looks at rows several times.
        event: What would happen to the data, as any accountant can price it.
        price: What it would cost.
        affordable: How many of these the account could still pay.
        warnings: What is amiss with the spend.
        known_ahead: Noise of a model that looks several times, and what follows from it, as far as
            public numbers tell; in units of the bounds.
        target_bounds: The bounds of the target, where it is a number.
        classes: What is told apart, where the target is a label.
    """

    query: str
    features: Mapping[str, tuple[float, float]]
    groups: tuple[NoisySums, ...]
    event: Event
    price: Guarantee
    affordable: int
    warnings: tuple[str, ...] = ()
    known_ahead: Mapping[str, float] = field(default_factory=dict)
    target_bounds: tuple[float, float] | None = None
    classes: tuple[Any, ...] = ()

    @property
    def sums(self) -> int:
        """How many sums would be released."""
        return sum(group.sums for group in self.groups)

    @property
    def noise(self) -> float:
        """The deviation of the noisiest sum, in units of the most that one row adds; 0 of none."""
        return max((group.noise for group in self.groups), default=0.0)

    def noise_of_means(self, rows: int) -> float:
        """The deviation of a noisy mean over so many rows, as a share of half its bounds' width."""
        return self.noise / max(rows, 1)

    @property
    def rows_wanted(self) -> int:
        """Rows, of each class, from which on the noise of means is at most a hundredth."""
        return math.ceil(_SMALL * self.noise)

    def __str__(self) -> str:
        """A few lines for people."""
        bounds = ", ".join(f"{n} {low:g} to {high:g}" for n, (low, high) in self.features.items())
        lines = [
            self.query,
            f"within bounds: {bounds}",
            *self._target_lines(),
            *self._noise_lines(),
            f"price: {guarantee_text(self.price)}; such fits left: {self.affordable}",
        ]
        return "\n".join([*lines, *(f"warning: {each}" for each in self.warnings)])

    __repr__ = __str__

    def _target_lines(self) -> list[str]:
        if self.target_bounds is not None:
            return ["target within {:g} to {:g}".format(*self.target_bounds)]
        few = [*map(str, self.classes[:_SHOWN])] + ["…"] * (len(self.classes) > _SHOWN)
        return [f"{len(self.classes)} classes: {', '.join(few)}"] if few else []

    def _noise_lines(self) -> list[str]:
        if not self.groups:
            known = ", ".join(f"{what} {size:.4g}" for what, size in self.known_ahead.items())
            rows = "bounded rows are read into memory, and looked at several times"
            return [rows, *([f"known before, in units of the bounds: {known}"] if known else [])]
        sums = " and ".join(f"{each.sums:,} with noise of {each.noise:.4g}" for each in self.groups)
        return [
            f"sums: {sums} times what one row may add",
            f"means within a hundredth of half their bounds from {self.rows_wanted:,} rows on",
        ]


def preview_fit(request: FitRequest[Any], spend: Guarantee) -> FitPreview:
    """Everything that is known before spending."""
    context, columns = request.context, request.columns
    context.budget.check(spend)
    spend = as_written(spend)
    context.policies.require_askable(request.query, spend)
    if request.own:
        context.require_own_allowed()
    offer = request.offer(spend)
    charge = charge_of(context, spend, offer)
    pairs = zip(context.account.remaining(), charge, strict=True)
    groups, ahead = _noise(request, spend)
    return FitPreview(
        query=request.words,
        features=dict(zip(columns.features, zip(*columns.bounds, strict=True), strict=True)),
        groups=groups,
        event=offer.event,
        price=context.budget.spent(charge),
        affordable=min((have // price for have, price in pairs if price), default=0),
        warnings=tuple(
            about_delta(promised(spend, offer.event), people_at_most(context, request.query))
        ),
        known_ahead=ahead,
        target_bounds=columns.target_bounds,
        classes=columns.classes or (),
    )


def _noise(
    request: FitRequest[Any], spend: Guarantee
) -> tuple[tuple[NoisySums, ...], Mapping[str, float]]:
    """Groups of sums, or what else is known before."""
    privacy = request.privacy(spend)
    if isinstance(request.source, TableRows):
        return (), request.estimator.known_ahead(privacy, request.columns)
    noise = request.estimator.sums_noise(privacy, len(request.columns.features))
    groups = enumerate(noise.groups)
    return tuple(
        NoisySums(len(request.blocks) * group.size, noise.deviation(place))
        for place, group in groups
    ), {}
