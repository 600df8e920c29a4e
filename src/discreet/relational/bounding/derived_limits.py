"""The limits of a plan, derived from those of the tables it reads: what nobody within them exceeds.

One rule: *a person who is within the limits of every table is not cut.* So a scan has the limits of
its table; a filter keeps them; a join with a public table repeats rows as often as they have
partners; a join on the person multiplies, unless one side has one row of a person, or one row of
the other side at most for each; a union adds; features leave one row of a person.

Nothing here is believed: the statement cuts every person's rows to these limits after all steps, so
that a wrong declaration costs accuracy and never privacy.

Source: contract, "Bounding inside the engine"; 004b:A21, 004d:F5, F9. Proof: ``proofs/limits.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.bounding.person_limits import PersonLimits, least
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.features import PerPerson, PerPersonAndKey
from discreet.relational.plan.nodes import (
    Filtered,
    JoinedPeople,
    JoinKind,
    Output,
    PlanNode,
    Scan,
    UnionAll,
    columns_of,
)
from discreet.relational.plan.person_windows import Windowed
from discreet.relational.schema.table import Table
from discreet.relational.types.expression import Column, Expression, columns


@dataclass(frozen=True)
class Declared:
    """The private tables by their names, and the limits of steps that were derived from them."""

    table: Callable[[str], Table]
    known: dict[int, tuple[PlanNode, PersonLimits]] = field(default_factory=dict)
    """By the identity of a step, which is kept so that no other has it: where all groups count."""


Keys = frozenset[str] | None
"""The columns that groups are told apart by; None where there are no groups, or any."""


def limits_of(rows: PlanNode, declared: Declared, keys: Keys = None) -> PersonLimits:
    """Rows of one person at a step, and groups by ``keys``, within the limits of the tables.

    A chain of joins asks for them at each of its steps: they are derived once.
    """
    if keys is not None:
        return _derived(rows, declared, keys)
    if id(rows) not in declared.known:
        declared.known[id(rows)] = rows, _derived(rows, declared, None)
    return declared.known[id(rows)][1]


def _derived(rows: PlanNode, declared: Declared, keys: Keys) -> PersonLimits:  # noqa: PLR0911 -- one line for each step
    match rows:
        case Scan():
            return _scanned(rows, declared.table(rows.table), keys)
        case Filtered() | PartitionFilter():
            return limits_of(rows.rows, declared, keys)
        case Limited():
            return limits_of(rows.rows, declared, keys).at_most(rows.limit)
        case Bounded():
            inside = _below(keys, rows.outputs, rows.expressions)
            return limits_of(rows.rows, declared, inside).at_most(rows.limit)
        case PerPersonAndKey():
            return _by_person_and_key(rows, declared, keys)
        case PerPerson():
            return replace(limits_of(rows.rows, declared), rows=1)
        case Windowed():
            own = {output.name for output in rows.outputs}
            return limits_of(rows.rows, declared, None if keys is None or keys & own else keys)
        case JoinedPublic():
            return _beside_public(rows, declared, keys)
        case Unnested():
            return _beside_elements(rows, declared, keys)
        case JoinedPeople():
            return _joined(rows, declared, keys)
        case UnionAll():
            first, *others = (
                limits_of(branch, declared, _below(keys, rows.outputs, expressions))
                for branch, expressions in rows.branches
            )
            for other in others:
                first = first.plus(other)
            return first
    raise LookupError(type(rows).__name__)  # a step whose rows have no owner, or a new one


def _scanned(scan: Scan, table: Table, keys: Keys) -> PersonLimits:
    """Those of the table; by columns that are fixed for a person, or by none, one group."""
    person = add_remove(table.unit)
    assert isinstance(person, Person)
    limits = PersonLimits.of(person)
    if keys is None:
        return limits
    fixed = {scan.column(name) for name in (*table.fixed_per_person, *_own(scan))}
    own = keys & {scan.column(name) for name in scan.fields}
    return replace(limits, groups=1) if own <= fixed else limits


def _own(scan: Scan) -> tuple[str, ...]:
    """The identifier itself is one for each person."""
    return (scan.identifier,) if scan.identifier is not None and scan.route is None else ()


def _by_person_and_key(rows: PerPersonAndKey, declared: Declared, keys: Keys) -> PersonLimits:
    """A row for each combination of keys, of which bounded rows have no more than they are."""
    known = dict(rows.repeated)
    inside = None
    if keys is not None and keys <= known.keys():
        inside = frozenset[str]().union(*(columns(known[key]) for key in keys))
    return limits_of(rows.rows.rows, declared, inside).at_most(rows.limit)


def _beside_public(rows: JoinedPublic, declared: Declared, keys: Keys) -> PersonLimits:
    """Public columns say no more of a row than what it is joined on, but for several partners."""
    if keys is None:
        return limits_of(rows.rows, declared).repeated(rows.partners, spread=True)
    public = keys & columns_of(rows.public).keys()
    inside = keys - public
    if public:
        inside |= frozenset[str]().union(*(columns(private) for private, _ in rows.on))
    return limits_of(rows.rows, declared, inside).repeated(rows.partners, spread=bool(public))


def _beside_elements(rows: Unnested, declared: Declared, keys: Keys) -> PersonLimits:
    """A row becomes as many as its text has elements, in as many groups if they are a key."""
    if keys is None:
        return limits_of(rows.rows, declared).repeated(rows.most, spread=True)
    own = keys & {output.name for output in rows.added}
    inside = (keys - own) | (columns(rows.text) if own else frozenset())
    return limits_of(rows.rows, declared, inside).repeated(rows.most, spread=bool(own))


def _joined(rows: JoinedPeople, declared: Declared, keys: Keys) -> PersonLimits:
    left, right = (
        limits_of(side, declared, None if keys is None else keys & columns_of(side).keys())
        for side in rows.inputs
    )
    made = left.times(right)
    if left.rows is None or right.rows is None:
        return made
    lefts = _partners(rows.left, [pair[0] for pair in rows.on], rows.right, declared)
    rights = _partners(rows.right, [pair[1] for pair in rows.on], rows.left, declared)
    most = left.rows * max(1, least(right.rows, rights) or 1)
    if rows.kind is JoinKind.INNER and lefts is not None:
        most = min(most, right.rows * max(1, lefts))
    return made.at_most(most)


def _partners(
    side: PlanNode, on: Sequence[Expression], other: PlanNode, declared: Declared
) -> int | None:
    """The most rows of a side that agree with one row of the other, where the owner said so.

    The key of a route stands for one row of the table that it leads through; for other columns
    ``max_rows_per`` of their table says it. Only of a table itself: joins may repeat its rows.
    """
    while isinstance(side, Filtered | PartitionFilter | Limited):
        side = side.rows
    while isinstance(other, Filtered | PartitionFilter | Limited):
        other = other.rows
    if not isinstance(side, Scan):
        return None
    names = {
        field.name
        for column in on
        if isinstance(column, Column) and (field := side.field(column.name)) is not None
    }
    route = other.route if isinstance(other, Scan) else None
    if route is not None and route.table.lower() == side.table.lower() and route.key in names:
        return 1
    known = declared.table(side.table).max_rows_per.items()
    return min((most for key, most in known if names.issuperset(key)), default=None)


def _below(keys: Keys, outputs: Sequence[Output], expressions: Sequence[Expression]) -> Keys:
    """The columns below a step that computes, from which it computes the keys."""
    if keys is None:
        return None
    return frozenset[str]().union(
        *(columns(e) for o, e in zip(outputs, expressions, strict=True) if o.name in keys)
    )


def find_differing_limits(
    limits: PersonLimits, unit: PrivacyUnit, rows: PlanNode
) -> PersonLimits | None:
    """The limits of a question, where they are not simply those of the unit; else None.

    A question says them only then: so whatever was asked while one limit served all tables is
    the same question, where its limits are.
    """
    person = add_remove(unit)
    assert isinstance(person, Person)
    simple = PersonLimits.of(person).at_most(rows.stability)
    found = limits.at_most(rows.stability)
    return None if found == simple else found
