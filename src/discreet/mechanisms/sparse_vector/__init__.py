"""The sparse vector family: many questions, paid only for those that come out above."""

from discreet.mechanisms.sparse_vector.above_threshold import AboveThreshold, ThresholdSession
from discreet.mechanisms.sparse_vector.numeric_sparse import NumericSession, NumericSparse
from discreet.mechanisms.sparse_vector.sparse import Sparse, SparseSession

__all__ = [
    "AboveThreshold",
    "NumericSession",
    "NumericSparse",
    "Sparse",
    "SparseSession",
    "ThresholdSession",
]
