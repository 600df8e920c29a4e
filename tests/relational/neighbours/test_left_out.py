"""Reports of what limits left out: no unit moves one by more than was paid for.

The battery of answers, over the same generated plans; and broken twins, each of which is caught.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding import left_out
from discreet.relational.execute import left_out as execution
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.planning.left_out import PlannedLeftOut
from tests.relational.neighbours.left_out import ASKED, report_breaches
from tests.relational.neighbours.tables import visits
from tests.relational.neighbours.test_generated import Trial, by_feature, by_limits, by_person
from tests.relational.neighbours.test_hard_plans import BOUNDS, ONE_OF_EACH
from tests.relational.neighbours.test_twins import crowd
from tests.relational.neighbours.worlds import Setting, one

_QUIET = settings(suppress_health_check=list(HealthCheck), deadline=None)
asked = st.builds(
    LeftOut,
    share=st.just(0.1),
    rows_at_most=st.none() | st.integers(1, 6),
    groups_at_most=st.none() | st.integers(1, 3),
)
"""Small caps, which everybody exceeds."""

KINDS = (
    "COUNT(*) AS n, SUM(x) AS s",
    "COUNT(DISTINCT pid) AS u",
    "MEDIAN(x) AS m",
    "COUNT(*) AS n, MEDIAN(x) AS m, COUNT(DISTINCT pid) AS u",
)
"""By weight, by presence, by sample, and all of these."""


def reported(trial: Trial, wanted: LeftOut) -> list[str]:
    return report_breaches(
        trial.setting,
        *trial.questions,
        asked=wanted,
        spend=trial.spend,
        salt=trial.salt,
        refusals=[],
    )


@settings(_QUIET, max_examples=20)
@given(by_person, asked)
def test_generated_plans_of_people(trial: Trial, wanted: LeftOut) -> None:
    assert reported(trial, wanted) == []


@settings(_QUIET, max_examples=10)
@given(by_feature, asked)
def test_generated_features_of_people(trial: Trial, wanted: LeftOut) -> None:
    assert reported(trial, wanted) == []


@settings(_QUIET, max_examples=15)
@given(by_limits, asked)
def test_generated_plans_under_limits_of_each_table(trial: Trial, wanted: LeftOut) -> None:
    assert reported(trial, wanted) == []


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("relation", [lambda unit: unit, Replace], ids=["removed", "replaced"])
def test_every_kind_of_question_under_every_bound(
    bounds: dict[str, Any], relation: Callable[[dp.Person], PrivacyUnit]
) -> None:
    questions = [f"SELECT {kind} FROM t" for kind in KINDS]
    questions += [
        f"SELECT {key}, {kind} FROM t GROUP BY {key}" for key in ("w", "w, f") for kind in KINDS
    ]
    setting = visits(ONE_OF_EACH * 2, relation(dp.Person("pid", **bounds)))
    for wanted in (ASKED, LeftOut(share=0.5), LeftOut(share=0.5, rows_at_most=1, groups_at_most=1)):
        assert report_breaches(setting, *questions, asked=wanted, refusals=[]) == []


# Broken twins ----------------------------------------------------------------------------------

FEW = dp.Person("pid", max_rows=2)
TIGHT = LeftOut(share=0.1, rows_at_most=2, groups_at_most=1)
WIDE = LeftOut(share=0.1, rows_at_most=9)
GROUPED = "SELECT w, COUNT(*) AS n FROM t GROUP BY w"
Twin = Callable[[pytest.MonkeyPatch], None]


def found(setting: Setting, *questions: str) -> list[str]:
    """Faults where caps are exceeded and where they are not."""
    return [
        fault
        for wanted in (TIGHT, WIDE)
        for fault in report_breaches(setting, *questions, asked=wanted)
    ]


def _text(rewrite: Callable[[str], str]) -> Twin:
    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        real = left_out.left_out_text
        monkeypatch.setattr(execution, "left_out_text", lambda *parts: rewrite(real(*parts)))

    return install


TWINS: dict[str, Twin] = {
    "people in every group": _text(lambda text: text.replace("WHEN k > 1 ", "WHEN k > 99 ")),
    "shares of people rounded up": _text(
        lambda text: re.sub(r"\((\d+::BIGINT) // k\)", r"((\1 + k - 1) // k)", text)
    ),
    "rows beyond the cap": _text(lambda text: text.replace("CASE WHEN s > ", "CASE WHEN 0 > ")),
    "cut by everybody's rows": _text(
        lambda text: text.replace(" AS t, ", " + 900 * (COUNT(*) OVER () % 2) AS t, ")
    ),
    "scaled by everybody's rows": _text(
        lambda text: text.replace(
            " AS BIGINT) AS s", " AS BIGINT) * (1 + COUNT(*) OVER () % 2) AS s"
        )
    ),
}


def test_the_real_report_passes() -> None:
    assert found(crowd(FEW), GROUPED) == []
    assert found(crowd(Replace(FEW)), GROUPED) == []


@pytest.mark.parametrize("name", TWINS)
def test_a_report_that_says_too_much_of_one_person_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    TWINS[name](monkeypatch)
    assert found(crowd(FEW), GROUPED) != []


def test_a_report_that_pays_for_one_unit_where_two_change_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of the people are cut, half are not: exchanging one for the other moves a count."""
    frame = pl.DataFrame({"pid": [1, 1, 1, 2, 2, 2], "w": ["A"] * 3 + ["B"] * 3, "x": [0] * 6})
    setting = one(frame.with_columns(y=pl.lit(0.5)), Replace(FEW), crowd().private["t"].columns)
    assert found(setting, GROUPED) == []
    real = PlannedLeftOut.parts.func  # type: ignore[attr-defined]

    def parts(self: PlannedLeftOut) -> Any:
        return tuple(
            replace(part, contributions=replace(part.contributions, swaps=1)) for part in real(self)
        )

    monkeypatch.setattr(PlannedLeftOut, "parts", property(parts))
    assert found(setting, GROUPED) != []
