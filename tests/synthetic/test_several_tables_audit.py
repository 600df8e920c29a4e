"""Audits of several tables: the claim is for a person with all rows, and a twin is caught.

Neighbours: four people without visits, and one more person with ten visits to one ward. What is
looked at is the law of wards and the number of people. A true claim is refuted with probability at
most 1e-9 in each audit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

import discreet as dp
from discreet.audit import BrokenTwin, Finding, LearnedEvents, audit, check_pair, outcome, repeated
from discreet.queries.workload.universe import Universe
from discreet.synthetic.conditional_network import ConditionalNetwork
from discreet.synthetic.privbayes import ConditionalPrivBayes
from discreet.synthetic.tables.person_tables import OwnedRows, PersonTables
from discreet.synthetic.tables.several_tables import ChildTable, SeveralTables

EPSILON = 1.0
LIMIT = 10
Release = Callable[[PersonTables], object]


def people(visits: int, number: int) -> PersonTables:
    """The last person has all visits, to the second ward."""
    owners = np.full(visits, number - 1, dtype=np.int64)
    rows = OwnedRows(owners, np.ones((visits, 1), dtype=np.int64))
    return PersonTables(np.zeros((number, 1), dtype=np.int64), {"visits": rows})


@dataclass(frozen=True)
class HidesOneRow(SeveralTables):
    """Scales the noise of rows for one row of a person, as if each had one."""

    @cached_property
    def child_synthesisers(self) -> tuple[ConditionalPrivBayes, ...]:
        return tuple(replace(each, records=1) for each in super().child_synthesisers)


def release_of(kind: type[SeveralTables]) -> Release:
    plan = kind(
        parent=Universe.of(sex=range(2)),
        children=(ChildTable("visits", Universe.of(ward=range(2)), limit=LIMIT, share=3),),
        spend=dp.PureDP(epsilon=EPSILON),
    )

    def release(data: PersonTables) -> object:
        model = plan.release(data)
        rows = model.rows["visits"]
        assert isinstance(rows, ConditionalNetwork)
        (law,) = rows.conditionals
        shares = law.table.reshape(-1, 2)[0]
        return int(4 * shares[1]), min(12, max(0, round(model.people.total)))

    return release


def auditor_of(x: PersonTables, y: PersonTables, trials: int) -> Callable[[Release], Finding]:
    def auditor(release: Release) -> Finding:
        return audit(
            repeated(release),
            x,
            y,
            epsilon=EPSILON,
            delta=0,
            events=LearnedEvents(outcome),
            trials=trials,
            confidence=1 - 1e-9,
        )

    return auditor


@pytest.mark.audit
def test_a_twin_that_hides_one_row_of_a_person_is_refuted() -> None:
    twin = BrokenTwin(
        "several tables",
        sound=release_of(SeveralTables),
        broken=release_of(HidesOneRow),
        why="a person has ten visits, and noise hides one",
    )
    check_pair(twin, auditor_of(people(LIMIT, 5), people(0, 4), 3000))
