"""Public face of the errors; ``docs/errors.md`` lists every code with its remedy."""

from discreet.core.errors import (
    DiscreetError,
    Exhausted,
    InvalidData,
    InvalidParameter,
    Mismatch,
    NotPrivate,
    Unpriced,
)

__all__ = [
    "DiscreetError",
    "Exhausted",
    "InvalidData",
    "InvalidParameter",
    "Mismatch",
    "NotPrivate",
    "Unpriced",
]
