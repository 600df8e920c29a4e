"""How privacy is given to a learner, and what one unit can change.

Spend, unit and bounds are parameters; nothing of them is read off the data. A learner adds up one
bounded contribution of each row. Under ``Row`` one row comes or goes; under ``Person`` the rows of
one person do, of which ``max_rows`` are kept; ``Replace`` takes as many away again.

Source: contract, "Units and neighbours", "Bounding inside the engine"; 004d:M2.
Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.core.arrays import Bools, Floats
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.person_key import is_missing, person_key
from discreet.core.unit import Person, PrivacyUnit, Replace, Row, add_remove
from discreet.learn.cells import numbers_of_rows, one_by_one, rows_of_numbers
from discreet.noise import SYSTEM, Source, permutation
from discreet.noise.randomness import require_source


@dataclass(frozen=True)
class Privacy:
    """What may be spent, whom it protects, and where randomness comes from.

    Contract: ``spend`` and ``unit`` are chosen before the data is seen. Whoever bounds rows
    elsewhere, as an engine does, says how many of one unit it keeps: ``rows_of_a_unit``.
    """

    spend: Guarantee
    unit: PrivacyUnit
    randomness: Source = SYSTEM
    rows_of_a_unit: int | None = None

    @classmethod
    def from_spend_and_unit(cls, spend: object, unit: object, randomness: object = None) -> Privacy:
        """Refuse what is missing: there is no default for privacy."""
        if not isinstance(spend, Guarantee):
            raise InvalidParameter(
                code="privacy_missing",
                expectation="spend=, the most that fitting may cost",
                received=type(spend).__name__,
                remedy="Write spend=dp.PureDP(epsilon=1), unit=dp.Row().",
            )
        inside = unit.unit if isinstance(unit, Replace) else unit
        if not isinstance(inside, Row | Person):
            raise InvalidParameter(
                code="privacy_missing",
                expectation="unit=, whom the guarantee protects: a row or a person",
                received=type(unit).__name__,
                remedy="Write unit=dp.Row() where each row is a person, else "
                'unit=dp.Person("id", max_rows=5).',
            )
        if isinstance(inside, Person):
            inside.rows()
        source = SYSTEM if randomness is None else randomness
        require_source(source)
        assert isinstance(source, Source)
        return cls(spend, unit, source)  # type: ignore[arg-type]

    @property
    def rows_that_differ(self) -> int:
        """Rows that differ between neighbours, those that come and those that go."""
        rows = self._rows
        return 2 * rows if isinstance(self.unit, Replace) else rows

    @property
    def guarantee(self) -> Guarantee:
        """The promise: the spend, to the unit."""
        return self.spend.per(self.unit)

    @property
    def bounded(self) -> Privacy:
        """The same for rows of which at most as many of a unit are left as it allows."""
        return replace(self, rows_of_a_unit=self._rows)

    @property
    def _rows(self) -> int:
        """Rows of one unit that are left: as whoever bounded them says, else as the unit does.

        Limits of the tables that were read may differ; their common unit then has none.
        """
        if self.rows_of_a_unit is not None:
            return self.rows_of_a_unit
        inside = add_remove(self.unit)
        return inside.rows() if isinstance(inside, Person) else 1

    def choose_rows_to_keep(self, rows: int, people: Any) -> Bools:
        """Which of the rows count: all, or of each person as many as ``rows_that_differ`` is for.

        Guarantee: which rows of a person are kept depends on that person's rows and on coins of
        their own; every choice of as many is equally likely. Rows without an identifier are left
        out.
        """
        inside = add_remove(self.unit)
        if self.rows_of_a_unit is not None and people is None:
            return np.ones(rows, dtype=np.bool_)
        if not isinstance(inside, Person):
            if people is not None:
                raise InvalidParameter(
                    code="people_without_person",
                    expectation="people= only where the unit is a person",
                    received=type(inside).__name__,
                    remedy='Write unit=dp.Person("id", max_rows=5), or leave people= out.',
                )
            return np.ones(rows, dtype=np.bool_)
        return _first_of_each(identifiers(people, rows), self._rows, self.randomness)


def identifiers(people: Any, rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A number for each person, and -1 where there is no identifier.

    Values are told apart one by one, so that none changes what another is: by their type's name
    and their text, and numbers that are equal are one person.
    """
    array = None if people is None else _objects(people)
    if array is None or array.shape != (rows,):
        raise InvalidData(
            code="people_missing",
            expectation="people=, one identifier for each row",
            remedy="Pass fit(X, y, people=frame['id']).",
        )
    known: dict[object, int] = {}
    numbers = [
        -1 if is_missing(each) else known.setdefault(person_key(each), len(known)) for each in array
    ]
    return np.array(numbers, dtype=np.int64)


def bounded_rows(
    privacy: Privacy, x: Any, y: Any, people: Any, dimension: int | None = None
) -> tuple[Floats, Floats]:
    """The rows that count, and their targets, as doubles: each cell by itself.

    Refused are shapes only; what is no number is NaN, whatever it is.
    """
    rows = rows_of_numbers(x, dimension)
    targets = numbers_of_rows(y, len(rows))
    kept = privacy.choose_rows_to_keep(len(rows), people)
    return (rows, targets) if kept.all() else (rows[kept], targets[kept])


def _objects(people: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Identifiers as they were given, none converted because of another."""
    return np.asarray(people, dtype=object) if hasattr(people, "dtype") else one_by_one(people)


def _first_of_each(
    numbers: np.ndarray[Any, np.dtype[np.int64]], most: int, source: Source
) -> Bools:
    """Mark at most ``most`` rows of each number, the first in a random order."""
    shuffled = permutation(len(numbers), source)
    order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    sorted_numbers = numbers[order]
    starts = np.searchsorted(sorted_numbers, sorted_numbers, side="left")
    kept = np.zeros(len(numbers), dtype=np.bool_)
    kept[order] = (np.arange(len(numbers)) - starts < most) & (sorted_numbers >= 0)
    return kept
