"""Every answer has a draw of its own.

Source: 000a:C3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.answer_noise.answer_noise import AnswerNoise, law_from
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product


@dataclass(frozen=True)
class SingleDraws(AnswerNoise):
    """``noise`` is in records. Weights that are not whole are those on the grid 2**-20."""

    noise: Distribution

    def lengths(self, product: Product) -> Floats:
        return np.ones(product.queries)

    def widths(self, product: Product, *, confidence: float) -> Floats:
        """That of the law itself."""
        return np.full(product.queries, self.noise.half_width(confidence))

    def to_dict(self) -> Mapping[str, object]:
        return {"form": "single/1", "law": self.noise.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe) -> SingleDraws:
        """The noise that ``plain`` described."""
        return cls(law_from(plain))
