"""Which limits can act on a question: from its plan and the declarations alone, never from data.

A limit that nobody can exceed, whatever the tables hold, is not listed: rows that are people, one
row of a person computed, groups that are fewer than the limit. That a person has one row is a
declaration like others: it is enforced, so it can act, and is listed.

Source: contract, "Bounding inside the engine", "What may be seen".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from discreet.core.unit import Person, add_remove
from discreet.relational.aggregates.measures import (
    CountPeople,
    CountValues,
    Measure,
    Ranks,
    ValuesTotal,
)
from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.contributions import bounds_of_person, bounds_of_presence
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.row_weights import ensured_rows
from discreet.relational.plan.features import PerPerson, one_row_in_each
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.together import PlannedTogether
from discreet.relational.planning.top_k import Ranking
from discreet.release.active_limits import LimitKind

Fact = dict[str, Any]


def active_limits(planned: PlannedQuery) -> list[Fact]:
    """Limits on rows and groups that can act, each once: of steps of the plan, then the last."""
    found: list[Fact] = []
    for part in planned.batch.planned if isinstance(planned, PlannedTogether) else (planned,):
        unit = add_remove(part.query.unit)
        person = unit if isinstance(unit, Person) else None
        found += [*_steps(part.query.rows, None, person), *last_limits(part)]
    return [fact for place, fact in enumerate(found) if fact not in found[:place]]


def last_limits(planned: PlannedQuery) -> list[Fact]:
    """Those by which a person's rows are bounded last, before they are added up."""
    person, measures = planned.query.person, _measures(planned)
    if isinstance(planned, Ranking) and isinstance(planned.measure, CountPeople):
        return []  # people are counted in all of their keys
    if person is None:
        return []
    made = ensured_rows(planned.query.rows)
    most = math.inf if made is None else made
    found: list[Fact] = []
    if any(not isinstance(measure, CountPeople) for measure in measures):
        found += _of_rows(planned, person, most)
    if isinstance(planned, Discovering) or any(isinstance(m, CountPeople) for m in measures):
        found += _of_presence(planned, person, most)
    return found


def samples_rows(planned: PlannedQuery) -> bool:
    """Whether some column needs whole rows, of which people keep some."""
    return any(isinstance(m, Ranks | CountValues | ValuesTotal) for m in _measures(planned))


def _measures(planned: PlannedQuery) -> list[Measure]:
    return [measure for each in planned.query.aggregates for measure in each.measures]


def _of_rows(planned: PlannedQuery, person: Person, made: float) -> Iterator[Fact]:
    """Limits on what is added up, or chosen, over rows."""
    cells, rows = planned.cells, person.rows()
    groups, each = person.max_groups, person.max_rows_per_group
    narrow = each is not None and each < rows
    once = one_row_in_each(planned.query.rows, planned.query.keys)
    if each is not None and narrow and not once and made > each:
        yield _limit(LimitKind.ROWS_PER_GROUP, person, each)
    inside = min(cells, cells if groups is None else groups) * min(each or rows, rows)
    if made > rows and not (narrow and inside <= rows):
        yield _limit(LimitKind.ROWS, person, rows)
    if groups is not None and min(made, cells) > groups:
        free = bounds_of_person(replace(person, max_groups=None), cells, planned.query.unit)
        bounded = bounds_of_person(person, cells, planned.query.unit)
        if bounded.rows < free.rows or samples_rows(planned):
            yield _groups(planned, person, groups)


def _of_presence(planned: PlannedQuery, person: Person, made: float) -> Iterator[Fact]:
    """The limit on groups in which a person is counted once."""
    most = bounds_of_presence(person, planned.cells, planned.query.unit).rows
    if min(made, planned.cells) <= most:
        return
    if person.max_groups == most:
        yield _groups(planned, person, most)
    else:
        yield _limit(LimitKind.GROUPS_BY_ROWS, person, most)


def _groups(planned: PlannedQuery, person: Person, most: int) -> Fact:
    unit = add_remove(planned.query.unit)
    assert isinstance(unit, Person)
    if most == 1 and unit.max_groups != 1:
        return {"limit": LimitKind.FIXED.value, "of": person.id}
    return _limit(LimitKind.GROUPS, person, most)


def _steps(rows: PlanNode, above: PlanNode | None, person: Person | None) -> Iterator[Fact]:
    """Limits inside the plan, from the tables up."""
    for below in rows.inputs:
        yield from _steps(below, rows, person)
    if isinstance(rows, Truncated):
        yield {"limit": LimitKind.PER_KEY.value, "most": rows.limit}
    elif isinstance(rows, Unnested) and rows.rows.stability != 0 and _has_more(rows):
        yield {"limit": LimitKind.ELEMENTS.value, "of": rows.field.name, "most": rows.most}
    elif isinstance(rows, Limited | Bounded) and person is not None and _acts(rows):
        kind = LimitKind.BEFORE_JOIN if isinstance(rows, Limited) else LimitKind.STEP
        kind = LimitKind.FEATURES if isinstance(above, PerPerson) else kind
        yield _limit(kind, person, rows.limit)


def _has_more(rows: Unnested) -> bool:
    """Whether a text can have more elements than count, of those that the question asks for."""
    if rows.asked == rows.most:
        return False
    listed = rows.text.domain.values
    if listed is not None:
        return any(str(text).count(rows.separator) >= rows.most for text in listed)
    return rows.text.domain.letters // len(rows.separator) >= rows.most


def _acts(rows: Bounded | Limited) -> bool:
    """Whether somebody may have more rows below."""
    made = ensured_rows(rows.rows)
    return made is None or made > rows.limit


def _limit(kind: LimitKind, person: Person, most: int) -> Fact:
    return {"limit": kind.value, "of": person.id, "most": most}
