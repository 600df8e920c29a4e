"""Robust mechanisms: answers for nice data where the worst case would drown them in noise."""

from discreet.mechanisms.robust.aggregators import Aggregator, Mean, Median, Trimmed, Winsorized
from discreet.mechanisms.robust.consensus import BlockConsensus
from discreet.mechanisms.robust.lipschitz import EdgeCount
from discreet.mechanisms.robust.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.robust.noisy_test import NoisyTest
from discreet.mechanisms.robust.order_statistics import (
    LocalSensitivity,
    local_sensitivity_of_median,
)
from discreet.mechanisms.robust.propose_test_release import ProposedMedian, ProposeTestRelease
from discreet.mechanisms.robust.resampling import SampledConsensus, subsampling_stability
from discreet.mechanisms.robust.scale import Scale, base_for
from discreet.mechanisms.robust.smooth_noise import SmoothCauchy, SmoothLaplace, SmoothNoise
from discreet.mechanisms.robust.smooth_sensitivity import SmoothMedian
from discreet.mechanisms.robust.stability import StableMode, StableValue
from discreet.mechanisms.robust.subgraphs import Stars, SubgraphCount, SubgraphPattern, Triangles
from discreet.mechanisms.robust.subsample_aggregate import SubsampleAggregate
from discreet.mechanisms.robust.subsample_vote import (
    Elected,
    SubsampleVote,
    VoteByExponential,
    VoteByNoisyMax,
)

__all__ = [
    "NO_ANSWER",
    "Aggregator",
    "BlockConsensus",
    "EdgeCount",
    "Elected",
    "LocalSensitivity",
    "Mean",
    "Median",
    "NoAnswer",
    "NoisyTest",
    "ProposeTestRelease",
    "ProposedMedian",
    "SampledConsensus",
    "Scale",
    "SmoothCauchy",
    "SmoothLaplace",
    "SmoothMedian",
    "SmoothNoise",
    "StableMode",
    "StableValue",
    "Stars",
    "SubgraphCount",
    "SubgraphPattern",
    "SubsampleAggregate",
    "SubsampleVote",
    "Triangles",
    "Trimmed",
    "VoteByExponential",
    "VoteByNoisyMax",
    "Winsorized",
    "base_for",
    "local_sensitivity_of_median",
    "subsampling_stability",
]
