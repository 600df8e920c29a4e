"""A synopsis as the curator hands it out: answers, tables and pictures, all at no charge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import probability
from discreet.queries.synopses.synopsis import Synopsis, noise_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product, Workload
from discreet.release.column import Ends, ReleasedColumn
from discreet.release.format import percent
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.release.release import Release
from discreet.release.statement.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

_CONFIDENCE = 0.95
_MOST_ROWS = 1_000_000
_ROUNDED, _NO_NOISE = 1e-10, 1e-6
UNKNOWN = "no interval: how wrong they are depends on the data, or was not kept with them"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SynopsisRelease:
    """Estimated counts over a universe, released once.

    Contract: everything in it is public or was paid for; whatever is computed from it is free.

    Attributes:
        id: Random; it names this release.
        question: What was made, in words.
        synopsis: What the mechanism left behind.
        guarantee: What was promised, and charged, with its unit.
        event: What the mechanism did; any accountant can price it again.
        rmse: The expected root mean squared error of a query of the workload it was made for,
            where the mechanism could predict it.
        facts: Those of the privacy statement.
    """

    id: str
    query: str
    synopsis: Synopsis
    guarantee: Guarantee
    event: Event
    rmse: float | None
    facts: Mapping[str, Any]

    @property
    def universe(self) -> Universe:
        """What it knows about."""
        return self.synopsis.universe

    @property
    def unprocessed(self) -> SynopsisRelease | None:
        """The same release before its counts were made not to be negative; None where none were.

        It is without bias, and has intervals where its noise is known. It was paid for with this
        one. What ``answers`` of the two differ by is, on average over the noise, the bias.
        """
        before = getattr(self.synopsis, "unprocessed", None)
        return None if before is None else replace(self, synopsis=before)

    @property
    def counts(self) -> NDArray[np.float64]:
        """The estimated count of every cell, flat; for a universe that fits in memory."""
        self.universe.require_explicit(method="a count for each cell")
        return self.answers(Workload.marginal(self.universe, self.universe.names))

    def answers(self, workload: Workload) -> NDArray[np.float64]:
        """All answers of a workload over the same universe, in its order."""
        self._require(workload)
        return self.synopsis.answers(workload)

    def deviations(self, workload: Workload) -> NDArray[np.float64] | None:
        """The standard deviation of each answer's noise, where the synopsis knows it.

        Infinite for queries that what was measured does not determine.
        """
        self._require(workload)
        known = getattr(self.synopsis, "deviations", None)
        if known is not None:
            return np.asarray(known(workload), dtype=np.float64)
        noise = noise_of(self.synopsis)
        return None if noise is None else noise.deviations(workload)

    def intervals(
        self, workload: Workload, *, confidence: float = _CONFIDENCE
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Lower and upper ends for each answer to a workload, of noise alone; free.

        Guarantee: each interval holds the true answer with probability at least ``confidence``.
        Infinite where what was measured does not determine a query; None for a synopsis whose
        error depends on data.
        """
        level = float(probability("confidence", confidence))
        answers, noise = self.answers(workload), noise_of(self.synopsis)
        if noise is None:
            return None
        widths = noise.half_widths(workload, confidence=level)
        # What is public has no noise, but sums of doubles are rounded, of the largest here too.
        rounded = _ROUNDED * max(1.0, float(np.abs(answers).max(initial=0.0)))
        widths = np.where(widths < _NO_NOISE, rounded, widths)
        # As of counts in SQL: what cannot be negative has no end below zero.
        parts = [np.full(p.queries, 0.0 if _counts(p) else -np.inf) for p in workload.products]
        least = np.concatenate(parts)
        return np.maximum(answers - widths, least), np.maximum(answers, least) + widths

    def table(self, *names: str, confidence: float = _CONFIDENCE) -> Release:
        """The estimated counts by some attributes: a release that exports, plots and prints.

        There is a column ``n``, with its intervals where its error does not depend on data;
        marginals have a column ``n_sd`` as well, the standard deviation of its noise.
        """
        level = float(probability("confidence", confidence))
        universe = self.universe
        workload = Workload.marginal(universe, names)
        if workload.queries > _MOST_ROWS:
            raise InvalidParameter(
                code="too_many_keys",
                expectation=f"at most {_MOST_ROWS} combinations of keys in a table",
                received=workload.queries,
                remedy="Name fewer attributes, or ask `answers`.",
            )
        in_order = sorted(dict.fromkeys(names), key=universe.place)
        cells = product(*(universe.attributes[universe.place(name)].values for name in in_order))
        columns = dict(zip(in_order, zip(*cells, strict=True), strict=True)) if names else {}
        wanted: dict[str, Any] = {name: columns[name] for name in dict.fromkeys(names)}
        return Release(
            id=self.id,
            query=f"counts by {', '.join(names)}" if names else "the number of records",
            keys=wanted,
            answers=self._columns(workload, wanted, level),
            confidence=level,
            guarantee=self.guarantee,
            event=self.event,
            statement=self.facts,
        )

    def plot(self, *names: str) -> alt.TopLevelMixin:
        """Bars of the counts by one attribute, or a heat map by two."""
        from discreet.curator.synopsis.plot import plot

        return plot(self.table(*names))

    @cached_property
    def statement(self) -> Statement:
        """The privacy statement: prints in full, and is a mapping of its facts."""
        return Statement(
            self.facts,
            query=self.query,
            guarantee=self.guarantee,
            event=self.event,
            confidence=_CONFIDENCE,
        )

    def _columns(
        self, workload: Workload, taken: Mapping[str, object], confidence: float
    ) -> tuple[ReleasedColumn, ...]:
        name = "n"
        while taken.keys() & {name, *(f"{name}_{end}" for end in ("sd", "lower", "upper"))}:
            name += "_"
        ends = self.intervals(workload, confidence=confidence)
        spread = self.deviations(workload) if hasattr(self.synopsis, "deviations") else None
        told = predicted(self.rmse) if spread is None else f"{name}_sd says how noisy each one is"
        said = (
            f"{told}; {UNKNOWN}" if ends is None else f"{percent(confidence)} intervals cover noise"
        )
        biased = getattr(self.synopsis, "biased", None)
        bias = "" if biased is None else f"; {biased}"
        values = ReleasedColumn.from_given_values(
            name,
            self.answers(workload).tolist(),
            interval=None if ends is None else Ends(ends[0].tolist(), ends[1].tolist()),
            note=f"estimated counts from one synopsis; {said}{bias}",
        )
        if spread is None:
            return (values,)
        note = f"standard deviation of the noise of {name}"
        known = [each if math.isfinite(each) else None for each in spread.tolist()]
        return values, ReleasedColumn.from_given_values(
            f"{name}_sd", known, interval=None, note=note
        )

    def _require(self, workload: Workload) -> None:
        if not isinstance(workload, Workload) or workload.universe != self.universe:
            raise InvalidParameter(
                code="workloads_differ",
                expectation="a workload over the universe of the synopsis",
                received=type(workload).__name__,
                remedy="Build it from `release.universe`.",
            )

    def __repr__(self) -> str:
        """What it is, what it cost, and how wrong it may be."""
        unit = protection_text(self.guarantee.unit)
        return f"{self.query}\n{guarantee_text(self.guarantee)} for {unit}; {predicted(self.rmse)}"


def _counts(product: Product) -> bool:
    """Whether all weights are known not to be negative, so that no answer can be."""
    return all(family.whole or bool((family.dense() >= 0).all()) for family in product.families)


def predicted(rmse: float | None) -> str:
    """How wrong a query may be, in words."""
    if rmse is None:
        return "its error is not predicted here: it depends on the data, or stands in its plan"
    # Not of any one count: where cells are many and small, sums of them are far noisier than this.
    return f"expected error ± {rmse:.4g} (of noise, root mean square over all its queries)"
