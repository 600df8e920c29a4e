"""By which rule the rows of a person beyond the limits are left out, or made to count for less.

Answers under different rules estimate different numbers: the rule is part of what makes two queries
the same, and answers under two rules are never combined.

Source: contract, "Bounding inside the engine", "Spending" (identical questions).
"""

from __future__ import annotations

from enum import Enum


class BoundingRule(Enum):
    """A rule by its frozen name, with its version."""

    CONTENT_HASH = "content-hash/1"
    """The first rows by a salted hash of content: for answers that were bought under it."""
    SPREAD = "spread/1"
    """Sums by weight; of whole rows a systematic sample along the content."""

    @property
    def written(self) -> str:
        """The name in identities and statements, fixed for ever."""
        return self.value


CURRENT = BoundingRule.SPREAD
