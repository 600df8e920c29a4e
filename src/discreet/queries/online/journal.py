"""What a long conversation keeps so that it can go on after its process has ended.

A journal holds what was released: the number of records, and each update's query and answer. And
it holds one secret for each round, the noise of its hidden threshold, written before the first
comparison that uses it. So whoever resumes reads everything back and draws nothing again.

**A journal is for the data owner alone.** An analyst who reads a threshold learns more from the
answers than was paid for; :meth:`Journal.keep` takes the secret entries apart from the others, so
that a journal can hide them from whoever may read the rest.

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
from discreet.mechanisms.sparse_vector.hidden import HiddenThreshold
from discreet.queries.workload.linear_query import PLACES, LinearQuery, Region, Weights

Entry = Mapping[str, Any]
"""Plain values that JSON can hold."""


class Journal(Protocol):
    """An append-only record of one conversation, of which no other conversation writes a line."""

    def entries(self) -> Sequence[Entry]:
        """All entries, in order, secret ones included; none before the conversation began."""

    def write(self, entry: Entry) -> None:
        """Append what was released; durable when it returns."""

    def keep(self, entry: Entry) -> None:
        """Append a secret, for the data owner alone; durable when it returns."""


class Unkept:
    """Keeps nothing: the conversation ends with its process."""

    def entries(self) -> Sequence[Entry]:
        return ()

    def write(self, entry: Entry) -> None:
        """Forgotten."""

    def keep(self, entry: Entry) -> None:
        """Forgotten."""


@dataclass(frozen=True)
class Past:
    """What a journal says: terms, number of records, updates, and the round under way, if any."""

    terms: Entry
    total: float
    updates: tuple[tuple[LinearQuery, float], ...]
    hidden: HiddenThreshold | None


def opened(total: float, terms: Entry) -> Entry:
    """The first entry: the number of records, and what the conversation was opened with."""
    return {"did": "open", "total": total, "terms": terms}


def make_threshold_entry(hidden: HiddenThreshold) -> Entry:
    """The secret of a round."""
    return {"did": "threshold", "steps": hidden.steps}


def updated(query: LinearQuery, answer: float) -> Entry:
    """An answer from the data, which ends a round."""
    return {"did": "update", "query": _query_to_dict(query), "answer": answer}


def estimated(answers: Sequence[tuple[LinearQuery, float]]) -> Entry:
    """Answers from the hypothesis, for those who write down all that was said."""
    said = [{"query": _query_to_dict(query), "answer": answer} for query, answer in answers]
    return {"did": "estimate", "said": said}


def answered(entry: Entry) -> int:
    """How many answers an entry tells of."""
    return len(entry["said"]) if entry["did"] == "estimate" else int(entry["did"] == "update")


def past(entries: Sequence[Entry]) -> Past:
    """Read a journal back.

    Contract: refuses a journal that does not begin with its opening, or in which a round has
    two thresholds or an update none.
    """
    terms, total, updates = {}, 0.0, []
    hidden: HiddenThreshold | None = None
    for place, entry in enumerate(entries):
        match entry.get("did"):
            case "open" if place == 0:
                terms, total = entry["terms"], float(entry["total"])
            case "threshold" if place > 0 and hidden is None:
                hidden = HiddenThreshold(int(entry["steps"]))
            case "update" if hidden is not None:
                updates.append((_query_from_dict(entry["query"]), float(entry["answer"])))
                hidden = None
            case "estimate" if place > 0:
                pass
            case _:
                raise InvalidData(
                    code="journal_misread",
                    expectation="a journal of one conversation, from its opening on",
                    remedy="Give each conversation a journal of its own.",
                )
    return Past(terms, total, tuple(updates), hidden)


def _query_to_dict(query: LinearQuery) -> Entry:
    if isinstance(query, Region):
        box = [[part.start, part.stop, part.step] for part in query.box]
        return {"shape": list(query.shape), "box": box}
    steps = (query.dense() * 2.0**PLACES).astype("<i4")
    return {"steps": base64.b64encode(zlib.compress(steps.tobytes())).decode()}


def _query_from_dict(entry: Entry) -> LinearQuery:
    if "box" in entry:
        return Region(tuple(entry["shape"]), tuple(slice(*part) for part in entry["box"]))
    steps = np.frombuffer(zlib.decompress(base64.b64decode(entry["steps"])), dtype="<i4")
    return Weights(steps * 2.0**-PLACES)
