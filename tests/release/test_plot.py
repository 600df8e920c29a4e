"""Charts hold the numbers of the release; how they look is not tested."""

from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import InvalidParameter
from discreet.release import LinearFormula, NoisyMeasure, Release, ReleasedColumn
from tests.release.examples import (
    POSITIVE,
    SUMS,
    count_column,
    counts,
    made,
    quantile_column,
    wards,
)

pytest.importorskip("altair", reason="needs the extra plots")


def spec(release: Release, column: str | None = None) -> dict[str, Any]:
    chart: Any = release.plot(column)
    found: dict[str, Any] = chart.to_dict()
    return found


def data(found: dict[str, Any]) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = found["data"]["values"]
    return values


def marks(found: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in found["layer"]]


def two(answer: ReleasedColumn | None = None, **keys: tuple[Any, ...]) -> Release:
    return made([answer or count_column(counts((20, 30)))], keys)


def test_counts_are_bars_with_their_intervals() -> None:
    found = spec(wards())
    assert marks(found) == ["bar", "rule"]
    assert data(found) == [
        {"x": "A", "value": 123, "lower": 117, "upper": 129},
        {"x": "B", "value": 77, "lower": 71, "upper": 83},
        {"x": "NULL", "value": 4, "lower": 0, "upper": 10},
    ]


def test_means_and_quantiles_are_points() -> None:
    assert marks(spec(wards(), "age")) == ["point", "rule"]
    assert marks(spec(wards(), "median")) == ["point"]


def test_days_and_times_are_on_a_time_axis_in_utc() -> None:
    found = spec(two(day=(date(2024, 1, 1), date(2024, 1, 2))))
    assert marks(found) == ["line", "rule"]
    assert found["layer"][0]["encoding"]["x"]["type"] == "temporal"
    assert found["layer"][0]["encoding"]["x"]["scale"]["type"] == "utc"
    assert data(found)[0]["x"] == "2024-01-01"
    times = data(spec(two(time=(datetime(2024, 1, 1, 12), None))))
    assert [record["x"] for record in times] == ["2024-01-01T12:00:00+00:00", None]


def test_a_second_key_is_a_colour_and_a_third_a_panel() -> None:
    found = spec(two(ward=("A", "B"), sex=("f", None)))
    assert found["layer"][0]["encoding"]["color"]["title"] == "sex"
    assert [record["colour"] for record in data(found)] == ["f", "NULL"]
    panels = spec(two(ward=("A", "B"), sex=("f", "m"), new=(True, False)))
    assert panels["facet"]["column"]["title"] == "new"
    assert [record["panel"] for record in data(panels)] == ["True", "False"]


def test_more_keys_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="plot_keys"):
        two(a=("A", "B"), b=("A", "B"), c=("A", "B"), d=("A", "B")).plot()


def test_infinite_ends_stop_where_the_others_do() -> None:
    n, s = counts((2, 100)), NoisyMeasure("r1", "s", SUMS, (5.0, 5.0))
    mean = ReleasedColumn.quotient(
        "mean", LinearFormula(((1, s),)), LinearFormula(((1, n),), within=POSITIVE), confidence=0.95
    )
    first, second = data(spec(two(mean, ward=("A", "B"))))
    assert first["lower"] == second["lower"]
    assert first["value"] == 2.5


def test_numbers_without_a_value_have_none() -> None:
    records = data(spec(two(quantile_column((None, 3)), ward=("A", "B"))))
    assert records[0] == {"x": "A", "value": None}


def test_a_single_number_can_be_drawn() -> None:
    found = spec(made([count_column(counts((20,)))]))
    assert data(found) == [{"value": 20, "lower": 14, "upper": 26}]


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="column_unknown"):
        wards().plot("m")


@pytest.mark.parametrize("ending", ["svg", "png", "html", "json"])
def test_saving_goes_by_the_ending(ending: str, tmp_path: Path) -> None:
    if ending != "json":
        pytest.importorskip("vl_convert", reason="needs the extra plots")
    place = tmp_path / f"wards.{ending}"
    wards().save_plot(place)
    assert place.stat().st_size > 1000
    panels = two(ward=("A", "B"), sex=("f", "m"), new=(True, False))
    panels.save_plot(str(place), "n")
    with pytest.raises(InvalidParameter, match="plot_format"):
        wards().save_plot(tmp_path / "wards.docx")


def test_without_altair_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InvalidParameter, match=r"discreet\[plots\]") as caught:
        wards().plot()
    assert caught.value.code == "missing_altair"
