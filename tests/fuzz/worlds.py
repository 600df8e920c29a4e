"""Random questions asked of neighbouring databases: no declared reach exceeded, no failure in one.

The worlds, the exact vectors and the norms are those of ``tests/relational/neighbours``; here are
random tables and units, keys that are discovered, rankings, and parts of a table.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, cast
from unittest.mock import patch

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit, Replace
from discreet.curator.sub_budgets.division import line_of
from discreet.relational.bounding.partition_filter import (
    Assignment,
    EveryPart,
    FirstParts,
    SomeParts,
)
from discreet.relational.execute.candidate_keys import candidates
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.execute.left_out import left_out_exactly
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.scope import Division, Scope
from discreet.relational.planning.discovered_keys import Discovering, planned_query_for
from discreet.relational.planning.left_out import PlannedLeftOut
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.together import PlannedTogether
from discreet.relational.planning.top_k import Ranking
from discreet.relational.schema.sources import InMemory
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql import public_subqueries
from discreet.relational.sql.privacy_clause import opened
from discreet.relational.types.expression import Expression
from tests.fuzz.clauses import Clauses
from tests.fuzz.derived import Derived, random_derived
from tests.fuzz.grammar import DAY, NUMBER, TRUTH
from tests.fuzz.vocabulary import STORED, merged
from tests.relational.engine_with_rows import EngineWithRows
from tests.relational.neighbours.left_out import Report
from tests.relational.neighbours.tables import (
    DAYS,
    NOTES,
    PEOPLE,
    REALS,
    TALLIES,
    WORDS,
    keyed,
    routed,
)
from tests.relational.neighbours.worlds import (
    Exact,
    Setting,
    Stand,
    apart,
    exchanges,
    one_way,
    people,
    without,
)

SPENDS: Sequence[Guarantee] = (
    dp.PureDP(epsilon=1),
    dp.ZCDP(rho=0.5),
    dp.ApproxDP(epsilon=1, delta=1e-6),
    dp.ApproxDP(epsilon=0.01, delta=1e-9),
    dp.ApproxDP(epsilon=2, delta=1e-4),
)
FAR = 2**53
_LISTS = (*NOTES, "A;A;B;;A", ";x;A")
_TEXT = dp.Text(max_elements=2, elements=dp.Category(["A", "B", ""]))
LONGEST = 25_000
"""Letters of the engine's texts for one question, so that a trial stays quick."""


@dataclass
class Tried:
    """What was asked, what it was made of, and what was wrong.

    ``clauses`` were drawn, ``accepted`` are those of questions that were not refused.
    """

    asked: int = 0
    neighbours: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    steps: set[str] = field(default_factory=set)
    clauses: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def random_setting(draw: random.Random) -> tuple[Setting, Sequence[str], bool]:
    """A database of few rows at their extremes, its private tables, whether rows have people."""
    unit = _unit(draw)
    if draw.random() < 0.12:
        orders = [(key, draw.choice(PEOPLE), draw.choice(WORDS)) for key in range(1, 7)]
        items = [
            (draw.choice((None, *range(1, 8))), draw.choice(TALLIES), draw.choice(WORDS))
            for _ in range(draw.randint(2, 10))
        ]
        made = routed(
            orders,
            items,
            below=draw.choice((None, {"max_rows": draw.randint(1, 4)})),
            max_rows=draw.randint(1, 4),
            max_groups=draw.choice((None, 1, 2)),
        )
        return made, ("items",), True
    rows = [
        (
            *(draw.choice(PEOPLE), draw.choice(WORDS), draw.choice(("p", "q", "r", None))),
            *(draw.choice((True, False, None)), draw.choice((*TALLIES, FAR, -FAR))),
            *(draw.choice((*REALS, 1e120, -1e120)), draw.choice(DAYS), draw.choice(_LISTS)),
            draw.choice((*REALS, 1e120, -1e120)),
        )
        for _ in range(draw.randint(2, 10))
    ]
    others = [
        (draw.choice(PEOPLE), draw.choice(WORDS), draw.choice(TALLIES), draw.choice(NOTES))
        for _ in range(draw.randint(0, 6))
    ]
    made = keyed(rows, others, unit, draw.randint(1, 3), draw.randint(1, 3))
    table = made.private["t"]
    declared = dict(table.columns)
    if draw.random() < 0.75:
        declared |= {"x": dp.Number(-FAR, FAR), "y": dp.Number(-1e120, 1e120)}
    if draw.random() < 0.8:
        declared |= {"z": draw.choice((dp.Number(-1e120, 1e120), dp.Number(0, 1e120)))}
    note = draw.choice((None, dp.Discovered(), dp.Discovered(), _TEXT))
    if note is not None:
        declared["note"] = note
    fixed = draw.sample(["w", "c", "f"], draw.randint(0, 2)) if _person(unit) else []
    table = replace(table, columns=declared, fixed_per_person=fixed, unit=_told(draw, unit))
    made = replace(made, private={**made.private, "t": table})
    if _person(unit) and draw.random() < 0.5:
        other = replace(made.private["u"], unit=_limited(draw, unit))
        made = replace(made, private={**made.private, "u": other})
    return made, ("t", "u"), isinstance(_plain(unit), dp.Person)


def with_derived(draw: random.Random, setting: Setting, derived: Derived) -> Setting:
    """The same database, with columns that its owner derives; some are fixed per person."""
    if not derived.texts:
        return setting
    table = setting.private["t"]
    new = sorted(derived.declared)
    fixed = [name for name in new if draw.random() < 0.3] if _person(table.unit) else []
    table = replace(
        table,
        columns={**table.columns, **derived.declared},
        derived=derived.texts,
        fixed_per_person=(*table.fixed_per_person, *fixed),
    )
    return replace(setting, private={**setting.private, "t": table})


def _unlisted(setting: Setting) -> tuple[str, ...]:
    """Columns whose values are to be discovered."""
    return tuple(
        name
        for table in setting.private.values()
        for name, declared in table.columns.items()
        if isinstance(declared, dp.Discovered)
    )


def _person(unit: PrivacyUnit) -> bool:
    return isinstance(_plain(unit), dp.Person)


def _limited(draw: random.Random, unit: PrivacyUnit) -> PrivacyUnit:
    """The same people under other limits, for another table of theirs."""
    person = dp.Person("pid", max_rows=draw.randint(1, 6), max_groups=draw.choice((None, 1, 2)))
    return Replace(person) if isinstance(unit, Replace) else person


def _told(draw: random.Random, unit: PrivacyUnit) -> PrivacyUnit:
    """Sometimes with a column that the owner says tells rows apart, which it does not."""
    inside = _plain(unit)
    row = draw.choice((None, "note", "x", "z", "d"))
    if not isinstance(inside, dp.Person) or row is None:
        return unit
    person = replace(inside, row=row)
    return Replace(person) if isinstance(unit, Replace) else person


def _plain(unit: PrivacyUnit) -> PrivacyUnit:
    return unit.unit if isinstance(unit, Replace) else unit


def _unit(draw: random.Random) -> PrivacyUnit:
    unit: dp.Row | dp.Person = dp.Row()
    if draw.random() < 0.75:
        unit = dp.Person(
            "pid",
            max_rows=draw.randint(1, 4),
            max_groups=draw.choice((None, 1, 2, 3)),
            max_rows_per_group=draw.choice((None, 1, 2)),
        )
    return Replace(unit) if draw.random() < 0.3 else unit


def tried(
    seed: int,
    *,
    questions: int = 3,
    depth: int = 3,
    focus: Sequence[str] = (),
    steps: Sequence[str] = (),
    home: EngineWithRows | None = None,
    most_units: int = 3,
    generator: type[Clauses] = Clauses,
    wanted: Collection[str] = (),
) -> Tried:
    """One random database, asked a few random questions in some of its neighbours."""
    draw, found = random.Random(seed), Tried()
    setting, tables, owned = random_setting(draw)
    derived = random_derived(draw, STORED) if "t" in tables and draw.random() < 0.6 else Derived()
    untyped = home is None and draw.random() < 0.3
    with patch.object(InMemory, "typed", not untyped):  # as if the rows lay in a text file
        try:
            stand = Stand(with_derived(draw, setting, derived), home)
        except DiscreetError as refusal:
            found.refused[f"derived: {refusal.code}"] += 1
            stand, derived = Stand(setting, home, tag="plain"), Derived()
    columns = derived.columns
    if untyped and "t" in tables and "note" not in setting.private["t"].columns:
        columns = merged(columns, dict.fromkeys((NUMBER, TRUTH, DAY), ("note",)))
    written_out = draw.choice((0, public_subqueries.MAX_WRITTEN_OUT))
    try:
        setting = stand.setting
        units = people(setting, setting.frames)
        units = draw.sample(units, min(most_units, len(units)))
        worlds = {who: stand.add(without(setting, setting.frames, who)) for who in units}
        drawn = generator(draw, tables, owned, focus, steps, _unlisted(setting), columns, wanted)
        with patch.object(public_subqueries, "MAX_WRITTEN_OUT", written_out):
            for _ in range(questions):
                text = drawn.query(draw.randint(min(1, depth), depth))
                clauses = drawn.clauses | _derived(text, derived)
                if columns is not derived.columns and re.search(r"\br\d+\.note\b", text):
                    clauses.add("untyped field")
                found.clauses |= clauses
                if ask(stand, text, draw, worlds, found):
                    found.accepted |= clauses
    finally:
        stand.close()
    return found


def ask(
    stand: Stand,
    text: str,
    draw: random.Random,
    worlds: dict[object, int],
    found: Tried,
) -> bool:
    """Put one question to every world, unless it is refused; whether it was asked.

    Sometimes with a report of what limits left out, which is held to what it declares as well.
    """
    # Keys are discovered with a delta alone.
    spends = SPENDS[2:] if _unlisted(stand.setting) else SPENDS
    spend, salt = draw.choice(spends), draw.getrandbits(62)
    stand.engine.seen = 0
    try:
        scope = _scope(stand, draw) if draw.random() < 0.15 else Scope()
        plain, clause = opened(text)
        query = scope.question(plain, stand.database)
        query = query if clause is None else clause.narrowed(query)
        planned = planned_query_for(query, spend, MOST_ROWS)
        planned.preflight(stand.database)
        if sum(map(len, planned.texts(stand.database))) > LONGEST:
            found.refused["too long for this test"] += 1
            return False
    except DiscreetError as refusal:
        found.refused[refusal.code] += 1
        return False
    except Exception as fault:  # the fuzzer's quarry
        found.faults.append(f"{type(fault).__name__} {fault} before data is opened: {text}")
        return False
    found.asked += 1
    found.neighbours += len(worlds)
    found.steps.add(type(planned).__name__)
    for part in parts_of(planned):
        found.steps |= steps_of(part.query.rows)
        found.functions |= functions_of(part)
        for breach in faults(stand, part, worlds, salt):
            found.faults.append(f"{breach}: {stand.setting.unit} {spend}: {text}")
    report = _report(draw, planned)
    if report is not None:
        found.accepted.add("left out")
        for breach in _told_apart(stand, report, worlds, salt):
            found.faults.append(f"{breach}: {stand.setting.unit} {report.requested_report}: {text}")
    return True


def parts_of(planned: PlannedQuery) -> Sequence[PlannedQuery]:
    """The queries that a question needs."""
    return planned.batch.planned if isinstance(planned, PlannedTogether) else (planned,)


def _report(draw: random.Random, planned: PlannedQuery) -> PlannedLeftOut | None:
    """Sometimes a report of a question with listed keys, with caps that are soon exceeded."""
    if draw.random() >= 0.25 or not isinstance(planned.query.keys, KeySet):
        return None
    rows, groups = draw.choice((None, 1, 3)), draw.choice((None, 1, 2))
    asked = LeftOut(share=0.1, rows_at_most=rows, groups_at_most=groups)
    spend = dp.PureDP(epsilon=1)
    try:
        return PlannedLeftOut(asked, planned, spend, spend)
    except DiscreetError:
        return None  # no limit can act, or there are several queries


def _told_apart(
    stand: Stand, report: PlannedLeftOut, worlds: dict[object, int], salt: int
) -> Iterator[str]:
    """How the reports of neighbours differ by more than declared."""
    about, told = Report(report), []
    for world in (0, *worlds.values()):
        stand.engine.seen = world
        counted = report.make_report_query(about.query)
        try:
            exact = left_out_exactly(counted, report.limits, report.caps, stand.engine, salt=salt)
        except Exception as failure:  # any of them is an oracle
            yield f"the report fails: {type(failure).__name__} {str(failure)[:150]}"
            return
        told.append(Exact(exact, ()))
    replaced = isinstance(about.query.unit, Replace)
    pairs = combinations(told[1:], 2) if replaced else ((told[0], other) for other in told[1:])
    for first, second in pairs:
        yield from (f"report: {fault}" for fault in apart(cast(Any, about), first, second))


def _derived(text: str, derived: Derived) -> set[str]:
    """Which kinds of derived columns a question names."""
    new = {name for names in derived.columns.values() for name in names}
    named = {name for name in derived.texts if re.search(rf"\br\d+\.{name}\b", text)}
    return {"derived column" if name in new else "hiding column" for name in named}


def _scope(stand: Stand, draw: random.Random) -> Scope:
    """A part of one of the tables."""
    table, by = draw.choice((("t", "w"), ("t", "f"), ("u", "k"), ("t", "month(d)")))
    if table not in stand.setting.private:
        return Scope()
    line = line_of(table, by, stand.database)
    assignment: Assignment = EveryPart()
    if isinstance(_plain(stand.setting.unit), dp.Person):
        assignment = draw.choice((SomeParts(1, 7), SomeParts(2, 7), FirstParts(1)))
    division = Division(line.scan.table, line.scan.prefix, line.part, line.values, assignment)
    return Scope().part(division, draw.choice(line.values))


# What one unit changes -------------------------------------------------------------------------


def faults(
    stand: Stand, planned: PlannedQuery, worlds: dict[object, int], salt: int
) -> Iterator[str]:
    """How neighbours differ by more than declared, or fail."""
    vectors: dict[object, Any] = {}
    for who, world in {None: 0, **worlds}.items():
        stand.engine.seen = world
        try:
            vectors[who] = _measured(stand, planned, salt)
        except Exception as failure:  # any of them is an oracle
            yield f"the engine fails with {who} away: {type(failure).__name__} {str(failure)[:150]}"
    base = vectors.pop(None, None)
    if base is None:
        return
    if isinstance(planned.query.unit, Replace):
        pairs = list(combinations(vectors.values(), 2))
    else:
        pairs = [(base, other) for other in vectors.values()]
    for first, second in pairs:
        yield from _apart(stand, planned, first, second, salt)


def _measured(stand: Stand, planned: PlannedQuery, salt: int) -> Any:
    """What the release would look at: exact vectors, counts by key, or counts to rank."""
    engine = stand.engine
    if isinstance(planned, Ranking):
        made = aggregate_exactly(
            planned.query, [planned.measure], [], planned.bounded_person, engine, salt=salt
        )
        return made.linear[0].tolist()
    if isinstance(planned, Discovering):
        assert planned.sought is not None
        groups = None if planned.person is None else planned.presence.groups
        made_of = candidates(planned.sought, planned.query.rows, groups, engine, salt=salt)
        every = made_of.people >= 0
        entries, order = made_of.entries(every)
        counts = dict(zip(entries, made_of.people[order].tolist(), strict=True))
        return counts, engine.seen
    return stand.exact(planned, engine.seen, salt)


def _apart(
    stand: Stand, planned: PlannedQuery, first: Any, second: Any, salt: int
) -> Iterator[str]:
    if isinstance(planned, Ranking):
        sizes = [b - a for a, b in zip(first, second, strict=True)]
        swaps = 2 if isinstance(planned.query.unit, Replace) else 1
        if max(map(abs, sizes), default=0) > planned.farthest * swaps:
            yield f"Ranking: {sizes} moves by more than {planned.farthest}"
        return
    if isinstance(planned, Discovering):
        yield from _keys_apart(stand, planned, first, second, salt)
        return
    assert isinstance(first, Exact)
    yield from apart(planned, first, second)
    added = isinstance(planned.query.unit, Replace) or exchanges(planned.query.rows)
    if not added and not one_way(first, second):
        yield "ranks gained rows"


def _keys_apart(
    stand: Stand, planned: Discovering, first: Any, second: Any, salt: int
) -> Iterator[str]:
    (before, one), (after, other) = first, second
    sizes = [abs(before.get(key, 0) - after.get(key, 0)) for key in {**before, **after}]
    contributions = planned.presence
    if sum(sizes) > contributions.l1(1) or max(sizes, default=0) > contributions.linf(1):
        yield f"Discovering: {sizes} against {contributions}"
    entries = tuple(dict.fromkeys((*before, *after)))
    if entries and planned.shares[1] is not None:
        about = replace(planned, query=planned._about(entries))
        vectors = []
        for world in (one, other):
            stand.engine.seen = world
            vectors.append(stand.exact(about, world, salt))
        yield from apart(planned, *vectors)


# What a question is made of ----------------------------------------------------------------------


def steps_of(rows: PlanNode) -> set[str]:
    """The names of the steps of a plan."""
    return {type(rows).__name__}.union(*map(steps_of, rows.inputs))


def functions_of(planned: PlannedQuery) -> set[str]:
    """The names of the functions in keys, measures and steps."""
    keys = planned.query.keys
    blocks = keys.blocks if isinstance(keys, KeySet) else ()
    found = [e for block in blocks for e in block.expressions]
    for aggregate in planned.query.aggregates:
        for measure in aggregate.measures:
            argument = getattr(measure, "argument", None)
            if argument is not None:
                found.append(argument)
    waiting: list[Any] = [planned.query.rows]
    while waiting:
        rows = waiting.pop()
        waiting += rows.inputs
        for value in vars(rows).values():
            found += _expressions(value)
    return set().union(*map(_names, found)) if found else set()


def _expressions(value: Any) -> list[Expression]:
    if isinstance(value, tuple):
        return [each for part in value for each in _expressions(part)]
    return [value] if hasattr(value, "domain") and hasattr(value, "args") else []


def _names(expression: Expression) -> set[str]:
    function = getattr(expression, "function", None)
    own = {function.name} if function is not None else set()
    return own.union(*map(_names, expression.args)) if expression.args else own
