"""Public face of events: what releases did, composed with ``+`` and ``*``, priced on demand.

>>> from discreet import events
>>> (events.Laplace(epsilon=0.1) * 3 + events.Laplace(epsilon=0.2)).epsilon(delta=0) <= 0.5000001
True
"""

from discreet.core.events.event import (
    Composed,
    Event,
    FixedSizeSampled,
    Nothing,
    PoissonSampled,
    Repeated,
    compose,
    from_json,
)
from discreet.core.events.key_selection import (
    ConcentratedThreshold,
    GaussianThreshold,
    GeometricThreshold,
    KeySelection,
)
from discreet.core.events.mechanisms import (
    Approximate,
    Concentrated,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Pure,
    RandomizedResponse,
    SparseVector,
    Unprotected,
)
from discreet.core.events.one_of import OneOf
from discreet.core.events.shuffled import Shuffled
from discreet.core.events.tuned import PoissonRuns, TruncatedNegativeBinomial, Tuned

__all__ = [
    "Approximate",
    "Composed",
    "Concentrated",
    "ConcentratedThreshold",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Exponential",
    "FixedSizeSampled",
    "Gaussian",
    "GaussianThreshold",
    "GeometricThreshold",
    "KeySelection",
    "Laplace",
    "NoisyMax",
    "Nothing",
    "OneOf",
    "PermuteAndFlip",
    "PoissonRuns",
    "PoissonSampled",
    "Pure",
    "RandomizedResponse",
    "Repeated",
    "Shuffled",
    "SparseVector",
    "TruncatedNegativeBinomial",
    "Tuned",
    "Unprotected",
    "compose",
    "from_json",
]
