"""What every question to devices has in common, whatever is asked: a law, a cost, and reports.

It is made of public parameters alone. From them follow the chances that clients use, the event that
a report costs, and how reports are read, checked and added up. Frequencies are asked for by
``oracle.py``, vectors by ``vectors.py``.

Source: 004a:C1.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number
from discreet.core.unit import Person, Replace, Row
from discreet.local.chances import local_epsilon
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source

if TYPE_CHECKING:
    from discreet.core.events.event import Event
    from discreet.core.unit import AddRemoveUnit
    from discreet.local.frequencies import Frequencies

Numbers = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]
_AT_ONCE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class LocalRandomiser(ABC):
    """A question that devices answer by one randomised report.

    Contract: each person sends one report; a second one costs its own epsilon. Guarantee: for any
    two values of one person every report is at most ``exp(epsilon)`` times as likely under one as
    under the other, exactly.

    Numerics: chances are whole numbers over 2**64, rounded towards privacy; estimates are doubles
    computed from exact whole numbers.
    """

    epsilon: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse an epsilon out of range."""
        require_source(self.randomness)
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))

    @property
    def event(self) -> Event:
        """What one report costs the person it is about."""
        return mark_unprotected_event(Pure(epsilon=self.epsilon), self.randomness)

    def guarantee(self, *, unit: AddRemoveUnit | Replace) -> PureDP:
        """What each person, or device, is promised: any value against any other."""
        return PureDP(epsilon=self.epsilon, unit=require_people(unit))

    @abstractmethod
    def written_domain(self) -> dict[str, Any]:
        """What may be said, as schemas say it."""

    @abstractmethod
    def describe_randomiser(self) -> dict[str, Any]:
        """The randomiser as clients read it: its kind and its whole numbers."""

    @property
    @abstractmethod
    def fields(self) -> tuple[ReportField, ...]:
        """The columns of its reports."""

    @abstractmethod
    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        """The columns of one report from JSON, or None if it is none of this randomiser."""

    @abstractmethod
    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        """Which reports a client could have sent."""

    @abstractmethod
    def privatize_many(self, values: Any) -> ReportBatch:
        """One report for each value, by the law of the clients, in one go: for trials and tests.

        Also where a trusted party randomises before it passes on.
        """

    @abstractmethod
    def _table(self, batch: ReportBatch) -> Numbers:
        """The linear table of valid reports."""

    @property
    def digest(self) -> str:
        """Names the randomiser where its reports and tallies are kept."""
        text = json.dumps([self.written_domain(), self.describe_randomiser()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def message_bits(self) -> int:
        """Size of one report in binary columns."""
        return sum(8 * np.dtype(each.dtype).itemsize * max(each.width, 1) for each in self.fields)

    def batch(self, payloads: Iterable[object]) -> tuple[ReportBatch, int]:
        """Reports from JSON, in columns, and how many were no report of this oracle."""
        rows = [self.read_report_columns(payload) for payload in payloads]
        kept = [row for row in rows if row is not None]
        columns = {}
        for place, field in enumerate(self.fields):
            column = field.empty(len(kept))
            for i, row in enumerate(kept):
                column[i] = row[place]
            columns[field.name] = column
        return ReportBatch(columns), len(rows) - len(kept)

    def aggregate(self, batch: ReportBatch) -> Tally:
        """The tally of a batch; reports that no client could have sent are left out."""
        table, people = None, 0
        for start in range(0, max(batch.people, 1), _AT_ONCE * self._chunks):
            stop = start + _AT_ONCE * self._chunks
            part = ReportBatch({name: each[start:stop] for name, each in batch.columns.items()})
            good = self.valid(part)
            if not good.all():
                part = part.where(good)
            people += part.people
            found = self._table(part)
            table = found if table is None else table + found
        assert table is not None
        return Tally(self.digest, people, table)

    @property
    def _chunks(self) -> int:
        """How many times 65 536 reports are aggregated at once."""
        return 16

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Refused where there are no shares, but means or coefficients."""
        raise InvalidParameter(
            code="local_no_shares",
            expectation="a question about shares",
            remedy="Call mean(tally), or what else the class has; for shares ask an oracle.",
        )

    def _check(self, tally: Tally) -> None:
        if tally.digest != self.digest:
            raise InvalidData(
                code="local_tally_foreign",
                expectation="a tally of reports to this very oracle",
                remedy="Estimate with the oracle whose schema the clients had.",
            )
        if tally.people == 0:
            raise InvalidData(
                code="local_nobody_reported",
                expectation="at least one valid report",
                remedy="Look at the collector's counts of rejected reports.",
            )


def require_people(unit: AddRemoveUnit | Replace) -> Replace:
    """Whom a local promise is about: a person, or device, any value of theirs against any other.

    Who takes part is known to the collector, so that the relation is ``Replace``, whichever is
    written; the unit itself has no default, and edges and nodes of graphs are none.
    """
    whose = unit.unit if isinstance(unit, Replace) else unit
    if not isinstance(whose, Row | Person):
        raise InvalidParameter(
            code="not_a_unit",
            expectation="people or devices: Row, Person, or Replace of either",
            received=type(whose).__name__,
            remedy='Write unit=Person("device").',
        )
    return Replace(whose)


def whole(value: object, below: int) -> bool:
    """Whether a part of a report is a whole number from 0 to ``below - 1``."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below


def width_of(size: int) -> str:
    """The narrowest unsigned type for numbers below ``size``."""
    return "u1" if size <= 1 << 8 else "u2" if size <= 1 << 16 else "u4"
