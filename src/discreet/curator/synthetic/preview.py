"""What a synthetic table will take before it is bought: its cells, its price, the budget's split.

Only declarations and the spend enter. Nothing is read, and nothing is charged; whatever cannot be
made is refused here, by its name and its size.

Source: contract, "Spending" (previews use the plan, bounds and public sizes alone).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.guarantee import Guarantee
from discreet.curator.budget import as_written
from discreet.curator.public_size import people_at_most
from discreet.curator.purchase import charge_of
from discreet.curator.synopsis.make import is_own
from discreet.curator.synthetic.make import SynthesisRequest, mechanism_name, offer_of
from discreet.curator.warnings import about_delta
from discreet.release.guarantee import guarantee_text
from discreet.release.promise import promised
from discreet.synthetic.budget_split import budget_split
from discreet.synthetic.count_noise import CountNoise


@dataclass(frozen=True)
class SynthesisPreview:
    """What a synthetic table would take; ``affordable`` is how many such are left.

    Attributes:
        query: What would be made, in words.
        attributes: How many cells each attribute has, by its name.
        marginals: How many marginals the mechanism is to keep.
        budget_split: The shares of the spend, by what they pay for.
        price: What it would cost.
        affordable: How many of these the account could still pay.
        noise: The cells that are counted, and the noise of each; None where it is not told.
        warnings: What is amiss with the spend.
    """

    query: str
    attributes: Mapping[str, int]
    marginals: int
    budget_split: Mapping[str, float]
    price: Guarantee
    affordable: int
    noise: CountNoise | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A few lines for people."""
        cells = ", ".join(f"{name} {size}" for name, size in self.attributes.items())
        split = ", ".join(f"{name} {share:.0%}" for name, share in self.budget_split.items())
        lines = [
            self.query,
            f"cells: {cells}",
            f"marginals to keep: {self.marginals:,}; spent on: {split}",
            *(() if self.noise is None else (_noise_text(self.noise),)),
            f"price: {guarantee_text(self.price)}; such tables left: {self.affordable}",
        ]
        return "\n".join([*lines, *(f"warning: {each}" for each in self.warnings)])

    __repr__ = __str__


def _noise_text(noise: CountNoise) -> str:
    """How much noise there is, and what it is too much for."""
    return (
        f"noise of each count: about {noise.deviation:,.3g}; with fewer than about "
        f"{noise.rows_needed:,} rows it drowns {noise.finest} ({noise.cells[noise.finest]:,} cells)"
    )


def preview_synthesis(request: SynthesisRequest, spend: Guarantee) -> SynthesisPreview:
    """Everything that is known before spending."""
    context = request.context
    context.budget.check(spend)
    spend = as_written(spend)
    context.policies.require_askable(request.source.query, spend)
    if is_own(request.make):
        context.require_own_allowed()
    mechanism = request.mechanism(spend)
    charge = charge_of(context, spend, offer_of(request, mechanism))
    pairs = zip(context.account.remaining(), charge, strict=True)
    universe = request.encoding.universe
    return SynthesisPreview(
        query=request.words(mechanism_name(mechanism)),
        attributes=dict(zip(universe.names, universe.shape, strict=True)),
        marginals=len(request.workload.products),
        budget_split=budget_split(mechanism),
        price=context.budget.spent(charge),
        affordable=min((have // price for have, price in pairs if price), default=0),
        noise=CountNoise.of(mechanism, request.encoding),
        warnings=tuple(
            about_delta(
                promised(spend, mechanism.event), people_at_most(context, request.source.query)
            )
        ),
    )
