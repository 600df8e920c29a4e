"""Public face of the errors; ``docs/errors.md`` lists every code with its remedy."""

from discreet.core.errors import (
    DiscreetError,
    EngineFailed,
    Exhausted,
    InvalidData,
    InvalidParameter,
    LedgerError,
    Mismatch,
    NotPrivate,
    Unpriced,
)

__all__ = [
    "DiscreetError",
    "EngineFailed",
    "Exhausted",
    "InvalidData",
    "InvalidParameter",
    "LedgerError",
    "Mismatch",
    "NotPrivate",
    "Unpriced",
]
