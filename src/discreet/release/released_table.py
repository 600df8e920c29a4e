"""The data of a release: columns with their noise, public keys, cost and origin.

Everything else about a release is a function of this: tables, frames, charts, other orders of the
rows, and its text as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, require_event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import probability
from discreet.release.column import ReleasedColumn
from discreet.release.draws import Released
from discreet.release.estimate import Estimate, Ratio
from discreet.release.formula import GivenValues, NoisyMeasure, require_lengths
from discreet.release.keys import Key, KeyColumn, kind_of
from discreet.release.statement.statement import Statement


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleasedTable:
    """Released columns over public keys, with their uncertainty, guarantee and event.

    Contract: everything in it is public or a function of noisy numbers that were paid for: no row
    counts, realised clamping, engine statistics or run times. Intervals hold at ``confidence`` for
    each number by itself, over the noise alone.

    Attributes:
        id: Random; it names the noise drawn for this release.
        question: As the analyst asked it.
        keys: The public key columns, one value for each row; none for a single row.
        answers: The released columns.
        confidence: Of all intervals.
        guarantee: What was promised, and charged, with its unit.
        event: What the mechanisms did; any accountant can price it again.
        warnings: For the analyst, from public facts.
        statement: The privacy statement: prints in full, and is a mapping of its facts.
        left_out: What the limits left out, where that was paid for: a release of its own.
    """

    id: str
    query: str
    keys: Mapping[str, KeyColumn]
    answers: tuple[ReleasedColumn, ...]
    confidence: float
    guarantee: Guarantee
    event: Event
    warnings: tuple[str, ...] = ()
    statement: Mapping[str, Any]
    left_out: ReleasedTable | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit; keep copies that nobody else holds."""
        keep = object.__setattr__
        keep(self, "keys", {str(name): tuple(column) for name, column in self.keys.items()})
        keep(self, "answers", tuple(self.answers))
        keep(self, "warnings", tuple(self.warnings))
        keep(self, "confidence", float(probability("confidence", self.confidence)))
        require_event(self.event)
        keep(self, "statement", self._stated())
        if self.guarantee.unit is None:
            raise InvalidParameter(
                code="guarantee_without_unit",
                expectation="a guarantee that says whom it protects",
                received=self.guarantee,
                remedy="Attach the unit: `guarantee.per(unit)`.",
            )
        for name, column in self.keys.items():
            kind_of(name, column)
        require_lengths(
            {
                **{name: len(column) for name, column in self.keys.items()},
                **{answer.name: len(answer) for answer in self.answers},
            }
        )
        _require_names(self.columns)
        if not self.keys and self.answers and len(self) != 1:
            raise InvalidParameter(
                code="rows_without_keys",
                expectation="one row, where there is no key",
                received=len(self),
                remedy="Pass the key columns that tell rows apart.",
            )
        self.measures()

    def _stated(self) -> Statement:
        return Statement(
            _plain(self.statement),
            query=self.query,
            guarantee=self.guarantee,
            event=self.event,
            confidence=self.confidence,
        )

    def __len__(self) -> int:
        """The number of rows."""
        columns: list[Sized] = [*self.answers, *self.keys.values()]
        return len(columns[0]) if columns else 0

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names in order: the keys, then each answer with its lower and upper end."""
        names = list(self.keys)
        for answer in self.answers:
            names.append(answer.name)
            if answer.interval is not None:
                names += [f"{answer.name}_lower", f"{answer.name}_upper"]
        return tuple(names)

    def __getitem__(self, name: str) -> ReleasedColumn:
        """The answer of this name."""
        for answer in self.answers:
            if answer.name == name:
                return answer
        raise InvalidParameter(
            code="column_unknown",
            expectation=f"one of the answers {[answer.name for answer in self.answers]}",
            received=name,
            remedy="Ask for a released column by its name; `keys` holds the key columns.",
        )

    def __contains__(self, name: object) -> bool:
        """Whether there is an answer of this name."""
        return any(answer.name == name for answer in self.answers)

    def __iter__(self) -> Iterator[dict[str, Key | Released]]:
        """The rows, each as a dictionary of all columns."""
        columns = self.to_dict()
        for row in zip(*columns.values(), strict=True):
            yield dict(zip(columns, row, strict=True))

    def cell(self, answer: str, /, **keys: Key) -> Estimate | Ratio:
        """One released number with its noise, ready for arithmetic: ``cell("n", ward="A")``."""
        formula = self[answer].formula
        if isinstance(formula, GivenValues):
            raise InvalidParameter(
                code="no_estimate",
                expectation="a column whose noise is additive, such as a count, a sum or a mean",
                received=answer,
                remedy=f"Its note says how wrong it may be: {self[answer].note}.",
            )
        return formula.estimate(self._row(keys))

    def _row(self, keys: Mapping[str, Key]) -> int:
        """The one row with these keys; those that tell rows apart are enough."""
        columns = [self.keys[name] for name in keys if name in self.keys]
        found = self._rows.get(tuple(keys.values())) if tuple(keys) == tuple(self.keys) else None
        if found is not None:
            return found
        wanted = tuple(keys.values())
        rows = [
            row
            for row, each in enumerate(zip(*columns, strict=True) if columns else [()] * len(self))
            if each == wanted
        ]
        if len(columns) < len(keys) or len(rows) > 1:
            raise InvalidParameter(
                code="keys_unclear",
                expectation=f"a value for each of the keys {list(self.keys)}",
                received=sorted(keys),
                remedy='Name the cell by all of its keys: `cell("n", ward="A")`.',
            )
        if not rows:
            raise InvalidParameter(
                code="cell_unknown",
                expectation="keys that a row of the release has",
                received=dict(keys),
                remedy="The columns in `keys` list those of every row.",
            )
        return rows[0]

    @cached_property
    def _rows(self) -> dict[tuple[Key, ...], int]:
        if not self.keys:
            return {(): 0}
        return {key: row for row, key in enumerate(zip(*self.keys.values(), strict=True))}

    @property
    def value(self) -> Released:
        """The number of a release that holds just one."""
        if len(self) != 1 or len(self.answers) != 1:
            raise InvalidParameter(
                code="not_one_number",
                expectation="a release of one row and one column",
                received=f"{len(self)} rows, {len(self.answers)} columns",
                remedy='Name the number you mean: `release.cell("n", ward="A").value`.',
            )
        value = self.answers[0].values[0]
        if value is None:
            raise InvalidParameter(
                code="no_number",
                expectation="a released number",
                remedy="The noisy denominator is no divisor; ask again with a larger spend.",
            )
        return value

    def __float__(self) -> float:
        """The number of a release that holds just one."""
        return float(self.value)

    def __int__(self) -> int:
        """The number of a release that holds just one, cut to a whole one."""
        return int(self.value)

    def measures(self) -> tuple[NoisyMeasure, ...]:
        """Every noisy column the answers are computed from, once, in order of first use."""
        found: dict[tuple[str, str], NoisyMeasure] = {}
        for answer in self.answers:
            for measure in answer.formula.measures():
                known = found.setdefault((measure.release, measure.name), measure)
                if known is not measure and known != measure:
                    raise InvalidParameter(
                        code="measures_not_distinct",
                        expectation="one measure of a name in a release",
                        received=measure.name,
                        remedy="Use one NoisyMeasure in all formulas, or give it another name.",
                    )
        return tuple(found.values())

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns by name, in order, as lists: keys, then each answer with its two ends."""
        columns: dict[str, list[Any]] = {name: list(column) for name, column in self.keys.items()}
        for answer in self.answers:
            columns[answer.name] = list(answer.values)
            if answer.lower is not None and answer.upper is not None:
                columns[f"{answer.name}_lower"] = list(answer.lower)
                columns[f"{answer.name}_upper"] = list(answer.upper)
        return columns

    def __hash__(self) -> int:
        return hash(self.id)


def _plain(statement: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(statement), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InvalidParameter(
            code="statement_not_plain",
            expectation="a statement of text, finite numbers, truth values, lists and objects",
            received=type(statement).__name__,
            remedy="Convert fractions, dates and objects to text first.",
        ) from None
    return plain


def _require_names(columns: tuple[str, ...]) -> None:
    """Names of their own; and something released: numbers, or keys and labels chosen by them."""
    names = [*columns]
    if len(set(names)) < len(names) or not all(names) or not names:
        raise InvalidParameter(
            code="columns_not_distinct",
            expectation="a column at least, and a name of its own for every column and end",
            received=names,
            remedy="Rename columns with AS; name_lower and name_upper are taken by the interval.",
        )
