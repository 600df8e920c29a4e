"""What the columns of a public text file are: numbers, days, moments, truth values or text.

Anybody may know what a public table holds, so all of it is read: a column has the first type that
every one of its values has, written as a program would write it. ``01234`` and ``+49`` are text,
since as numbers they would lose a sign; so are whole numbers of more than 18 digits, of which a
double has no room for all. Types that the owner says are not guessed; a value that does not fit is
refused when the table is opened, and named: it is public.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.core.errors import Mismatch
from discreet.relational.compile.dialect import Dialect
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

_SOUGHT = (
    DataType.INTEGER,
    DataType.DOUBLE,
    DataType.DATE,
    DataType.TIMESTAMP,
    DataType.BOOLEAN,
)
_EXAMPLES = 3
_SHOWN = 40


@dataclass(frozen=True)
class PublicTexts:
    """The text columns of a public table, which lies at a ``place`` of an engine.

    ``rows`` runs a SELECT over it; an empty field is NULL, whatever else the column holds.
    """

    place: str
    dialect: Dialect
    rows: Callable[[str], Sequence[tuple[object, ...]]]

    def kinds(
        self, columns: Mapping[str, str], said: Mapping[str, DataType]
    ) -> dict[str, DataType]:
        """Those of the columns, each with its stored type, that are stored as text.

        Refuses values that are not what the owner ``said`` of their column.
        """
        texts = {
            name: self.dialect.clean(
                self.dialect.identifier(name), stored, ColumnDomain(DataType.TEXT)
            )
            for name, stored in columns.items()
            if self.dialect.kind_of(stored) is DataType.TEXT
        }
        for name in texts.keys() & said.keys():
            self._require(name, texts[name], said[name])
        open_texts = {name: text for name, text in texts.items() if name not in said}
        return {**said, **self._first(open_texts)}

    def _first(self, texts: Mapping[str, str]) -> dict[str, DataType]:
        """The first kind that every value of a column has; text where there is no value at all."""
        if not texts:
            return {}
        sums = [
            f"COALESCE(SUM(CASE WHEN {text} <> '' {also} THEN 1 ELSE 0 END), 0)"
            for text in texts.values()
            for also in ("", *(f"AND {self._is(kind, text)}" for kind in _SOUGHT))
        ]
        (counts,) = self.rows(f"SELECT {', '.join(sums)} FROM {self.place}")
        found, width = {}, len(_SOUGHT) + 1
        for place, name in enumerate(texts):
            size, *fitting = counts[place * width : (place + 1) * width]
            fits = [kind for kind, n in zip(_SOUGHT, fitting, strict=True) if size and n == size]
            found[name] = fits[0] if fits else DataType.TEXT
        return found

    def _is(self, kind: DataType, text: str) -> str:
        """Whether a text is written as a program writes such a value."""
        read = f"({self.dialect.cast(text, DataType.TEXT, kind)})"
        match kind:
            case DataType.INTEGER:
                return f"{self.dialect.cast(read, DataType.INTEGER, DataType.TEXT)} = {text}"
            case DataType.DOUBLE:
                whole = self.dialect.cast(text, DataType.TEXT, DataType.INTEGER)
                led = " OR ".join(f"{text} LIKE '{sign}0_%'" for sign in ("", "-"))
                point = " OR ".join(f"{text} LIKE '{sign}0.%'" for sign in ("", "-"))
                broken = " OR ".join(f"{text} LIKE '%{sign}%'" for sign in ".eE")
                plain = f"NOT ({text} LIKE '+%') AND (NOT ({led}) OR {point})"
                return f"({read} IS NOT NULL AND (({whole}) IS NOT NULL OR {broken}) AND {plain})"
            case DataType.BOOLEAN:
                return f"LOWER({text}) IN ('true', 'false')"
        return f"({read} IS NOT NULL)"

    def _require(self, name: str, text: str, kind: DataType) -> None:
        """Refuse values that are not of the type that was said."""
        if kind is DataType.TEXT:
            return
        read = f"({self.dialect.cast(text, DataType.TEXT, kind)})"
        found = self.rows(
            f"SELECT DISTINCT {text} AS v FROM {self.place} WHERE {text} <> '' AND {read} IS NULL "
            f"ORDER BY v LIMIT {_EXAMPLES}"
        )
        if found:
            raise Mismatch(
                code="public_values",
                expectation=f"values of the public column {name} that are each a {kind.value}",
                received=", ".join(repr(str(row[0])[:_SHOWN]) for row in found),
                remedy="Correct the file, or say another type in types=, such as str for text.",
            )
