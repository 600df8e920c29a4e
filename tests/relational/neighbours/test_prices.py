"""What a question costs is no more than its spend, and every number lies within its bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.accounting.adaptive.steps import minus, steps_up
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.core.unit import PrivacyUnit
from discreet.curator.budget import PrivacyBudget
from discreet.errors import InvalidParameter
from discreet.mechanisms import DiscreteLaplace, Gaussian, Laplace
from discreet.relational.aggregates.measures import Total
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column
from tests.relational.neighbours.plans import PEOPLE, ROWS, plans
from tests.relational.neighbours.tables import both, people_units, row_units, visits
from tests.relational.neighbours.worlds import Stand, bound, one

_QUIET = settings(suppress_health_check=list(HealthCheck))
epsilons: st.SearchStrategy[float | Fraction] = st.sampled_from(
    [1e-3, 0.1, 1.0, Fraction(1, 3), 5.0]
)
spends = st.one_of(
    epsilons.map(lambda e: dp.PureDP(epsilon=e)),
    epsilons.map(lambda e: dp.ZCDP(rho=e)),
    st.builds(dp.ApproxDP, epsilon=epsilons, delta=st.sampled_from([1e-9, 1e-6, 1e-2])),
    st.builds(dp.RenyiDP, alpha=st.sampled_from([1.5, 2, 32]), epsilon=epsilons),
)
_ROUNDING = 64
"""Prices of single events are rounded up to whole steps of the ledger."""
_STANDS: dict[PrivacyUnit, Stand] = {}


def stand(unit: PrivacyUnit) -> Stand:
    """An empty database for each unit: prices follow from public quantities alone."""
    if unit not in _STANDS:
        people = "Person" in repr(unit)
        _STANDS[unit] = Stand(both([], [], unit) if people else visits([], unit))
    return _STANDS[unit]


questions = st.one_of(
    st.tuples(row_units, plans(ROWS)), st.tuples(people_units, plans((*ROWS, *PEOPLE), people=True))
)


@settings(_QUIET, max_examples=120)
@given(questions, spends)
def test_the_certified_price_is_within_the_spend(
    asked: tuple[PrivacyUnit, str], spend: Guarantee
) -> None:
    unit, sql = asked
    try:
        planned = stand(unit).planned(sql, spend)
    except DiscreetError:
        return
    event = planned.event
    match spend:
        case dp.PureDP():
            assert event.epsilon(delta=0) <= float(spend.epsilon) * (1 + 1e-12)
        case dp.ZCDP():
            assert exact(event.zcdp().rho) <= exact(spend.rho) * (1 + Fraction(1, 2**40))
        case dp.ApproxDP():
            assert event.epsilon(delta=float(spend.delta)) <= float(spend.epsilon) * (1 + 1e-9)
        case dp.RenyiDP():
            (loss,) = event.rdp(orders=[float(spend.alpha)])
            assert loss <= float(spend.epsilon) * (1 + 1e-9)
    budget = PrivacyBudget(spend, unit)
    charge = budget.charge(spend, (planned.allocation.linear_event, *planned.choice_events))
    limit = budget.currency.read_amounts(spend.per(unit), steps_up)
    assert all(part >= -_ROUNDING for part in minus(limit, charge))


@settings(_QUIET, max_examples=60)
@given(
    questions,
    st.sampled_from([dp.ApproxDP(epsilon=5, delta=1e-2), dp.ApproxDP(epsilon=1, delta=1e-6)]),
)
def test_the_joint_gaussian_moves_by_at_most_one(
    asked: tuple[PrivacyUnit, str], spend: dp.ApproxDP
) -> None:
    """All parts together, each in units of its own sigma, within the one event that is charged."""
    unit, sql = asked
    try:
        planned = stand(unit).planned(sql, spend)
    except DiscreetError:
        return
    mechanisms = [item.mechanism for item in planned.allocation.noised]
    if not mechanisms or not all(isinstance(mechanism, Gaussian) for mechanism in mechanisms):
        return
    moved = Fraction(0)
    for part, item in zip(planned.parts, planned.allocation.noised, strict=True):
        assert isinstance(item.mechanism, Gaussian)
        sigma = exact(item.mechanism.sensitivity) * exact(item.mechanism.noise_multiplier)
        moved += (part.contributions.l2(bound(item)) / sigma) ** 2
    (first,) = {repr(mechanism.event) for mechanism in mechanisms}
    assert repr(planned.allocation.linear_event) == first
    assert isinstance(mechanisms[0], Gaussian)
    assert moved * exact(mechanisms[0].noise_multiplier) ** 2 <= 1


@settings(_QUIET, max_examples=60)
@given(questions, spends)
@example((dp.Person("pid", max_rows=4), "SELECT COUNT(*) AS n FROM t"), dp.PureDP(epsilon=1))
@example((dp.Person("pid", max_rows=4), "SELECT SUM(x) AS s FROM t"), dp.ZCDP(rho=1))
@example(
    (dp.Person("pid", max_rows=4), "SELECT SUM(x) AS s FROM t"), dp.RenyiDP(alpha=2, epsilon=1)
)
def test_noise_is_made_for_all_that_a_unit_moves(
    asked: tuple[PrivacyUnit, str], spend: Guarantee
) -> None:
    """On the grid it is drawn on, however much finer weights make it."""
    unit, sql = asked
    try:
        planned = stand(unit).planned(sql, spend)
    except DiscreetError:
        return
    for part, item in zip(planned.parts, planned.allocation.noised, strict=True):
        sensitivity, moved = exact(item.mechanism.sensitivity), bound(item)
        if isinstance(item.mechanism, DiscreteLaplace | Laplace):
            assert sensitivity >= part.contributions.l1(moved)
        else:  # a joint Gaussian spreads it over its parts, and so has more
            assert sensitivity >= part.contributions.l2(moved)


@pytest.mark.parametrize("unit", [dp.Person("pid", max_rows=4, max_rows_per_group=1), dp.Row()])
def test_many_parts_are_released_by_one_gaussian(unit: PrivacyUnit) -> None:
    """So that the test above is about something."""
    asked = "VARIANCE(x) AS v, CORR(x, y) AS k, AVG(y) AS a, SUM(x) AS s"
    sql = f"SELECT c, f, {asked} FROM t GROUP BY c, f"
    planned = stand(unit).planned(sql, dp.ApproxDP(epsilon=0.5, delta=1e-3))
    assert all(isinstance(item.mechanism, Gaussian) for item in planned.allocation.noised)


def test_noise_cut_off_in_the_far_tail_hides_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance at most exp(-64) per cell; but a pure price has no room for any."""

    def far(self: DiscreteLaplace, scale: Fraction, size: int) -> Any:
        return np.full(size, 1 << 62, dtype=np.int64)

    monkeypatch.setattr(DiscreteLaplace, "_draw", far)
    released = []
    for value in (0, 1):
        here = Stand(one(pl.DataFrame({"x": [value]}), dp.Row(), {"x": dp.Number(0, 1)}))
        released.append(here.planned("SELECT SUM(x) AS s FROM t").release(here.database).linear[0])
        here.close()
    assert released[0] == released[1]


ENDS = [0.0, -0.0, 5e-324, 0.1, -0.1, 1 / 3, 1.0, -1.0, 2.0**30, -(2.0**30), 1e15 + 0.125, -1e22]


@pytest.mark.parametrize("centred", [False, True])
def test_steps_cover_everything_the_engine_rounds(*, centred: bool) -> None:
    """At the bounds, next to them, half-way between steps and far outside."""
    connection, dialect = duckdb.connect(), DuckDBDialect()
    for low in ENDS:
        for high in ENDS:
            if high - low < 1e-200:
                continue
            domain = ColumnDomain(DataType.DOUBLE, low, high, declared=True)
            centre = low + (high - low) / 2 if centred else 0
            for scale in (Fraction(high - low), Fraction(high - low) * 2**20, Fraction(1, 7)):
                try:
                    total = Total(Column("v", domain), low, high, centre).on_grid(scale)
                except InvalidParameter:
                    continue  # far from zero beside the noise: refused
                text = dialect.steps('"v"', total.domain, total.exponent)
                step = math.ldexp(1.0, total.exponent)
                tried = [low, high, math.nextafter(low, high), math.nextafter(high, low)]
                tried += [low + step / 2, high - step / 2, low + 1.5 * step, math.inf, -math.inf]
                listed = ", ".join(f"(CAST('{value!r}' AS DOUBLE))" for value in tried)
                found = connection.execute(f"SELECT {text} FROM (VALUES {listed}) AS q(v)")
                for (value,) in found.fetchall():
                    assert abs(value - total.centre_steps()) <= total.steps()
                    assert abs(value) < 2**53
    connection.close()


@pytest.mark.parametrize("high", [1, 2**31, 2**53 - 1, 2**60])
@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_totals_of_any_width_arrive_whole(high: int, rows: int) -> None:
    """Halves put together again, beyond 64 bits where it must be."""
    for sign in (1, -1):
        frame = pl.DataFrame({"x": [sign * high] * rows}, schema={"x": pl.Int64})
        here = Stand(one(frame, dp.Row(), {"x": dp.Number(-high, high)}))
        found: Any = here.exact(here.planned("SELECT SUM(x) AS s FROM t", dp.PureDP(epsilon=10**7)))
        assert int(found.linear[0][0]) == sign * high * rows
        here.close()
