"""How an owner says into which parts a table falls, and how many of them one unit may be in.

Source: contract, "Units and neighbours" (parallel composition). Proof: ``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.accounting.adaptive.hierarchy import AcrossParts, ByRow
from discreet.accounting.adaptive.steps import Amounts
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.curator.budget import PrivacyBudget
from discreet.relational.bounding.contributions import swaps
from discreet.relational.database import Database
from discreet.relational.identity.identity import canonical_text
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.nodes import DerivedField, Field, Scan
from discreet.relational.plan.query import Query
from discreet.relational.sql.catalog import require_table
from discreet.relational.sql.translate import query_from
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression, canonical, columns


@dataclass(frozen=True)
class Line:
    """Where a table is divided: an expression over one of its scans, with its public values.

    ``query`` groups by it; ``text`` says the same for the ledger, with what is known about the
    columns it reads. ``names`` are the owner's names for the columns of each table that has no
    header.
    """

    query: Query
    scan: Scan
    part: Expression
    values: tuple[object, ...]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Equal for expressions that put every row into the same part."""
        return canonical_text(self.part)

    @property
    def people(self) -> dict[str, object]:
        """Who is kept where follows from this too: the identifier, its kind, the way to it."""
        route = self.scan.route
        return {
            "identifier": self.scan.identifier,
            "stored": self.scan.identity,
            "via": None if route is None else f"{route.table}.{route.person}",
        }

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns that decide the part of a row, in the order of their names."""
        found = (self.scan.field(column) for column in sorted(columns(self.part)))
        return tuple(each for each in found if each is not None)

    def declared(self, *, growing: bool) -> dict[str, str]:
        """How each of these columns is declared and derived, by its name; a part follows from it.

        The last day of a table that is ``growing`` may move, since what comes later belongs to
        parts of its own: beside the first day, nothing is told of the bounds of the day itself.
        """
        return {
            each.name: _derivation(each)
            if growing
            else f"{_describe_declaration(each)}{_derivation(each)}"
            for each in self.fields
        }

    @property
    def places(self) -> dict[str, int]:
        """The place of each column read, and of the person's, in files where the owner names them.

        By their names alone two columns could be exchanged, and everybody with them.
        """
        stored = {
            inside.name
            for each in self.fields
            for inside in (each.inputs if isinstance(each, DerivedField) else (each,))
        }
        route = self.scan.route
        read = {self.scan.table: stored | {self.scan.identifier}}
        if route is not None:
            read[route.table] = {route.key, route.person}
        return {
            f"{table}.{name}": place
            for table, wanted in sorted(read.items())
            for place, name in enumerate(self.names.get(table, ()))
            if name in wanted
        }

    @property
    def tables(self) -> set[str]:
        """The tables that decide which rows there are, and whose."""
        route = self.scan.route
        return {self.scan.table} if route is None else {self.scan.table, route.table}


def line_of(table: str, by: str, database: Database) -> Line:
    """Read ``by`` as GROUP BY would."""
    database.require_process()
    entry = require_table(table, database)
    quoted = '"' + entry.name.replace('"', '""') + '"'
    query = query_from(f"SELECT COUNT(*) AS n FROM {quoted} GROUP BY {by}", database)
    rows = query.rows
    blocks = query.keys.blocks if isinstance(query.keys, KeySet) else ()
    plain = isinstance(rows, Scan) and rows.private and query.having is None
    ending = (*query.order, query.limit, query.offset) not in ((None, 0), (None, None))
    if not plain or ending or len(blocks) != 1 or len(blocks[0].expressions) != 1:
        raise _no_line(by)
    assert isinstance(rows, Scan)
    (part,), values = blocks[0].expressions, tuple(entry[0] for entry in blocks[0].entries)
    if part.domain.kind is DataType.DOUBLE:
        raise _no_line(by)
    names = {name: found.source.names_given for name, found in database.tables.items()}
    return Line(query, rows, part, tuple(value for value in values if value is not None), names)


def _describe_declaration(field: Field) -> str:
    """What is declared of a column; not how it is stored, which differs between engines."""
    return f"{canonical_text(field.declaration)}{canonical_text(field.domain)}"


def _derivation(field: Field) -> str:
    """How a column is derived from inputs cleaned as declared; nothing where it is stored."""
    if not isinstance(field, DerivedField):
        return ""
    inputs = ",".join(f"{each.name!r}:{_describe_declaration(each)}" for each in field.inputs)
    return f"={canonical(field.derivation)} of {{{inputs}}}"


def overlap(unit: PrivacyUnit, parts: int | None, k: int | None) -> int:
    """In how many parts one unit may lie; ``parts`` is how many there are, if that is known."""
    inside = add_remove(unit)
    if not isinstance(inside, Person):
        if k is not None:
            raise InvalidParameter(
                code="k_for_rows",
                expectation="no k= where each row is a unit: a row lies in one part",
                received=k,
                remedy="Leave k= out.",
            )
        return ByRow(("rows",)).overlap(inside)
    if k is None:
        raise InvalidParameter(
            code="parts_without_k",
            expectation="k=, the most parts that one person is kept in, since a person's rows may "
            "fall into several",
            remedy="Pass k=1 to keep every person in one part; k=2 costs twice as much.",
        )
    most = count("k", k)
    return most if parts is None else AcrossParts(range(parts), most).overlap(inside)


def find_declared_part(value: object, values: tuple[object, ...]) -> object:
    """The part that ``value`` is, as it was declared: equal and of the same type.

    Parts are named in the ledger by their text, so 1, 1.0 and True must not be three of them.
    """
    for known in values:
        if type(known) is type(value) and known == value:
            return known
    raise InvalidParameter(
        code="part_unknown",
        expectation=f"one of the parts {list(map(str, values))[:20]}",
        received=str(value),
        remedy="Parts are the declared keys, by their own type; values outside belong to none.",
    )


def price_of_parts(
    above: PrivacyBudget, part: PrivacyBudget, unit: PrivacyUnit, most: int
) -> Amounts:
    """What all parts together cost: one budget for each that a unit is in; under Replace, twice."""
    factor = swaps(unit) * most
    return tuple(factor * amount for amount in above.price_of(part))


def _no_line(by: str) -> InvalidParameter:
    return InvalidParameter(
        code="not_a_division",
        expectation="one key of one private table, as GROUP BY takes it, that is no real number",
        received=by,
        remedy='Write by="ward", or an expression such as by="bin(age, 0, 100, 10)".',
    )
