"""What an analyst asks for who wants to know how many rows share a key, or belong to a person.

Source: contract, "Units and neighbours"; 004b:A21(d). Proof: ``proofs/learnt_limits.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count

POWERS = tuple(2**power for power in range(11))
"""The limits that are compared unless others are named: 1, 2, 4, ... 1024."""
HIGHEST = 1 << 20
"""The largest limit: more rows of one key than any join lets through."""
LONGEST = 100
"""The most limits that are compared."""


@dataclass(frozen=True)
class RowsPer:
    """How many rows of ``table`` share a value of ``key``; without one, how many a person has.

    ``key`` is a column, or several. ``ladder`` is a public list of limits, ascending: what is
    learnt is how much each of them would leave out.

    >>> RowsPer("visits", "city").ladder[:4]
    (1, 2, 4, 8)
    """

    table: str
    key: str | tuple[str, ...] | None = None
    ladder: tuple[int, ...] = POWERS

    def __post_init__(self) -> None:
        """Refuse keys that are no columns, and ladders that do not ascend."""
        names = (self.key,) if isinstance(self.key, str) else self.key
        texts = names is None or (
            isinstance(names, tuple) and names and all(isinstance(name, str) for name in names)
        )
        if not isinstance(self.table, str) or not texts:
            raise InvalidParameter(
                code="not_a_key",
                expectation="a table, and a column or a tuple of columns of it, all by name",
                received=(type(self.table).__name__, type(self.key).__name__),
                remedy='Write RowsPer("visits", "city"), or RowsPer("visits", ("city", "day")).',
            )
        steps = self.ladder
        if not isinstance(steps, tuple | list | range) or not 1 <= len(steps) <= LONGEST:
            raise self._misread()
        object.__setattr__(self, "ladder", tuple(count("ladder", step) for step in steps))
        if any(low >= high for low, high in pairwise(self.ladder)) or self.ladder[-1] > HIGHEST:
            raise self._misread()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the key; none where people are meant."""
        if self.key is None:
            return ()
        return (self.key,) if isinstance(self.key, str) else self.key

    @property
    def words(self) -> str:
        """For the ledger and for readers."""
        return f"rows of {self.table} per {', '.join(self.columns) or 'person'}"

    def _misread(self) -> InvalidParameter:
        return InvalidParameter(
            code="ladder_misread",
            expectation=f"1 to {LONGEST} whole limits, ascending, of at most {HIGHEST:,} rows",
            received=type(self.ladder).__name__,
            remedy='Write RowsPer("visits", "city", ladder=(1, 2, 5, 10, 20)).',
        )
