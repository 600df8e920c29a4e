"""Rows in private bins: at a price known beforehand, by the bins of their owners, kept and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.audit import BrokenTwin, Finding, LearnedEvents, audit, check_pair, outcome, repeated
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, PureDP
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.grouped_model import CellGroups
from discreet.synthetic.private_groups import BinGrouping
from discreet.synthetic.tables.private_rows import GroupedRows, PrivateRows, law_from_dict

UNIVERSE = Universe.of(age=range(16), cost=range(24))
ABOVE = (BinGrouping("age", 2, missing=False),)
OWN = (BinGrouping("cost", 4, missing=False),)
GROUPS = {"age": CellGroups.of(np.repeat([0, 1], 8), np.ones(16))}


def plan(**more: Any) -> PrivateRows:
    given: dict[str, Any] = {
        "workload": Workload.marginals(UNIVERSE, 1),
        "spend": PureDP(epsilon=4),
        "size": NoisyRecordCount(),
        "given": ("age",),
        "above": ABOVE,
        "own": OWN,
    }
    return PrivateRows(**given | more)


def counts() -> Any:
    """The young have costs 0 to 11, the old 12 to 23; twenty of each age and cost."""
    found = np.zeros(UNIVERSE.shape, dtype=np.int64)
    found[:8, :12] = 20
    found[8:, 12:] = 20
    return found


def test_rows_follow_the_bins_of_their_owners_and_keep_the_cells_of_these() -> None:
    law = plan().release(counts(), GROUPS)
    ages = np.repeat(np.arange(16), 200)[:, None]
    rows = law.sample_given(ages)
    assert (rows[:, 0] == ages[:, 0]).all()
    young = rows[rows[:, 0] < 8, 1]
    old = rows[rows[:, 0] >= 8, 1]
    assert (young < 12).mean() > 0.9
    assert (old >= 12).mean() > 0.9
    assert len(set(rows[:, 1])) > 16  # cells, not bins


def test_the_price_is_that_of_the_parts_and_hides_all_rows_of_a_person() -> None:
    for records in (1, 5):
        made = plan(spend=ZCDP(rho=1), records=records)
        assert 0.99 < ZERO_CONCENTRATED.price(made.event) <= 1
        assert made.inner.noise.event in _parts(made.event)
        assert made.inner.records == made.inner.inner.records == records
        assert made.inner.inner.workload.universe.shape == (2, 4)
    bins = made.budget_split["bins"]
    assert bins == pytest.approx(0.1)
    assert sum(made.budget_split.values()) == pytest.approx(1)
    only_above = plan(own=())
    assert only_above.event == only_above.inner.event
    assert only_above.inner.workload.universe.shape == (2, 24)
    assert "bins" not in only_above.budget_split


def test_a_law_is_kept_and_read_again() -> None:
    law = plan().release(counts(), GROUPS)
    read = law_from_dict(law.to_dict(), UNIVERSE, law.event)
    assert isinstance(read, GroupedRows)
    assert read.to_dict() == law.to_dict()
    assert read.given == law.given == (0,)
    with pytest.raises(InvalidParameter):
        law_from_dict({"synopsis": "grouped rows/1"}, UNIVERSE, law.event)


def test_more_bins_than_cells_and_shares_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        plan(own=(BinGrouping("cost", 24, missing=False),))
    with pytest.raises(InvalidParameter):
        plan(share=Fraction(3, 2))


@dataclass(frozen=True, kw_only=True)
class HidesOneRow(PrivateRows):
    """A twin whose noise is that of one row of a person; its claim is for ten."""

    @cached_property
    def inner(self) -> Any:
        return replace(super().inner, records=1)


@pytest.mark.audit
def test_a_twin_that_hides_one_row_of_a_person_is_refuted() -> None:
    """A person with ten rows of one cost. A true claim is refuted with probability 1e-9."""
    one = np.zeros(UNIVERSE.shape, dtype=np.int64)
    one[0, ::6] = 3
    other = one.copy()
    other[0, 23] += 10

    def release_of(made: PrivateRows) -> Callable[[Any], object]:
        def release(counts: Any) -> object:
            share = made.release(counts, GROUPS).grouped["cost"].share
            return int(8 * share[-1])

        return release

    def auditor(release: Callable[[Any], object]) -> Finding:
        return audit(
            repeated(release),
            one,
            other,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=1500,
            confidence=1 - 1e-9,
        )

    terms: dict[str, Any] = {"records": 10, "share": Fraction(9, 10), "spend": PureDP(epsilon=1)}
    kept = {name: getattr(plan(), name) for name in ("workload", "size", "given", "above", "own")}
    twin = BrokenTwin(
        "rows in bins",
        sound=release_of(plan(**terms)),
        broken=release_of(HidesOneRow(**kept, **terms)),
        why="a person has ten rows, and noise hides one",
    )
    check_pair(twin, auditor)


def _parts(event: Any) -> list[Any]:
    return [event, *(part for each in getattr(event, "parts", ()) for part in _parts(each))]
