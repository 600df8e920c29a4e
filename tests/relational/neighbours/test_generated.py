"""Removing, adding or exchanging any one unit moves no vector by more than was declared.

Tables, units, salts, spends and questions are generated; each question is asked of the database
and of every one of its neighbours, in the engine.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit
from tests.relational.neighbours.plans import PEOPLE, ROUTED, ROWS, plans
from tests.relational.neighbours.tables import (
    Rows,
    both,
    item,
    order,
    people_units,
    routed,
    row_units,
    stay,
    visit,
    visits,
)
from tests.relational.neighbours.worlds import breaches

spends = st.sampled_from(
    [
        dp.PureDP(epsilon=1),
        dp.PureDP(epsilon=1e-3),
        dp.ZCDP(rho=0.5),
        dp.ApproxDP(epsilon=1, delta=1e-6),
        dp.RenyiDP(alpha=4, epsilon=2),
    ]
)
salts = st.integers(0, 2**62 - 1)
any_visits = st.lists(visit, min_size=2, max_size=9)
any_stays = st.lists(stay, max_size=5)
any_orders = st.lists(order, min_size=1, max_size=5, unique_by=lambda row: row[0])
any_items = st.lists(item, max_size=7)
bounds = st.fixed_dictionaries(
    {"max_rows": st.integers(1, 4)},
    optional={"max_groups": st.integers(1, 2), "max_rows_per_group": st.integers(1, 2)},
)

_QUIET = settings(suppress_health_check=list(HealthCheck))
by_row = given(any_visits, row_units, st.lists(plans(ROWS), min_size=3, max_size=3), spends, salts)
by_person = given(
    any_visits,
    any_stays,
    people_units,
    st.lists(plans((*ROWS, *PEOPLE)), min_size=3, max_size=3),
    spends,
    salts,
)
by_route = given(
    any_orders, any_items, bounds, st.lists(plans(ROUTED), min_size=3, max_size=3), spends, salts
)


@settings(_QUIET, max_examples=40)
@by_row
def test_each_row_a_unit(
    rows: Rows, unit: PrivacyUnit, questions: list[str], spend: Guarantee, salt: int
) -> None:
    setting = visits(rows, unit)
    assert breaches(setting, *questions, spend=spend, salt=salt, refusals=[]) == []


@settings(_QUIET, max_examples=50)
@by_person
def test_people_with_bounds(
    rows: Rows,
    others: Rows,
    unit: PrivacyUnit,
    questions: list[str],
    spend: Guarantee,
    salt: int,
) -> None:
    setting = both(rows, others, unit)
    assert breaches(setting, *questions, spend=spend, salt=salt, refusals=[]) == []


@settings(_QUIET, max_examples=15)
@by_route
def test_people_through_foreign_keys(
    orders: Rows,
    items: Rows,
    limits: dict[str, int],
    questions: list[str],
    spend: Guarantee,
    salt: int,
) -> None:
    setting = routed(orders, items, **limits)
    assert breaches(setting, *questions, spend=spend, salt=salt, refusals=[]) == []


@pytest.mark.slow
@settings(_QUIET, max_examples=600)
@by_row
def test_each_row_a_unit_at_length(
    rows: Rows, unit: PrivacyUnit, questions: list[str], spend: Guarantee, salt: int
) -> None:
    setting = visits(rows, unit)
    assert breaches(setting, *questions, spend=spend, salt=salt, refusals=[]) == []


@pytest.mark.slow
@settings(_QUIET, max_examples=900)
@by_person
def test_people_with_bounds_at_length(
    rows: Rows,
    others: Rows,
    unit: PrivacyUnit,
    questions: list[str],
    spend: Guarantee,
    salt: int,
) -> None:
    setting = both(rows, others, unit)
    assert breaches(setting, *questions, spend=spend, salt=salt, refusals=[]) == []


@pytest.mark.slow
@settings(_QUIET, max_examples=200)
@by_route
def test_people_through_foreign_keys_at_length(
    orders: Rows,
    items: Rows,
    limits: dict[str, int],
    questions: list[str],
    spend: Guarantee,
    salt: int,
) -> None:
    setting = routed(orders, items, **limits)
    assert breaches(setting, *questions, spend=spend, salt=salt, refusals=[]) == []
