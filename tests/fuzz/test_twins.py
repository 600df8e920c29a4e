"""Controls: copies of the code with known faults, which the fuzzers must catch."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import discreet as dp
from discreet.curator import sql as queries
from discreet.relational.aggregates.measures import Total
from discreet.relational.compile.dialect import Dialect
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.functions import powers, registry
from discreet.relational.functions.function import Function, never
from discreet.relational.functions.intervals import domain_within, interval, spread, widened
from discreet.relational.functions.signature import takes_reals
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, columns
from tests.fuzz.resources import UNITS, Stage, excess
from tests.fuzz.stored_answers import asked_at_random
from tests.fuzz.values import checked, expressions
from tests.fuzz.worlds import Tried, ask, random_setting, tried
from tests.relational.conformance.engines import DUCKDB
from tests.relational.neighbours.worlds import Setting, Stand, people, without

TABLES = 400
"""Random tables within which the pair of faults in a power and its clamp must be found."""
POWERS = ("power", "pow", "^")
FRESH = ("union", "distinct", "features")
"""Steps whose columns are new names for computed values."""


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf  # the mistake: minus infinity for a negative base and an odd exponent


def _reach(base: ColumnDomain, exponent: ColumnDomain) -> ColumnDomain:
    whole = exponent.low == exponent.high and float(exponent.low or 0).is_integer()
    if not (base.bounded and exponent.bounded and whole) or (exponent.low < 0 <= base.high):
        return ColumnDomain(DataType.DOUBLE)
    ends = [_power(end, exponent.low) for end in interval(base)]
    if base.low <= 0 <= base.high and exponent.low % 2 == 0:
        ends.append(0.0)
    return domain_within(DataType.DOUBLE, widened(spread(ends)))


OVERFLOWING = Function(
    "power",
    accept=takes_reals("power", 2),
    result=_reach,
    compute=powers.POWER.compute,
    exact=never,
    finite=never,
)


def _steps(self: Any, total: Total) -> tuple[str, frozenset[str]]:
    """What a row brings to a total; the mistake: a column is believed to be within its facts."""
    dialect, argument = self.compiler.dialect, total.argument
    text = dialect.render(argument)
    if not isinstance(argument, Column):
        text = dialect.steps(text, total.domain, total.exponent)
    elif not total.whole:
        text = dialect.scaled(text, total.exponent)
    centre = total.centre_steps()
    return (f"({text}) - ({centre})" if centre else text), columns(argument)


def overflowing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make powers overflow upward, whatever the sign."""
    entry = registry.FunctionEntry(lambda: OVERFLOWING, min_arguments=2, max_arguments=2)
    for name in ("power", "pow"):
        monkeypatch.setitem(registry.FUNCTIONS, name, entry)
    monkeypatch.setitem(registry.OPERATORS, "^", OVERFLOWING)


def unclamped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe what plans derive of their columns."""
    monkeypatch.setattr(RowContributions, "_steps", _steps)
    monkeypatch.setattr(Dialect, "restrict_to_domain", lambda self, text, domain: text)


def test_a_power_that_overflows_upward_is_caught_by_random_expressions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overflowing(monkeypatch)
    drawn = expressions(60, 5, POWERS * 20, deepest=2)
    assert any("outside" in fault for fault in checked(DUCKDB, drawn, rows=60, seed=5))


ODD = (
    "SELECT SUM(r.c) AS s FROM (SELECT CAST(least(greatest(power(y, 9), -2e9), 1) AS BIGINT) AS c "
    "FROM t UNION ALL SELECT 0 FROM u) AS r"
)


def test_a_total_that_is_not_clamped_again_is_caught_by_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With both mistakes one row moves the sum by far more than was declared; with neither, not."""
    assert breaches_of(ODD) == []
    overflowing(monkeypatch)
    unclamped(monkeypatch)
    assert breaches_of(ODD) != []


def breaches_of(query: str) -> list[str]:
    """What the checker finds for one question in a random table with far bounds."""
    for seed in range(100):
        draw = random.Random(seed)
        setting, _, _ = random_setting(draw)
        if _far(setting):
            stand = Stand(setting)
            try:
                found, frames = Tried(), setting.frames
                units = people(setting, frames)
                worlds = {who: stand.add(without(setting, frames, who)) for who in units}
                ask(stand, query, draw, worlds, found)
                assert found.asked == 1
                return found.faults
            finally:
                stand.close()
    return pytest.fail("no table with far bounds")


def _far(setting: Setting) -> bool:
    table = setting.private.get("t")
    far = table is not None and table.columns["y"] == dp.Number(-1e120, 1e120)
    if not far or table is None or table.unit != dp.Row():  # limits on people's rows hide faults
        return False
    y = table.frame["y"]
    return table.frame.filter((y < -1) & (y > -1e30)).height > 0  # whose ninth power is a number


@pytest.mark.audit
def test_the_pair_of_mistakes_is_found_by_random_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    overflowing(monkeypatch)
    unclamped(monkeypatch)
    found = (
        tried(seed, questions=20, depth=1, focus=POWERS, steps=FRESH).faults
        for seed in range(TABLES)
    )
    assert any(found)


MULTIPLIED = "SELECT COUNT(*) FROM {t} AS a JOIN {p} AS b ON a.w = 'A' JOIN {p} AS c ON a.w = 'A' "
DOUBLED = "repeat(note, 512)"


def test_rows_that_multiply_before_they_are_bounded_are_caught() -> None:
    """The statement of a plan that joins first and bounds afterwards."""
    stage = Stage(UNITS[0], bob=True)
    place = stage.database.engine.place
    try:
        text = MULTIPLIED.format(t=place("t"), p=place("p"))
        assert list(excess(stage, text)) == []
        text += f"JOIN {place('p')} AS d ON a.w = 'A' WHERE b.weight + c.weight < d.weight * 9"
        assert any("rows" in fault or "fails" in fault for fault in excess(stage, text))
    finally:
        stage.close()


def test_text_without_a_limit_is_caught_with_bob_alone() -> None:
    """The statement of a plan that doubles a text nine times before it looks at it."""
    for bob in (True, False):
        stage = Stage(UNITS[0], bob=bob)
        try:
            text = f"SELECT COUNT(DISTINCT {DOUBLED}) FROM {stage.database.engine.place('t')}"
            assert bool(list(excess(stage, text))) is bob
        finally:
            stage.close()


def test_a_stored_answer_read_with_another_split_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The split is left out of what identifies a question, and of what is compared with it.

    Then the price that an accuracy cost finds that answer, and reads it on another grid.
    """
    monkeypatch.setattr(queries, "by_measure", lambda planned, told: {})
    assert asked_at_random(0, 100).faults != []
