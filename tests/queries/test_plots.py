"""Pictures of query release hold the numbers they were given."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from discreet.core import plotting as house
from discreet.errors import InvalidParameter
from discreet.queries import plots


@dataclass(frozen=True)
class Row:
    mechanism: str
    queries: int
    error: float


def values(chart: Any) -> list[dict[str, Any]]:
    plain = json.loads(chart.to_json())
    first = plain["layer"][0] if "layer" in plain else plain
    found: list[dict[str, Any]] = first["data"]["values"]
    return found


def test_errors_are_drawn_from_the_best_query_to_the_worst() -> None:
    drawn = values(plots.error_by_query({"matrix": [3, -1, 2], "MWEM": [4.0]}))
    assert [(p["mechanism"], p["share"], p["error"]) for p in drawn] == [
        ("matrix", 0, 1),
        ("matrix", 0.5, 2),
        ("matrix", 1, 3),
        ("MWEM", 0, 4),
    ]


def test_a_million_queries_are_drawn_by_five_hundred_points() -> None:
    drawn = values(plots.error_by_query({"matrix": range(1_000_000)}))
    assert len(drawn) == 500
    assert (drawn[0]["error"], drawn[-1]["error"]) == (0, 999_999)


def test_errors_against_the_number_of_queries_leave_out_what_there_is_not() -> None:
    rows = [Row("matrix", 8, 2.0), Row("MWEM", 8, 3.0), Row("matrix", 64, math.nan)]
    chart = plots.error_by_number(rows)
    assert [(p["mechanism"], p["queries"]) for p in values(chart)] == [("matrix", 8), ("MWEM", 8)]
    plain = json.loads(chart.to_json())
    assert plain["encoding"]["x"]["scale"]["type"] == "log"


def test_updates_are_drawn_beside_those_that_were_paid(tmp_path: Path) -> None:
    chart = plots.updates_by_question([0, 1, 1, 2], cutoff=5)
    assert [p["updates"] for p in values(chart)] == [0, 1, 1, 2]
    assert json.loads(chart.to_json())["layer"][1]["data"]["values"] == [{"updates": 5}]
    house.save(chart, tmp_path / "updates.json")
    assert (tmp_path / "updates.json").exists()


def test_nothing_is_not_drawn() -> None:
    for draw in (
        lambda: plots.error_by_query({}),
        lambda: plots.error_by_number([]),
        lambda: plots.updates_by_question([], cutoff=3),
    ):
        with pytest.raises(InvalidParameter, match="plot_empty"):
            draw()
