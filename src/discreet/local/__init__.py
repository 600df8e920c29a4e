"""Local privacy: people randomise their own answers, and nobody has to be trusted with them.

:mod:`discreet.local.client` is the device's part and needs the standard library alone; names here
load on first use, so that it stays so.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.local.bloom import BloomFilter, Rappor
    from discreet.local.client import Client
    from discreet.local.collection import Collection
    from discreet.local.collector import Collector
    from discreet.local.communities import CommunityModel, SyntheticCommunities
    from discreet.local.completion import NextWords
    from discreet.local.direct import DirectEncoding
    from discreet.local.domain import ANY_TEXT
    from discreet.local.frequencies import Frequencies
    from discreet.local.gradients import HingeLoss, LocalGradientDescent, SquaredLoss
    from discreet.local.graphs import NeighbourLists, NoisyDegrees
    from discreet.local.hadamard import HadamardResponse, best_bits
    from discreet.local.hashing import BinaryLocalHashing, OptimalLocalHashing
    from discreet.local.hashing_sql import support_sql, tally_of_supports
    from discreet.local.heavy_hitters import FrequentWord, PrefixTree, SequenceFragments
    from discreet.local.joining import joint_shares
    from discreet.local.laplace import LaplaceMean
    from discreet.local.lasso import SparseTable, sparse_table
    from discreet.local.marginals import HadamardMarginals, SplitMarginals, covering_sets
    from discreet.local.masks import MaskedHadamard
    from discreet.local.numeric import MeanResponse, SquareWave
    from discreet.local.oracle import FrequencyOracle
    from discreet.local.personal_ledger import PersonalLedger, epsilon_over_time
    from discreet.local.planner import OraclePlan, best_oracle, plans
    from discreet.local.poisoning import gain_of_one, poison, recovered, tolerant
    from discreet.local.projection import RandomProjection
    from discreet.local.ranges import HaarRanges, OrderedShares, RangeTree
    from discreet.local.recommender import LocalRecommender
    from discreet.local.regions import CellCounts, SafeRegion, cell_counts
    from discreet.local.regression import OneRoundRegression
    from discreet.local.report_files import aggregate_files, write_parquet
    from discreet.local.reports import ReportBatch
    from discreet.local.secure_sum import SecureSum
    from discreet.local.shuffling import shuffle, shuffled_event
    from discreet.local.simulation import people_needed, trial
    from discreet.local.sketch import CountMeanSketch, CountSketch
    from discreet.local.split import QuestionPart, SplitPeople
    from discreet.local.subset import SubsetSelection
    from discreet.local.tally import Tally
    from discreet.local.unary import OptimizedUnary, SymmetricUnary
    from discreet.local.unit_vectors import PrivUnit
    from discreet.local.vectors import VectorMean
    from discreet.local.words import Words

_NAMES = {
    "bloom": (
        "BloomFilter",
        "Rappor",
    ),
    "client": ("Client",),
    "collection": ("Collection",),
    "collector": ("Collector",),
    "communities": (
        "CommunityModel",
        "SyntheticCommunities",
    ),
    "completion": ("NextWords",),
    "direct": ("DirectEncoding",),
    "domain": ("ANY_TEXT",),
    "frequencies": ("Frequencies",),
    "gradients": (
        "HingeLoss",
        "LocalGradientDescent",
        "SquaredLoss",
    ),
    "graphs": (
        "NeighbourLists",
        "NoisyDegrees",
    ),
    "hadamard": (
        "HadamardResponse",
        "best_bits",
    ),
    "hashing": (
        "BinaryLocalHashing",
        "OptimalLocalHashing",
    ),
    "hashing_sql": (
        "support_sql",
        "tally_of_supports",
    ),
    "heavy_hitters": (
        "FrequentWord",
        "PrefixTree",
        "SequenceFragments",
    ),
    "joining": ("joint_shares",),
    "laplace": ("LaplaceMean",),
    "lasso": (
        "SparseTable",
        "sparse_table",
    ),
    "marginals": (
        "HadamardMarginals",
        "SplitMarginals",
        "covering_sets",
    ),
    "masks": ("MaskedHadamard",),
    "numeric": (
        "MeanResponse",
        "SquareWave",
    ),
    "oracle": ("FrequencyOracle",),
    "personal_ledger": (
        "PersonalLedger",
        "epsilon_over_time",
    ),
    "planner": (
        "OraclePlan",
        "best_oracle",
        "plans",
    ),
    "poisoning": (
        "gain_of_one",
        "poison",
        "recovered",
        "tolerant",
    ),
    "projection": ("RandomProjection",),
    "ranges": (
        "HaarRanges",
        "OrderedShares",
        "RangeTree",
    ),
    "recommender": ("LocalRecommender",),
    "regions": (
        "CellCounts",
        "SafeRegion",
        "cell_counts",
    ),
    "regression": ("OneRoundRegression",),
    "report_files": (
        "aggregate_files",
        "write_parquet",
    ),
    "reports": ("ReportBatch",),
    "secure_sum": ("SecureSum",),
    "shuffling": (
        "shuffle",
        "shuffled_event",
    ),
    "simulation": (
        "people_needed",
        "trial",
    ),
    "sketch": (
        "CountMeanSketch",
        "CountSketch",
    ),
    "split": (
        "QuestionPart",
        "SplitPeople",
    ),
    "subset": ("SubsetSelection",),
    "tally": ("Tally",),
    "unary": (
        "OptimizedUnary",
        "SymmetricUnary",
    ),
    "unit_vectors": ("PrivUnit",),
    "vectors": ("VectorMean",),
    "words": ("Words",),
}

__all__ = [
    "ANY_TEXT",
    "BinaryLocalHashing",
    "BloomFilter",
    "CellCounts",
    "Client",
    "Collection",
    "Collector",
    "CommunityModel",
    "CountMeanSketch",
    "CountSketch",
    "DirectEncoding",
    "Frequencies",
    "FrequencyOracle",
    "FrequentWord",
    "HaarRanges",
    "HadamardMarginals",
    "HadamardResponse",
    "HingeLoss",
    "LaplaceMean",
    "LocalGradientDescent",
    "LocalRecommender",
    "MaskedHadamard",
    "MeanResponse",
    "NeighbourLists",
    "NextWords",
    "NoisyDegrees",
    "OneRoundRegression",
    "OptimalLocalHashing",
    "OptimizedUnary",
    "OraclePlan",
    "OrderedShares",
    "PersonalLedger",
    "PrefixTree",
    "PrivUnit",
    "QuestionPart",
    "RandomProjection",
    "RangeTree",
    "Rappor",
    "ReportBatch",
    "SafeRegion",
    "SecureSum",
    "SequenceFragments",
    "SparseTable",
    "SplitMarginals",
    "SplitPeople",
    "SquareWave",
    "SquaredLoss",
    "SubsetSelection",
    "SymmetricUnary",
    "SyntheticCommunities",
    "Tally",
    "VectorMean",
    "Words",
    "aggregate_files",
    "best_bits",
    "best_oracle",
    "cell_counts",
    "covering_sets",
    "epsilon_over_time",
    "gain_of_one",
    "joint_shares",
    "people_needed",
    "plans",
    "poison",
    "recovered",
    "shuffle",
    "shuffled_event",
    "sparse_table",
    "support_sql",
    "tally_of_supports",
    "tolerant",
    "trial",
    "write_parquet",
]

if not TYPE_CHECKING:
    __getattr__ = loader(__name__, _NAMES)
