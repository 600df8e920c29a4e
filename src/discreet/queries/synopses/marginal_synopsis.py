"""A synopsis of many marginals that agree, over a universe of any size.

It holds the residuals of the marginals: the residual of A is the marginal over A with every axis
centred, and the marginal over T is the sum of the residuals of all A ⊆ T, each spread evenly over
the axes T - A. An estimated residual has covariance v_A P_A with P_A the centring, and different
residuals are uncorrelated, so each query's variance is known exactly.

Source: 004b:A4, A7; 004d:F23. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.queries.answer_noise.answer_noise import (
    AnswerNoise,
    noise_from_dict,
    noise_to_dict,
)
from discreet.queries.synopses.partial_tables import answered, not_measured, placed, require_same
from discreet.queries.workload.families import QueryFamily
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places, Product, Workload, subsets


@dataclass(frozen=True, eq=False)
class MarginalSynopsis:
    """Estimated residuals by the places of their attributes, and their variances."""

    universe: Universe
    residuals: Mapping[Places, Floats]
    variances: Mapping[Places, float]
    event: Event
    noise: AnswerNoise | None = None

    def answers(self, workload: Workload) -> Floats:
        """The families of each product applied to the estimated marginal that it keeps.

        Marginals and everything that follows from them: ranges, prefixes, any listed queries by
        attributes that were measured together. Others are refused.
        """
        require_same(workload, self.universe)
        return np.concatenate([answered(p, self._marginal(p)) for p in workload.products])

    def deviations(self, workload: Workload) -> Floats:
        """The standard deviation of each answer, in its order; of the noise alone."""
        require_same(workload, self.universe)
        for product in workload.products:
            self._require(product)
        return deviations(workload, self.variances)

    def _require(self, product: Product) -> None:
        if product.kept_places not in self.residuals:
            raise not_measured(self.universe, product)

    def _marginal(self, product: Product) -> Floats:
        self._require(product)
        kept, shape = product.kept_places, self.universe.shape
        found = np.zeros(tuple(shape[place] for place in kept))
        for part in subsets(kept):
            sides = [shape[place] if place in part else 1 for place in kept]
            others = math.prod(shape[place] for place in kept if place not in part)
            found += np.asarray(self.residuals[part]).reshape(sides) / others
        return found

    def to_dict(self) -> Mapping[str, object]:
        """The residuals, with the places of their attributes and their variances."""
        entries = [
            {"places": list(places), "variance": self.variances[places], "values": packed(values)}
            for places, values in self.residuals.items()
        ]
        return {"synopsis": "marginals", "residuals": entries, **noise_to_dict(self.noise)}

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> MarginalSynopsis:
        """The synopsis that ``plain`` described."""
        entries = plain.get("residuals")
        if not isinstance(entries, list):
            raise not_plain()
        residuals: dict[Places, Floats] = {}
        variances: dict[Places, float] = {}
        for entry in entries:
            if not isinstance(entry, Mapping) or not isinstance(entry.get("variance"), float):
                raise not_plain()
            places, shape = placed(entry.get("places"), universe)
            residuals[places] = unpacked(entry.get("values"))
            variances[places] = entry["variance"]
            if residuals[places].shape != shape or not 0 <= variances[places] < math.inf:
                raise not_plain()
        if not all(part in residuals for places in residuals for part in subsets(places)):
            raise not_plain()  # a marginal is a sum of the residuals of all that it has
        return cls(universe, residuals, variances, event, noise_from_dict(plain, universe))


def deviations(workload: Workload, variances: Mapping[Places, float]) -> Floats:
    """Standard deviations of all answers, from the variances of the residuals.

    A query with weights w_i on the kept axes i in T has variance
    Σ_{A ⊆ T} v_A ∏_{i in A} (|w_i|² - s_i²/n_i) ∏_{i in T - A} s_i²/n_i², s_i the sum of w_i.
    """
    found = []
    for product in workload.products:
        parts = {place: _squares(product.families[place]) for place in product.kept_places}
        total: Floats = np.zeros(product.queries)
        for chosen in subsets(product.kept_places):
            term: Floats = np.full(1, variances[chosen])
            for place in product.kept_places:
                centred, spread = parts[place]
                term = np.outer(term, centred if place in chosen else spread).ravel()
            total += term
        found.append(np.sqrt(total))
    return np.concatenate(found)


def _squares(family: QueryFamily) -> tuple[Floats, Floats]:
    """For each query: the squared length of its centred weights, and (sum / size)²."""
    sums = family.apply(np.ones(family.size))
    lengths = sums if family.whole else np.asarray((family.dense() ** 2).sum(axis=1))
    return np.maximum(lengths - sums**2 / family.size, 0), (sums / family.size) ** 2
