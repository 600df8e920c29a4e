"""The sparse vector family: many questions, paid only for those that come out above."""

from discreet.mechanisms.sparse_vector.above_threshold import AboveThreshold, ThresholdSession
from discreet.mechanisms.sparse_vector.sparse import (
    NumericSession,
    NumericSparse,
    Sparse,
    SparseSession,
)

__all__ = [
    "AboveThreshold",
    "NumericSession",
    "NumericSparse",
    "Sparse",
    "SparseSession",
    "ThresholdSession",
]
