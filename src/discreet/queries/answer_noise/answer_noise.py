"""The noise of a synopsis: deviations and half-widths of its answers, before and after it is kept.

Only synopses whose error does not depend on data have one. It is public, and kept beside the
synopsis as plain values under a versioned tag.

Source: modern-data:C1; contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pkgutil import resolve_name

import numpy as np

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.distribution import distribution_from_dict
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product, Workload


class AnswerNoise(ABC):
    """Independent draws of one noise, combined linearly in every answer.

    ``noise`` is the law of one draw, in its own steps.
    """

    noise: Distribution

    def deviations(self, workload: Workload) -> Floats:
        """The standard deviation of each answer; infinite where nothing follows for it."""
        found = [self.lengths(product) for product in workload.products]
        return np.asarray(np.concatenate(found) * self.noise.std)

    def half_widths(self, workload: Workload, *, confidence: float) -> Floats:
        """How far each answer may be off, with this confidence for each; infinite if unknown.

        Guarantee: never too narrow. Exact for normal noise on a fine grid, for single draws, and
        for sums of equal draws; else a bound that is proved.
        """
        found = [self.widths(product, confidence=confidence) for product in workload.products]
        return np.asarray(np.concatenate(found))

    @abstractmethod
    def lengths(self, product: Product) -> Floats:
        """The length of each answer's coefficients, in records for a step of the noise."""

    @abstractmethod
    def widths(self, product: Product, *, confidence: float) -> Floats:
        """The half-width of each answer to a product."""

    @abstractmethod
    def to_dict(self) -> Mapping[str, object]:
        """For JSON; :func:`noise_from_dict` reads it."""


def noise_to_dict(noise: AnswerNoise | None) -> dict[str, object]:
    """What a synopsis writes of its noise: nothing, where there is none."""
    return {} if noise is None else {"noise": noise.to_dict()}


def noise_from_dict(plain: Mapping[str, object], universe: Universe) -> AnswerNoise | None:
    """The noise that a synopsis wrote; none before noise was kept.

    Contract: ``plain`` is the whole synopsis as it was written, over this universe.
    """
    kept = plain.get("noise")
    if kept is None:
        return None
    if not isinstance(kept, Mapping) or kept.get("form") not in _FORMS:
        raise not_plain()
    kind = resolve_name(f"discreet.queries.answer_noise.{_FORMS[kept['form']]}")
    found: AnswerNoise = kind.from_dict(kept, universe)
    return found


def law_from(plain: Mapping[str, object]) -> Distribution:
    """The law of one draw, as it was written; one whose squares floats have no room for is none."""
    law = plain.get("law")
    if not isinstance(law, Mapping):
        raise not_plain()
    found = distribution_from_dict(law)
    if not 1 / _LARGEST <= found.step <= _LARGEST or not 1 / _LARGEST <= found.spread <= _LARGEST:
        raise not_plain()
    return found


_LARGEST = 2.0**200
"""Noise of counts has no larger scale, and no finer step than one in so many."""
_FORMS: dict[object, str] = {
    "centred/1": "centred_cells.CentredCells",
    "levels/1": "tree_levels.LevelNoise",
    "marginals/1": "marginal_noise.MarginalNoise",
    "products/1": "product_noise.ProductNoise",
    "single/1": "single_draws.SingleDraws",
}
"""Where each form lives: by name, since their modules import this one."""
