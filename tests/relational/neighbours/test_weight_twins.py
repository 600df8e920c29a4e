"""Broken twins of weights: the checker must find fault with each of these."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import discreet as dp
from discreet.relational.bounding.row_weights import RowWeights
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from tests.relational.neighbours.test_twins import GROUPED, crowd, found

PEOPLE = "SELECT w, COUNT(DISTINCT pid) AS n FROM t GROUP BY w"
FEW = dp.Person("pid", max_rows=3)
EACH = dp.Person("pid", max_rows=5, max_groups=2, max_rows_per_group=1)
SPREAD = dp.Person("pid", max_rows=5, max_rows_per_group=1)
ONCE = dp.Person("pid", max_rows=5, max_groups=1)

Twin = Callable[[pytest.MonkeyPatch], None]


def _joined(rewrite: Callable[[str], str]) -> Twin:
    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        real = RowWeights.joined

        def joined(self: RowWeights, crowd: str, dialect: Dialect) -> str:
            return rewrite(real(self, crowd, dialect))

        monkeypatch.setattr(RowWeights, "joined", joined)

    return install


def _ranked(rewrite: Callable[[str], str]) -> Twin:
    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        real = RowWeights.ranked
        monkeypatch.setattr(
            RowWeights,
            "ranked",
            lambda self, rows, dialect: rewrite(real(self, rows, dialect)),
        )

    return install


def _limits(name: str, change: Callable[[RowWeights, Any], RowWeights]) -> Twin:
    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(RowWeights, name)
        monkeypatch.setattr(
            RowWeights,
            name,
            classmethod(lambda _, person, cells: change(real(person, cells), person)),
        )

    return install


def _upward(text: str) -> str:
    return re.sub(r"\((\d+(?:::BIGINT)?) // (COUNT\(cell\)|t|n)\)", r"((\1 + \2 - 1) // \2)", text)


TWINS: dict[str, tuple[dp.Person, str, Twin]] = {
    "weights rounded up": (FEW, GROUPED, _joined(_upward)),
    "rows in a group not held": (
        SPREAD,
        GROUPED,
        _limits("of_rows", lambda made, _: replace(made, rows_per_group=made.rows)),
    ),
    "all rows where few groups have fewer": (
        EACH,
        GROUPED,
        _limits("of_rows", lambda made, person: replace(made, rows=person.max_rows)),
    ),
    "groups counted in full": (
        ONCE,
        PEOPLE,
        _limits("of_presence", lambda made, _: replace(made, rows=3)),
    ),
    "people beyond the limit in full": (FEW, GROUPED, _joined(lambda t: t.replace("> 3", "> 9"))),
    "shares of everybody's rows": (
        FEW,
        GROUPED,
        _joined(
            lambda text: text.replace(
                "// COUNT(cell)", "// (COUNT(cell) - 1 + (SELECT COUNT(*) FROM r) % 2)"
            )
        ),
    ),
}

SORTED: dict[str, tuple[dp.Person, str, Twin]] = {
    "weights rounded up": (FEW, GROUPED, _ranked(_upward)),
    "people beyond the limit in full": (FEW, GROUPED, _ranked(lambda t: t.replace("> 3", "> 9"))),
    "rows in a group not held": (SPREAD, GROUPED, _ranked(lambda t: t.replace("n > 1 OR ", ""))),
    "shares of a group, not of a person": (
        EACH,
        GROUPED,
        _ranked(lambda t: t.replace("OVER (PARTITION BY o)", "OVER (PARTITION BY o, cell)")),
    ),
    "places in a group not counted": (
        EACH,
        GROUPED,
        _ranked(lambda t: t.replace("row_number()", "rank()").replace("p < 1", "p > 0")),
    ),
}
"""The same for engines that hold no rows."""


@pytest.mark.parametrize("name", SORTED)
def test_weights_found_by_sorting_are_caught_likewise(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit, question, twin = SORTED[name]
    monkeypatch.setattr(DuckDBDialect, "with_rows", lambda *_: None)
    assert found(crowd(unit), question) == []
    twin(monkeypatch)
    assert found(crowd(unit), question) != []


@pytest.mark.parametrize("name", TWINS)
def test_weights_that_exceed_a_limit_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unit, question, twin = TWINS[name]
    assert found(crowd(unit), question) == []
    twin(monkeypatch)
    assert found(crowd(unit), question) != []
