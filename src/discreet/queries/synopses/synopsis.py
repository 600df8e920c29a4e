"""What a mechanism leaves behind: a stand-in for the data that answers at no further charge.

Source: 000a:A9; 004d:D21.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.queries.answer_noise.answer_noise import (
    AnswerNoise,
    noise_from_dict,
    noise_to_dict,
)
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


class Synopsis(Protocol):
    """Answers workloads over its universe; deterministic, and free.

    One whose error does not depend on data has a ``noise`` as well, an
    :class:`~discreet.queries.answer_noise.answer_noise.AnswerNoise`. One whose counts are wrong on
    average says how in ``biased``, in words, and where the unprocessed ones are.

    Assumptions: it was made from released values only.

    Guarantee: answers are post-processing: deterministic, and free.

    Source: 000a:A9.
    """

    @property
    def universe(self) -> Universe:
        """What it knows about."""

    @property
    def event(self) -> Event:
        """What making it cost."""

    def answers(self, workload: Workload) -> Floats:
        """All answers of a workload, in its order."""

    def to_dict(self) -> Mapping[str, object]:
        """Everything but universe and event, for JSON; :func:`synopsis_from_dict` reads it."""


@dataclass(frozen=True, eq=False)
class HistogramSynopsis:
    """Estimated counts of all cells of an explicit universe."""

    universe: Universe
    counts: Floats
    event: Event
    noise: AnswerNoise | None = None
    unprocessed: Synopsis | None = None

    @property
    def biased(self) -> str | None:
        """In which way its counts are wrong on average, in words; None where they are not known."""
        return bias_told(self.unprocessed)

    def answers(self, workload: Workload) -> Floats:
        """Sums of estimated counts."""
        return workload.answers(self.counts)

    def to_dict(self) -> Mapping[str, object]:
        counts = packed(np.ravel(self.counts))
        return {
            "synopsis": "histogram",
            "counts": counts,
            **noise_to_dict(self.noise),
            **unprocessed_to_dict(self.unprocessed),
        }


def bias_told(unprocessed: Synopsis | None) -> str | None:
    """What is said of counts that were cut off at zero, where those before that are kept."""
    if unprocessed is None:
        return None
    return (
        "counts are made not to be negative, so small ones are too high on average; those before "
        "that, without bias, are in `unprocessed`: on average the difference is the bias"
    )


def unprocessed_to_dict(unprocessed: Synopsis | None) -> dict[str, object]:
    """What a synopsis writes of the one that it was made from; nothing, where there is none."""
    return {} if unprocessed is None else {"unprocessed": dict(unprocessed.to_dict())}


def unprocessed_from_dict(
    plain: Mapping[str, object], universe: Universe, event: Event
) -> Synopsis | None:
    """The synopsis that ``plain`` was made from, if another was."""
    kept = plain.get("unprocessed")
    if kept is None:
        return None
    if not isinstance(kept, Mapping) or "unprocessed" in kept:
        raise not_plain()
    return synopsis_from_dict(kept, universe, event)


def noise_of(synopsis: Synopsis) -> AnswerNoise | None:
    """What is known of the noise in a synopsis's answers; nothing where it depends on data."""
    found = getattr(synopsis, "noise", None)
    return found if isinstance(found, AnswerNoise) else None


def synopsis_from_dict(plain: Mapping[str, object], universe: Universe, event: Event) -> Synopsis:
    """The synopsis that ``plain`` described: the same answers, bit for bit.

    Contract: ``universe`` is the one it was made for, and ``event`` what making it cost; both are
    kept by whoever keeps the synopsis.
    """
    kind = plain.get("synopsis")
    if kind == "histogram":
        counts = unpacked(plain.get("counts"))
        if counts.shape != (universe.size,):
            raise not_plain()
        before = unprocessed_from_dict(plain, universe, event)
        return HistogramSynopsis(universe, counts, event, noise_from_dict(plain, universe), before)
    if kind in _KINDS:
        place = f"queries.{_KINDS[kind]}"
    elif kind in _SYNTHETIC:
        place = f"synthetic.{_SYNTHETIC[kind]}"
    else:
        raise not_plain()
    found: Synopsis = resolve_name(f"discreet.{place}").from_dict(plain, universe, event)
    return found


_KINDS: dict[object, str] = {
    "answers": "independent.ReleasedAnswers",
    "boxes": "trees.box_counts.BoxCounts",
    "constructed/1": "online.iterative_construction.Constructed",
    "grid": "trees.grid_counts.GridCounts",
    "marginals": "synopses.marginal_synopsis.MarginalSynopsis",
    "medians": "boosting.boosting.MedianSynopsis",
    "partial tables": "synopses.partial_tables.PartialTables",
    "won": "planning.contest.Won",
}
"""Where the other kinds live: by name, since their modules import this one."""

_SYNTHETIC: dict[object, str] = {
    "bayesian network/1": "bayesian_network.BayesianNetwork",
    "cells/1": "hierarchy.cell_table.CellTable",
    "conditional network/1": "conditional_network.ConditionalNetwork",
}
"""Those of synthetic data, which is a package of its own."""
