"""Reports of what limits left out: the same numbers on every engine, and the same bounds."""

from __future__ import annotations

from typing import Any

import pytest

import discreet as dp
from discreet.core.unit import Replace
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.plan.left_out import LeftOut
from tests.relational.conformance.engines import DUCKDB, Maker, others
from tests.relational.conformance.test_last_bounds import ENGINES
from tests.relational.neighbours.left_out import ASKED, ReportStand, report_breaches
from tests.relational.neighbours.tables import visits
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.test_left_out import KINDS
from tests.relational.neighbours.worlds import Setting

WISHES = (ASKED, LeftOut(share=0.5, groups_at_most=1), LeftOut(share=0.5, rows_at_most=99_999))
UNITS = (
    dp.Person("pid", max_rows=2),
    dp.Person("pid", max_rows=3, max_groups=2, max_rows_per_group=2),
)
QUESTIONS = [
    *(f"SELECT {kind} FROM t" for kind in KINDS),
    *(f"SELECT w, f, {kind} FROM t GROUP BY w, f" for kind in KINDS),
    "SELECT AVG(s) AS m FROM (SELECT pid, SUM(x) AS s FROM t GROUP BY pid) AS q",
]


def numbers(maker: Maker, setting: Setting, wish: LeftOut) -> dict[str, list[list[int]]]:
    """Exact numbers of all reports that there are."""
    home = maker.home(NATIVE)
    found: dict[str, Any] = {}
    try:
        stand = ReportStand(setting, home)
        stand.asked = wish
        for sql in QUESTIONS:
            try:
                planned = stand.planned(sql)
            except dp.errors.DiscreetError as refusal:
                found[sql] = refusal.code
            else:
                exact = stand.exact(planned)
                found[sql] = [[int(n) for n in values] for values in exact.linear]
        return found
    finally:
        home.close()


@pytest.mark.parametrize("maker", ENGINES)
@pytest.mark.parametrize("unit", UNITS, ids=["rows", "groups"])
def test_reports_are_equal_on_every_engine(maker: Maker, unit: dp.Person) -> None:
    """Nothing in them depends on a salt or a hash."""
    setting = visits(ONE_OF_EACH * 3, unit)
    for wish in WISHES:
        assert numbers(maker, setting, wish) == numbers(DUCKDB, setting, wish)


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("unit", [UNITS[1], Replace(UNITS[0])], ids=["removed", "replaced"])
def test_no_unit_moves_a_report_by_more_than_was_paid_for(maker: Maker, unit: Any) -> None:
    home = maker.home(NATIVE)
    try:
        setting = visits(ONE_OF_EACH * 2, unit)
        assert report_breaches(setting, *QUESTIONS, refusals=[], home=home) == []
    finally:
        home.close()
