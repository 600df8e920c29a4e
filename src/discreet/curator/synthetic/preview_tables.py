"""What several synthetic tables will take before they are bought: cells, price, shares, noise.

Only declarations and the spend enter. Nothing is read, and nothing is charged; whatever cannot be
made is refused here, by its name and its size.

Source: contract, "Spending" (previews use the plan, bounds and public sizes alone).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.guarantee import Guarantee
from discreet.curator.budget import as_written
from discreet.curator.public_size import people_at_most
from discreet.curator.purchase import charge_of
from discreet.curator.synopsis.make import is_own
from discreet.curator.synthetic.make_tables import TablesRequest, tables_offer
from discreet.curator.synthetic.tables_questions import OwnedTable
from discreet.curator.warnings import about_delta
from discreet.mechanisms.for_spend import deviation
from discreet.release.guarantee import guarantee_text
from discreet.release.promise import promised
from discreet.synthetic.budget_split import budget_split


@dataclass(frozen=True)
class OneTablePreview:
    """One of several tables.

    Attributes:
        name: That of the table.
        attributes: How many cells each attribute has, by its name; for people also how many
            numbers of rows there may be in each child table.
        limit: How many rows of a person count.
        budget_split: The shares of the whole spend, by what they pay for.
        noise: The deviation of the noise of every count that is measured, in rows; None where the
            mechanism decides it as it goes along.
    """

    name: str
    attributes: Mapping[str, int]
    limit: int
    budget_split: Mapping[str, float]
    noise: float | None

    @property
    def share(self) -> float:
        """Of the whole spend."""
        return sum(self.budget_split.values())

    def __str__(self) -> str:
        """Two lines for people."""
        cells = ", ".join(f"{name} {size}" for name, size in self.attributes.items())
        split = ", ".join(f"{name} {share:.0%}" for name, share in self.budget_split.items())
        noise = "" if self.noise is None else f"; noise of each count: about {self.noise:,.1f}"
        return (
            f"{self.name}, {self.limit} of each person: {cells}\n"
            f"  {self.share:.0%} of the spend ({split}){noise}"
        )


@dataclass(frozen=True)
class TablesPreview:
    """What several tables would take; ``affordable`` is how many such are left.

    Attributes:
        query: What would be made, in words.
        tables: Each of them, people first.
        price: What all of them would cost together.
        affordable: How many of these the account could still pay.
        warnings: What is amiss with the spend.
    """

    query: str
    tables: tuple[OneTablePreview, ...]
    price: Guarantee
    affordable: int
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A few lines for people."""
        price = f"price: {guarantee_text(self.price)}; such tables left: {self.affordable}"
        lines = [self.query, *map(str, self.tables), price]
        return "\n".join([*lines, *(f"warning: {each}" for each in self.warnings)])

    __repr__ = __str__


def preview_tables(request: TablesRequest, spend: Guarantee) -> TablesPreview:
    """Everything that is known before spending."""
    context = request.context
    context.budget.check(spend)
    spend = as_written(spend)
    for source in request.sources:
        context.policies.require_askable(source.query, spend)
    if is_own(request.make):
        context.require_own_allowed()
    mechanisms = request.mechanisms(spend)
    offer = tables_offer(request, mechanisms)
    charge = charge_of(context, spend, offer)
    pairs = zip(context.account.remaining(), charge, strict=True)
    return TablesPreview(
        query=request.words,
        tables=tuple(
            _one(request, table, mechanism)
            for table, mechanism in zip(request.tables, mechanisms, strict=True)
        ),
        price=context.budget.spent(charge),
        affordable=min((have // price for have, price in pairs if price), default=0),
        warnings=tuple(
            about_delta(promised(spend, offer.event), people_at_most(context, request.people.query))
        ),
    )


def _one(request: TablesRequest, table: OwnedTable, mechanism: Any) -> OneTablePreview:
    attributes = {each.name: each.size for each in table.encoding.attributes}
    attributes |= {name: n + gap for name, (n, gap) in table.encoding.binned_privately.items()}
    if table is request.parent:
        attributes |= {f"rows in {each.name}": each.limit + 1 for each in request.children}
    part = 1 / len(request.tables)
    noise = getattr(_measuring(mechanism), "noise", None)
    return OneTablePreview(
        name=table.name,
        attributes=attributes,
        limit=table.limit,
        budget_split={name: part * share for name, share in budget_split(mechanism).items()},
        noise=None if noise is None or callable(noise) else deviation(noise),
    )


def _measuring(mechanism: Any) -> Any:
    """What comes after private bins."""
    while hasattr(mechanism, "inner"):
        mechanism = mechanism.inner
    return mechanism
