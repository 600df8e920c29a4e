"""One answer of a conversation: a count, how far off it may be, and who answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from discreet.core.written import Form


class Origin(StrEnum):
    """Who answered; public, since it is part of the answer."""

    ESTIMATE = "the estimate"
    DATA = "the data"


_REPLY = Form("reply/1", "count share within confidence origin left number")


@dataclass(frozen=True)
class Reply:
    """One answer.

    Attributes:
        count: Records that the question is about, estimated.
        share: The same over the number of records.
        within: How far ``count`` is from the truth at most, in records, for all answers so far
            together at ``confidence``; None where nothing can be said: beyond the number of
            questions that was planned for, or with no updates left.
        confidence: That of ``within``.
        origin: Whether the estimate answered, or the data.
        left: Updates that are still paid for.
        number: The place of the question among those that the data had a part in, from one;
            zero once no updates are left.
    """

    count: float
    share: float
    within: float | None
    confidence: float
    origin: Origin
    left: int
    number: int

    def to_json(self) -> str:
        """All of it, for machines."""
        return json.dumps(dict(_REPLY.parts(self)), allow_nan=False)

    def __str__(self) -> str:
        known = "" if self.within is None else f" ± {self.within:.4g}"
        return (
            f"{self.count:.6g}{known} records ({self.share:.4g} of all), from {self.origin}; "
            f"{self.left} updates left"
        )
