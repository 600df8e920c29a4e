"""What a long conversation keeps so that it can go on after its process has ended.

A journal holds released values only: the number of records, and each update's query and answer. The
hidden threshold is never written down. Whoever resumes gives up the round that was under way, and
pays for a fresh threshold with one of the updates that are left; that is written first.

Source: contract, "Spending" (noise that outlives a call). Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.core.errors import InvalidData
from discreet.queries.linear_query import PLACES, LinearQuery, Region, Weights

Entry = Mapping[str, Any]
"""Plain values that JSON can hold."""


class Journal(Protocol):
    """An append-only record of one conversation."""

    def entries(self) -> Sequence[Entry]:
        """All entries, in order; none before the conversation began."""

    def write(self, entry: Entry) -> None:
        """Append; durable when it returns."""


class Unkept:
    """Keeps nothing: the conversation ends with its process."""

    def entries(self) -> Sequence[Entry]:
        """None."""
        return ()

    def write(self, entry: Entry) -> None:
        """Forgotten."""


@dataclass(frozen=True)
class Past:
    """What a journal says: the number of records, the updates, and how often it was resumed."""

    total: float
    updates: tuple[tuple[LinearQuery, float], ...]
    resumed: int


def opened(total: float) -> Entry:
    """The first entry."""
    return {"did": "open", "total": total}


def resumed() -> Entry:
    """A round is given up."""
    return {"did": "resume"}


def updated(query: LinearQuery, answer: float) -> Entry:
    """An answer from the data."""
    return {"did": "update", "query": _described(query), "answer": answer}


def past(entries: Sequence[Entry]) -> Past:
    """Read a journal back; refuse one that does not begin with an opening."""
    if entries[0].get("did") != "open" or any(e.get("did") == "open" for e in entries[1:]):
        raise InvalidData(
            code="journal_misread",
            expectation="a journal of one conversation, from its opening on",
            remedy="Give each conversation a journal of its own.",
        )
    updates = tuple(
        (_recalled(entry["query"]), float(entry["answer"]))
        for entry in entries
        if entry["did"] == "update"
    )
    times = sum(entry["did"] == "resume" for entry in entries)
    return Past(float(entries[0]["total"]), updates, times)


def _described(query: LinearQuery) -> Entry:
    if isinstance(query, Region):
        box = [[part.start, part.stop, part.step] for part in query.box]
        return {"shape": list(query.shape), "box": box}
    steps = (query.dense() * 2.0**PLACES).astype("<i4")
    return {"steps": base64.b64encode(zlib.compress(steps.tobytes())).decode()}


def _recalled(entry: Entry) -> LinearQuery:
    if "box" in entry:
        return Region(tuple(entry["shape"]), tuple(slice(*part) for part in entry["box"]))
    steps = np.frombuffer(zlib.decompress(base64.b64decode(entry["steps"])), dtype="<i4")
    return Weights(steps * 2.0**-PLACES)
