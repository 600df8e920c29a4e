"""The collector: takes reports as they come, counts what is wrong, and keeps nothing that links.

A report that is malformed, of another schema or version, outside the domain, or sent twice is
counted and dropped by itself; the others stand. Nonces serve against replay only and leave with the
collector: batches and tallies have none, nor times, addresses or order.

Source: 004a:C33; contract, "What may be seen".
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.local.collection import Collection
from discreet.local.frequencies import Frequencies
from discreet.local.reports import ReportBatch
from discreet.local.tally import Tally

_NONCE = 32
_LONGEST = 1 << 20


@dataclass
class Rejections:
    """How many reports were dropped, and why. Public: they say nothing about accepted ones."""

    malformed: int = 0
    other_schema: int = 0
    other_version: int = 0
    outside: int = 0
    replayed: int = 0

    @property
    def total(self) -> int:
        """All of them together."""
        return sum(vars(self).values())


@dataclass
class Collector:
    """Reports of one collection, added up as they arrive.

    Where a domain is too large for a table, :meth:`checked` hands out the good reports instead.

    ``most_nonces`` bounds the memory against replay: once so many reports were taken, no more are
    until :meth:`close_round`, which forgets the nonces; change the version then, so that old
    reports are refused by it.
    """

    collection: Collection
    most_nonces: int = 10_000_000
    rejected: Rejections = field(default_factory=Rejections)

    def __post_init__(self) -> None:
        """Start with an empty tally."""
        count("most_nonces", self.most_nonces)
        self._seen: set[str] = set()
        self._tally: Tally | None = None

    @property
    def tally(self) -> Tally:
        """What was accepted, added up."""
        if self._tally is None:
            oracle = self.collection.oracle
            self._tally = oracle.aggregate(oracle.batch([])[0])
        return self._tally

    def take(self, reports: Iterable[str | bytes]) -> int:
        """Add a batch of reports as clients wrote them; says how many were accepted."""
        batch = self.checked(reports)
        self._tally = self.tally + self.collection.oracle.aggregate(batch)
        return batch.people

    def checked(self, reports: Iterable[str | bytes]) -> ReportBatch:
        """The good reports of a batch in columns, their nonces noted and removed.

        Where they are too many for the round none is taken: whoever sends them again later, when
        there is room, is no replay.
        """
        good: dict[str, Any] = {}
        for text in reports:
            report = self._opened(text, good)
            if report is not None:
                good[report["nonce"]] = report["report"]
        if len(self._seen) + len(good) > self.most_nonces:
            raise InvalidParameter(
                code="local_collector_full",
                expectation=f"at most {self.most_nonces} reports in one round",
                remedy="Close the round and publish the schema with the next version.",
            )
        self._seen.update(good)
        batch, _ = self.collection.oracle.batch(list(good.values()))
        return batch

    def _opened(self, text: str | bytes, before: Container[str]) -> dict[str, Any] | None:
        """A report that is good, or None once it is counted as rejected."""
        report = _parse_report(text)
        if report is None:
            self.rejected.malformed += 1
        elif report["schema"] != self.collection.name:
            self.rejected.other_schema += 1
        elif report["version"] != self.collection.version:
            self.rejected.other_version += 1
        elif self.collection.oracle.read_report_columns(report["report"]) is None:
            self.rejected.outside += 1
        elif report["nonce"] in self._seen or report["nonce"] in before:
            self.rejected.replayed += 1
        else:
            return report
        return None

    @property
    def nonces(self) -> frozenset[str]:
        """Those of reports accepted in this round: against replay, and for nothing else."""
        return frozenset(self._seen)

    def remember(self, nonces: Iterable[str]) -> None:
        """Note nonces of reports that were accepted before a restart."""
        self._seen.update(nonces)

    def close_round(self) -> Tally:
        """The tally so far; the collector starts anew and forgets all nonces."""
        tally = self.tally
        self._seen.clear()
        self._tally = None
        return tally

    def estimate(self, *, values: Any = None) -> Frequencies:
        """Shares from what was accepted so far."""
        return self.collection.oracle.estimate(self.tally, values=values)


def _parse_report(text: str | bytes) -> dict[str, Any] | None:
    """A report with its four parts, none of them checked further than its type."""
    if not isinstance(text, str | bytes) or len(text) > _LONGEST:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"schema", "version", "nonce", "report"}:
        return None
    nonce = found["nonce"]
    plain = isinstance(nonce, str) and len(nonce) == _NONCE
    if not plain or not set(nonce) <= set("0123456789abcdef"):
        return None
    return found
