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
    from discreet.local.direct import DirectEncoding
    from discreet.local.domain import ANY_TEXT
    from discreet.local.engines import (
        aggregate_files,
        support_sql,
        tally_of_supports,
        write_parquet,
    )
    from discreet.local.frequencies import Frequencies
    from discreet.local.hadamard import HadamardResponse, best_bits
    from discreet.local.hashing import BinaryLocalHashing, OptimalLocalHashing
    from discreet.local.oracle import FrequencyOracle
    from discreet.local.planner import OraclePlan, best_oracle, plans
    from discreet.local.reports import ReportBatch
    from discreet.local.sketch import CountMeanSketch, CountSketch
    from discreet.local.subset import SubsetSelection
    from discreet.local.tally import Tally
    from discreet.local.unary import OptimizedUnary, SymmetricUnary

_NAMES = {
    "bloom": ("BloomFilter", "Rappor"),
    "client": ("Client",),
    "collection": ("Collection",),
    "collector": ("Collector",),
    "direct": ("DirectEncoding",),
    "domain": ("ANY_TEXT",),
    "engines": ("aggregate_files", "support_sql", "tally_of_supports", "write_parquet"),
    "frequencies": ("Frequencies",),
    "hadamard": ("HadamardResponse", "best_bits"),
    "hashing": ("BinaryLocalHashing", "OptimalLocalHashing"),
    "oracle": ("FrequencyOracle",),
    "planner": ("OraclePlan", "best_oracle", "plans"),
    "reports": ("ReportBatch",),
    "sketch": ("CountMeanSketch", "CountSketch"),
    "subset": ("SubsetSelection",),
    "tally": ("Tally",),
    "unary": ("OptimizedUnary", "SymmetricUnary"),
}

__all__ = [
    "ANY_TEXT",
    "BinaryLocalHashing",
    "BloomFilter",
    "Client",
    "Collection",
    "Collector",
    "CountMeanSketch",
    "CountSketch",
    "DirectEncoding",
    "Frequencies",
    "FrequencyOracle",
    "HadamardResponse",
    "OptimalLocalHashing",
    "OptimizedUnary",
    "OraclePlan",
    "Rappor",
    "ReportBatch",
    "SubsetSelection",
    "SymmetricUnary",
    "Tally",
    "aggregate_files",
    "best_bits",
    "best_oracle",
    "plans",
    "support_sql",
    "tally_of_supports",
    "write_parquet",
]

if not TYPE_CHECKING:
    __getattr__ = loader(__name__, _NAMES)
