"""Splitting people rather than epsilon: each person answers one of several questions, in full.

With k questions at epsilon / k each, errors grow by k; with a k-th of the people for each
question, by the square root of k. Which question a person answers is drawn by the client,
independently of the value, and sent along. A part sees some digits of the number that stands for
the value: a prefix of a word, a level of a hierarchy, some columns of a record, or a public hash
of all of it.

Source: 004a:C30. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.local.frequencies import Frequencies
from discreet.local.oracle import (
    Columns,
    FrequencyOracle,
    Numbers,
    SupportOracle,
    whole,
    width_of,
)
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.noise import uniform_integers


@dataclass(frozen=True)
class QuestionPart:
    """One question: digits of the value, most significant first, and the oracle that asks for them.

    A digit is (divisor, size), which is ``value // divisor % size``, or (a, b, prime, size), which
    is a public hash of the value.
    """

    digits: tuple[tuple[int, ...], ...]
    oracle: SupportOracle

    def of(self, numbers: Numbers) -> Numbers:
        """What the part sees of each value."""
        seen = np.zeros(len(numbers), dtype=np.int64)
        for *rule, size in self.digits:
            if len(rule) == 1:
                digit = numbers // rule[0] % size
            else:
                a, b, prime = rule
                digit = (a * numbers + b) % prime % size
            seen = seen * size + digit
        return seen


@dataclass(frozen=True, kw_only=True)
class SplitPeople(FrequencyOracle):
    """Every person answers one part, chosen at random, with all of epsilon.

    Contract: parts are of one kind, at the same epsilon, and their domains are the products of
    their digits.
    """

    parts: tuple[QuestionPart, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        super().__post_init__()
        fits = all(
            exact(part.oracle.epsilon) == exact(self.epsilon)
            and part.oracle.size == int(np.prod([digit[-1] for digit in part.digits]))
            and type(part.oracle) is type(self.parts[0].oracle)
            and not any(field.width for field in part.oracle.fields)
            for part in self.parts
        )
        if not self.parts or not fits:
            raise InvalidParameter(
                code="local_parts_misfit",
                expectation="parts of one kind, at this epsilon, over the product of their digits",
                received=len(self.parts),
                remedy="Use hashing, Hadamard or direct oracles, one for each part.",
            )

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Those of the first part."""
        return self.parts[0].oracle.support_chances

    def describe_randomiser(self) -> dict[str, Any]:
        parts = [
            {
                "digits": [list(digit) for digit in part.digits],
                "oracle": part.oracle.describe_randomiser(),
            }
            for part in self.parts
        ]
        return {"kind": "one_of", "size": self.size, "parts": parts}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        widest: dict[str, str] = {}
        for part in self.parts:
            for field in part.oracle.fields:
                widest[field.name] = max(widest.get(field.name, "u1"), field.dtype)
        own = ReportField("part", width_of(len(self.parts)))
        return (own, *(ReportField(name, kind) for name, kind in widest.items()))

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [part, inner] if whole(part, len(self.parts)) and isinstance(part, int):
                found = self.parts[part].oracle.read_report_columns(inner)
                return None if found is None else (part, *found)
        return None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        chosen = batch.columns["part"]
        good = np.zeros(len(chosen), dtype=np.bool_)
        for place, part in enumerate(self.parts):
            good |= (chosen == place) & part.oracle.valid(batch)
        return good

    def _draw_reports(self, numbers: Numbers) -> Columns:
        chosen = uniform_integers(len(self.parts), len(numbers), self.randomness)
        columns = {field.name: field.empty(len(numbers)) for field in self.fields}
        columns["part"][:] = chosen
        for place, part in enumerate(self.parts):
            here = np.flatnonzero(chosen == place)
            drawn = part.oracle._draw_reports(part.of(numbers[here]))
            for name, column in drawn.items():
                columns[name][here] = column
        return columns

    def batch_of(self, batch: ReportBatch, part: int) -> ReportBatch:
        """The reports of one part, in the columns of its oracle; impossible ones are left out."""
        here = batch.where(self.valid(batch) & (batch.columns["part"] == part))
        kinds = self.parts[part].oracle.fields
        return ReportBatch(
            {each.name: here.columns[each.name].astype(each.dtype) for each in kinds}
        )

    def _table(self, batch: ReportBatch) -> Numbers:
        """For each part its number of reports and its table, one after the other."""
        found = []
        for place, part in enumerate(self.parts):
            here = self.batch_of(batch, place)
            found.append(np.concatenate([[here.people], part.oracle._table(here).ravel()]))
        return np.concatenate(found).astype(np.int64)

    def tallies(self, tally: Tally) -> list[Tally]:
        """The tally of each part."""
        self._check(tally)
        found, start = [], 0
        for part in self.parts:
            empty = part.oracle._table(part.oracle.batch([])[0])
            stop = start + 1 + empty.size
            line = tally.table[start:stop]
            found.append(Tally(part.oracle.digest, int(line[0]), line[1:].reshape(empty.shape)))
            start = stop
        return found

    def estimates(self, tally: Tally) -> list[Frequencies]:
        """The shares of what each part asks for."""
        found = []
        for part, own in zip(self.parts, self.tallies(tally), strict=True):
            found.append(part.oracle.estimate(own))
        return found

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Refused: parts ask for different things; see :meth:`estimates`."""
        raise InvalidParameter(
            code="local_parts_apart",
            expectation="estimates of the parts, each by itself",
            remedy="Call estimates(tally), or use a method that combines the parts.",
        )
