"""Rows that each become several: one for every element of a text, up to a public number.

``UNNEST(string_split(tags, ';'))`` turns one row into as many as its text has elements. How many
that is only the row knows, so the statement itself stops at ``most``: of each text the first
elements count and all others are left out, whatever anybody's row holds. A bound that is too small
costs accuracy, never privacy.

Which elements a row keeps is a function of that row alone. Rows keep their owner.

Source: contract, "Bounding inside the engine", "What may be seen" (resources). Proof:
``proofs/elements.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.plan.nodes import Field, JoinKind, Output, PlanNode, columns_of, scans
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression, columns


@dataclass(frozen=True)
class Unnested(PlanNode):
    """Rows beside the first ``most`` elements of a text, which a separator keeps apart.

    The question itself asks for the first ``asked``, or for all of them (None).
    ``element`` holds one of them, cleaned as ``field`` declares it; ``place`` is its number, the
    first being ``first``. A row whose text is NULL has no element: it goes, or stays once where
    the join is LEFT.
    """

    rows: PlanNode
    text: Expression
    separator: str
    most: int
    asked: int | None
    first: int
    kind: JoinKind
    element: Output
    place: Output
    field: Field

    @property
    def stability(self) -> int | None:
        """Rows below, times the elements of each."""
        below = self.rows.stability
        return None if below is None else below * self.most

    @property
    def privacy_id(self) -> str | None:
        """That of the row whose elements they are."""
        return self.rows.privacy_id

    @property
    def added(self) -> tuple[Output, ...]:
        """The element and its place, beside all columns below."""
        return (self.element, self.place)

    def made_field(self, column: str) -> Field | None:
        """The declaration of the elements."""
        return self.field if column == self.element.name else None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The rows before."""
        return (self.rows,)

    def label(self) -> str:
        """How many elements a row can have."""
        return f"unnest, at most {self.most} elements of a row"


@step_text.register
def unnested(rows: Unnested, compiler: Compiler, needed: frozenset[str]) -> str:
    """The needed columns below, beside each of the first elements."""
    dialect, name = compiler.dialect, compiler.dialect.identifier
    own = {output.name for output in rows.added}
    known = [*columns_of(rows.rows), rows.rows.privacy_id]
    known += [scan.stored(field) for scan in scans(rows.rows) for field in scan.fields]
    kept = [column for column in known if column is not None and column in needed]
    inside = compiler.text(rows.rows, (needed - own) | columns(rows.text))
    stored, items = dialect.stored(DataType.TEXT), [name(column) for column in kept]
    listed, place = f"{rows.element.name}:listed", f"{rows.place.name}:listed"
    if rows.element.name in needed:
        clean = dialect.clean(name(listed), stored, rows.element.domain)
        items.append(f"{clean} AS {name(rows.element.name)}")
    if rows.place.name in needed:
        number = f"CAST({name(place)} AS BIGINT)"
        clean = dialect.clean_number(f"({number} - {1 - rows.first})", rows.place.domain)
        items.append(f"{clean} AS {name(rows.place.name)}")
    source = dialect.unnested(
        inside,
        dialect.render(rows.text),
        rows.separator,
        (name(listed), name(place)),
        most=rows.most,
        kept=rows.kind is JoinKind.LEFT,
    )
    return f"SELECT {', '.join(items) or '1 AS one'} FROM {source}"
