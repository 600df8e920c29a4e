"""When two questions are the same: change any one field of one, and its identity changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import ApproxZCDP, Guarantee, RenyiDP
from discreet.core.unit import Edge, Node
from discreet.relational.aggregates import measures
from discreet.relational.aggregates import registry as aggregates
from discreet.relational.aggregates.measures import Total
from discreet.relational.bounding import key_truncation as truncation
from discreet.relational.bounding import partition_filter as kept
from discreet.relational.bounding import person_rows, public_join
from discreet.relational.bounding.partition_filter import EveryPart, FirstParts, SomeParts
from discreet.relational.identity.identity import (
    any_snapshot,
    both_identities,
    canonical_text,
    identity,
    private_part,
)
from discreet.relational.identity.tags import FORMS
from discreet.relational.plan import features, person_statistics, person_windows
from discreet.relational.plan import nodes as plan
from discreet.relational.plan.query import Query
from discreet.relational.plan.scope import Division, Scope
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, canonical
from tests.relational.frontends.hospital import curator

ASKED = (
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE age > 40 GROUP BY ward",
    "SELECT COUNT(DISTINCT patient) AS p, COUNT(DISTINCT ward) AS w, AVG(age) AS a FROM visits",
    "SELECT STDDEV(cost) AS d, VARIANCE(age) AS v, COVAR_SAMP(cost, age) AS c FROM visits",
    "SELECT CORR(cost, age) AS r, MEDIAN(age) AS m, MIN(cost) AS lo, MAX(cost) AS hi FROM visits",
    "SELECT site, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY site",
    "SELECT COUNT(*) AS n FROM visits AS a LEFT JOIN visits AS b ON a.patient = b.patient",
    "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.city = b.city",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM visits) AS q",
    "SELECT SUM(q.v) AS s FROM (SELECT age AS v FROM visits UNION ALL SELECT 1 FROM visits) AS q",
    "SELECT AVG(q.n) AS a, SUM(q.v) AS b, SUM(q.m) AS c, SUM(q.lo) AS d, SUM(q.hi) AS e, "
    "SUM(q.w) AS f, SUM(q.f) AS g, SUM(q.l) AS h FROM (SELECT patient, COUNT(*) AS n, "
    "SUM(age) AS v, AVG(age) AS m, MIN(age) AS lo, MAX(age) AS hi, COUNT(DISTINCT ward) AS w, "
    "FIRST(age ORDER BY day) AS f, LAST(age ORDER BY day) AS l FROM visits GROUP BY patient) AS q",
    "SELECT ward, SUM(cost) / COUNT(*) AS m, COUNT(*) AS n FROM visits GROUP BY ward "
    "HAVING COUNT(*) > 3 ORDER BY n DESC LIMIT 2 OFFSET 1",
)
SINCE = (
    "SELECT SUM(DISTINCT age) AS s, AVG(DISTINCT age) AS a FROM visits",
    "SELECT GEOMEAN(greatest(cost, 1)) AS g FROM visits",
    "SELECT q.w, SUM(q.v) AS b, SUM(q.s) AS c, SUM(q.m) AS d, COUNT(q.a) AS e, COUNT(q.z) AS f "
    "FROM (SELECT patient, ward, VAR_POP(age) AS v, STDDEV(age) AS s, MEDIAN(age) AS m, "
    "MODE(ward) AS w, BOOL_OR(age > 3) AS a, BOOL_AND(age > 3) AS z FROM visits "
    "GROUP BY patient, ward) AS q GROUP BY q.w",
    "SELECT SUM(q.n) AS a, SUM(q.g) AS b, SUM(q.f) AS c, SUM(q.s) AS d, SUM(q.z) AS e FROM "
    "(SELECT ROW_NUMBER() OVER w AS n, LAG(age) OVER w AS g, FIRST_VALUE(age) OVER w AS f, "
    "SUM(age) OVER w AS s, LAST_VALUE(age) OVER (PARTITION BY patient ORDER BY day ROWS BETWEEN "
    "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS z FROM visits "
    "WINDOW w AS (PARTITION BY patient, ward ORDER BY day)) AS q",
)
"""Asked since the golden digests were taken."""
LATER: dict[type, Callable[[Any], Any]] = {
    str: lambda value: value + "x",
    int: lambda value: value + 1,
    bool: lambda value: not value,
    float: lambda value: value + 1,
    date: lambda value: value + timedelta(days=1),
    datetime: lambda value: value + timedelta(days=1),
    type(None): lambda _: 7,
}


@pytest.fixture(scope="module")
def questions() -> list[Query]:
    made = curator()
    found = [made.context.query(text) for text in ASKED]
    scan = found[0].rows
    while not isinstance(scan, plan.Scan):
        (scan,) = scan.inputs
    ward = Column(scan.column("ward"), scan.fields["ward"].domain)
    for assignment in (SomeParts(2, 77), FirstParts(2), EveryPart()):
        division = Division("visits", scan.prefix, ward, ("A", "B", "C"), assignment)
        found.append(Scope().part(division, "A").query(ASKED[0], made.context.database))
    return [*found, _routed(), *(made.context.query(text) for text in SINCE), _derived()]


def _routed() -> Query:
    """About a table that reaches its people through another."""
    orders = {"order": np.array([1, 2]), "who": np.array([5, 6])}
    items = {"order": np.array([1, 1, 2]), "price": np.array([3, 4, 5])}
    columns = {"price": dp.Number(0, 9)}
    made = dp.Curator(
        orders=dp.table(orders, unit=dp.Person("who", max_rows=4), columns={}),
        items=dp.table(
            items, unit=dp.Person("order", max_rows=4, via="orders.who"), columns=columns
        ),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    return made.context.query("SELECT SUM(price) AS s FROM items")


def _derived() -> Query:
    """About a column that the owner derives from others."""
    made = dp.Curator(
        items=dp.table(
            {"paid": np.array([3, 4]), "back": np.array([1, 0])},
            unit=dp.Row(),
            columns={"net": dp.Integer(0, 9)},
            derived={"net": "paid - back"},
        ),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    return made.context.query("SELECT SUM(net) AS s FROM items")


def changes(value: Any, of: Any = None) -> Iterator[Any]:
    """The value with one thing in it changed, in every possible place; or gone."""
    yield from changed(value)
    if of is not None and value is not None:
        yield None


def changed(value: Any) -> Iterator[Any]:
    if isinstance(value, Column | Literal | Call | Case):
        yield from changed_expressions(value)
    elif isinstance(value, Enum):
        yield next(other for other in type(value) if other is not value)
    elif is_dataclass(value):
        for item in fields(value):
            others = changes(getattr(value, item.name), value) if item.compare else ()
            yield from (with_field(value, item.name, other) for other in others)
    elif isinstance(value, Mapping):
        yield {f"{key}x": item for key, item in value.items()}
        for key in value:
            yield from ({**value, key: other} for other in changes(value[key], value))
    elif isinstance(value, tuple):
        yield (*value, "one more")
        for place, item in enumerate(value[:2]):
            before, after = value[:place], value[place + 1 :]
            yield from ((*before, other, *after) for other in changes(item, value))
    else:
        yield LATER[type(value)](value)


def changed_expressions(value: Expression) -> Iterator[Any]:
    """Another bound, name, constant, function or argument."""
    yield with_field(value, "domain", with_field(value.domain, "high", "elsewhere"))
    yield with_field(value, "domain", with_field(value.domain, "low", "elsewhere"))
    yield from reworded(value)


def reworded(value: Expression) -> Iterator[Any]:
    """The same without the bounds: those inside follow from the columns, which the scans tell."""
    match value:
        case Column():
            yield with_field(value, "name", value.name + "x")
        case Literal():
            yield Literal("another")
        case Call(args=(first, *rest)):
            yield first
            yield from (with_field(value, "args", (other, *rest)) for other in reworded(first))
        case Case():
            yield value.otherwise


def with_field(value: Any, name: str, other: Any) -> Any:
    """A copy with one field replaced, without asking whether that makes sense."""
    made = object.__new__(type(value))
    for item in fields(value):
        object.__setattr__(made, item.name, getattr(value, item.name))
    object.__setattr__(made, name, other)
    return made


def kinds(value: Any) -> Iterator[type]:
    """The classes of all parts."""
    yield type(value)
    if is_dataclass(value) and not isinstance(value, Call):
        for item in fields(value):
            yield from kinds(getattr(value, item.name))
    elif isinstance(value, tuple | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from kinds(item)


@pytest.mark.parametrize("number", range(len(ASKED) + 5 + len(SINCE)))
def test_any_one_field_of_a_question_changes_its_identity(
    questions: list[Query], number: int
) -> None:
    query = questions[number]
    same = canonical_text(query)
    others = [canonical_text(other) for other in changes(query)]
    assert same not in others
    assert len(others) > 40


@pytest.mark.parametrize("number", range(len(ASKED) + 5 + len(SINCE)))
def test_any_one_field_of_what_is_measured_changes_the_private_part(
    questions: list[Query], number: int
) -> None:
    """No question is answered from the noisy values of one that measured something else."""
    part = private_part(questions[number])
    same = canonical_text(part)
    others = [canonical_text(other) for other in changes(part)]
    assert same not in others
    assert len(others) > 30


def test_what_is_computed_from_released_values_is_no_private_part(questions: list[Query]) -> None:
    query = questions[0]
    free = {"outputs": (), "having": Literal(1), "order": (), "limit": 1, "offset": 3}
    for name, other in free.items():
        assert private_part(with_field(query, name, other)) == private_part(query)
    told = {item.name for item in fields(private_part(query))} - {"measured"} | {"aggregates"}
    assert set(free) | told == {item.name for item in fields(query) if item.compare}


def test_equal_questions_have_one_identity(questions: list[Query]) -> None:
    again = curator()
    for text, query in zip(ASKED, questions, strict=False):
        assert canonical_text(again.context.query(text)) == canonical_text(query)
    assert len(set(map(canonical_text, questions))) == len(questions)


def subclasses(kind: type) -> set[type]:
    below: set[type] = set(kind.__subclasses__())
    return below.union(*(subclasses(each) for each in below))


def test_every_part_of_a_plan_has_a_tag_of_its_own_and_was_tried(
    questions: list[Query],
) -> None:
    modules = (
        *(aggregates, features, kept, measures, person_rows, person_statistics, person_windows),
        *(plan, public_join, truncation),
    )
    parts = {
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__
    }
    abstract = {plan.PlanNode, kept.Assignment, features.OfColumn, person_windows.PersonWindow}
    assert (parts | subclasses(plan.PlanNode) | subclasses(features.Feature)) - abstract <= set(
        FORMS
    )
    tags = [form.tag for form in FORMS.values()]
    assert len(set(tags)) == len(FORMS)
    assert all(tag.rpartition("/")[2].isdigit() for tag in tags)
    tried = {kind for query in questions for kind in kinds(query)}
    assert parts - abstract <= tried


def test_what_has_no_tag_is_refused_rather_than_left_out() -> None:
    class Unknown:
        pass

    with pytest.raises(LookupError):
        canonical_text(Unknown())

    class Part(Total):
        pass

    column = Column("x", ColumnDomain(DataType.INTEGER, 0, 1))
    with pytest.raises(LookupError):
        canonical_text(Part(column, 0, 1))


SPENDS: tuple[Guarantee, ...] = (
    dp.PureDP(epsilon=1),
    dp.PureDP(epsilon=2),
    dp.ApproxDP(epsilon=1, delta=0),
    dp.ApproxDP(epsilon=1, delta=1e-6),
    dp.ApproxDP(epsilon=1, delta=2e-6),
    dp.ZCDP(rho=1),
    ApproxZCDP(rho=1, delta=1e-6),
    RenyiDP(alpha=2, epsilon=1),
    RenyiDP(alpha=3, epsilon=1),
)
UNITS = (
    dp.Row(),
    Edge(),
    Node(),
    dp.Replace(dp.Row()),
    dp.Person("id"),
    dp.Person("other"),
    dp.Person("id", max_rows=3),
    dp.Person("id", max_rows=4),
    dp.Person("id", max_rows=3, max_groups=2),
    dp.Person("id", max_rows=3, max_rows_per_group=2),
    dp.Person("id", max_rows=3, via="orders.customer"),
    dp.Person("id", max_rows=3, of="patients"),
    dp.Replace(dp.Person("id", max_rows=3)),
)


@pytest.mark.parametrize("values", [SPENDS, UNITS], ids=["spends", "units"])
def test_different_spends_and_units_have_different_texts(values: tuple[Any, ...]) -> None:
    assert len(set(map(canonical_text, values))) == len(values)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (dp.PureDP(epsilon=1), dp.PureDP(epsilon=1.0)),
        (dp.PureDP(epsilon=0.5), dp.PureDP(epsilon=Fraction(1, 2))),
        (dp.PureDP(epsilon=1), dp.PureDP(epsilon=1, unit=dp.Row())),
        ((1, 2.5), (np.int64(1), np.float64(2.5))),
    ],
)
def test_one_number_is_one_text_however_it_is_written(one: Any, two: Any) -> None:
    assert canonical_text(one) == canonical_text(two)


def test_a_door_and_every_named_part_are_told() -> None:
    digests = [
        identity("sql", {"spend": SPENDS[0], "names": ("a", "b")}),
        identity("bounds", {"spend": SPENDS[0], "names": ("a", "b")}),
        identity("sql", {"spend": SPENDS[1], "names": ("a", "b")}),
        identity("sql", {"spend": SPENDS[0], "names": ("b", "a")}),
        identity("sql", {"spend": SPENDS[0], "names": ("a, b",)}),
        identity("sql", {"spend": SPENDS[0], "importance": ("a", "b")}),
        identity("sql", {"spend": SPENDS[0]}),
    ]
    assert len(set(digests)) == len(digests)


def test_a_constant_is_told_with_its_kind() -> None:
    assert canonical(Literal(1)) != canonical(Literal(1.0))
    assert canonical_text((1,)) != canonical_text((True,))


def test_every_aggregate_that_can_be_asked_for_has_a_tag_and_was_tried(
    questions: list[Query],
) -> None:
    """Aggregates live in modules of their own; the registry names them all."""
    listed = {
        each for name in aggregates.__all__ if isinstance(each := getattr(aggregates, name), type)
    }
    parts = {each for each in listed if is_dataclass(each)}
    assert len(parts) > 10
    assert parts <= set(FORMS)
    assert parts <= {kind for query in questions for kind in kinds(query)}


def test_long_lists_that_are_equal_but_not_alike_are_told_apart() -> None:
    """The text of a long list is kept by the list itself: 1, 1.0 and True are equal."""
    lists = [tuple(range(2_000)), tuple(map(float, range(2_000))), (False, True, *range(2, 2_000))]
    assert lists[0] == lists[1] == lists[2]
    blocks = [ColumnDomain(DataType.INTEGER, values=values) for values in lists]
    first = [canonical_text(block) for block in blocks]
    assert len(set(first)) == 3
    assert [canonical_text(block) for block in blocks] == first
    for turn in range(200):
        own = tuple(range(turn, turn + 1_000))
        assert repr(own) in canonical_text(ColumnDomain(DataType.INTEGER, values=own))


@pytest.mark.parametrize(
    "parts",
    [
        {"private": "x", "spend": 1, "snapshot": "s", "rows": (1,)},
        {"snapshot": "s", "private": "x", "snapshots": ("t",)},
        {"private": "x"},
        {},
    ],
)
def test_both_identities_are_those_told_one_by_one(parts: dict[str, object]) -> None:
    assert both_identities("sql", parts) == (identity("sql", parts), any_snapshot("sql", parts))
