"""Removing, adding or exchanging any one unit moves no vector by more than was declared.

Tables, units, salts, spends and questions are generated; each question is asked of the database
and of every one of its neighbours, in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.guarantee import Guarantee
from tests.relational.neighbours.plans import (
    FEATURES,
    KEYED,
    LEVELS,
    LIMITED,
    PEOPLE,
    ROUTED,
    ROWS,
    plans,
)
from tests.relational.neighbours.tables import (
    both,
    item,
    keyed,
    limited,
    order,
    people_units,
    routed,
    row_units,
    stay,
    unit_pairs,
    visit,
    visits,
)
from tests.relational.neighbours.worlds import Setting, breaches


@dataclass(frozen=True)
class Trial:
    """A database and what is asked about it."""

    setting: Setting
    questions: list[str]
    spend: Guarantee
    salt: int

    def breaches(self) -> list[str]:
        """What the checker finds; refused questions are passed over."""
        return breaches(
            self.setting, *self.questions, spend=self.spend, salt=self.salt, refusals=[]
        )


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


def three(plan: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(plan, min_size=3, max_size=3)


by_row = st.builds(
    Trial, st.builds(visits, any_visits, row_units), three(plans(ROWS)), spends, salts
)
by_person = st.builds(
    Trial,
    st.builds(both, any_visits, any_stays, people_units),
    three(plans((*ROWS, *PEOPLE), people=True)),
    spends,
    salts,
)
by_route = st.builds(
    Trial,
    st.builds(
        lambda orders, items, limits: routed(orders, items, **limits),
        any_orders,
        any_items,
        bounds,
    ),
    three(plans(ROUTED)),
    spends,
    salts,
)

by_key = st.builds(
    Trial,
    st.builds(
        keyed, any_visits, any_stays, people_units | row_units, st.integers(1, 3), st.integers(1, 3)
    ),
    three(plans(KEYED)),
    spends,
    salts,
)
by_feature = st.builds(
    Trial,
    st.builds(both, any_visits, any_stays, people_units),
    three(plans(FEATURES, people=True)),
    spends,
    salts,
)

by_limits = st.builds(
    Trial,
    st.builds(
        limited,
        any_visits,
        any_stays,
        unit_pairs,
        st.lists(st.sampled_from(["w", "f", "x"]), max_size=2, unique=True),
        st.none() | st.fixed_dictionaries({"note": st.integers(1, 2)}),
    ),
    three(plans((*ROWS, *PEOPLE, *FEATURES, *LIMITED), people=True)),
    spends,
    salts,
)
by_level = st.builds(
    Trial,
    st.builds(
        lambda orders, items, limits, below: routed(orders, items, below=below, **limits),
        any_orders,
        any_items,
        bounds,
        bounds,
    ),
    three(plans((*ROUTED, *LEVELS))),
    spends,
    salts,
)

_QUIET = settings(suppress_health_check=list(HealthCheck))


@settings(_QUIET, max_examples=14)
@given(by_row)
def test_each_row_a_unit(trial: Trial) -> None:
    assert trial.breaches() == []


@settings(_QUIET, max_examples=18)
@given(by_person)
def test_people_with_bounds(trial: Trial) -> None:
    assert trial.breaches() == []


@settings(_QUIET, max_examples=9)
@given(by_route)
def test_people_through_foreign_keys(trial: Trial) -> None:
    assert trial.breaches() == []


@settings(_QUIET, max_examples=14)
@given(by_limits)
def test_tables_with_limits_of_their_own(trial: Trial) -> None:
    assert trial.breaches() == []


@settings(_QUIET, max_examples=9)
@given(by_level)
def test_levels_with_limits_of_their_own(trial: Trial) -> None:
    assert trial.breaches() == []


@settings(_QUIET, max_examples=8)
@given(by_key)
def test_private_tables_joined_on_another_key(trial: Trial) -> None:
    assert trial.breaches() == []


@settings(_QUIET, max_examples=6)
@given(by_feature)
def test_features_of_people(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=600)
@given(by_limits)
def test_tables_with_limits_of_their_own_at_length(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=200)
@given(by_level)
def test_levels_with_limits_of_their_own_at_length(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=300)
@given(by_key)
def test_private_tables_joined_on_another_key_at_length(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=300)
@given(by_feature)
def test_features_of_people_at_length(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=600)
@given(by_row)
def test_each_row_a_unit_at_length(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=900)
@given(by_person)
def test_people_with_bounds_at_length(trial: Trial) -> None:
    assert trial.breaches() == []


@pytest.mark.slow
@settings(_QUIET, max_examples=200)
@given(by_route)
def test_people_through_foreign_keys_at_length(trial: Trial) -> None:
    assert trial.breaches() == []
