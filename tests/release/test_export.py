"""Exports hold every column in full, and say what to install if they cannot."""

from __future__ import annotations

import csv
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import InvalidParameter
from discreet.release import Release
from tests.release.examples import count_column, counts, made, wards

KEYS: dict[str, tuple[Any, ...]] = {
    "text": ('ä,"b"\n', "", None),
    "whole": (1, -2, None),
    "real": (0.1, 1e300, None),
    "truth": (True, False, None),
    "day": (date(2024, 2, 29), date(1900, 1, 1), None),
    "time": (datetime(2024, 2, 29, 12, 30, 0, 5), datetime(1999, 1, 1), None),
    "zone": (
        datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(2024, 7, 1, tzinfo=UTC),
        None,
    ),
}


def every_kind() -> Release:
    return made([count_column(counts((123, 77, 4)))], KEYS)


def test_a_dictionary_of_lists() -> None:
    columns = wards().to_dict()
    assert tuple(columns) == wards().columns
    assert columns["n"] == [123, 77, 4]
    assert columns["n_lower"] == [117, 71, 0]
    assert columns["median"] == [41, None, 40]
    columns["n"][0] = 0
    assert wards().to_dict()["n"][0] == 123


def test_polars() -> None:
    pl = pytest.importorskip("polars", reason="needs the extra frames")
    frame = every_kind().to_polars()
    assert frame.columns == list(every_kind().columns)
    assert [frame.schema[name] for name in ("text", "whole", "truth", "day")] == [
        *(pl.String, pl.Int64, pl.Boolean, pl.Date),
    ]
    for name in ("text", "whole", "real", "truth", "day", "time", "zone"):
        assert frame[name].to_list() == list(KEYS[name]), name
    assert wards().to_polars()["median"].to_list() == [41, None, 40]
    assert wards().to_polars()["age_upper"].to_list() == wards().to_dict()["age_upper"]


def test_pandas() -> None:
    pd = pytest.importorskip("pandas", reason="needs the extra frames")
    frame = every_kind().to_pandas()
    assert list(frame.columns) == list(every_kind().columns)
    assert str(frame["n"].dtype) == "Int64"
    assert frame["text"].tolist()[:2] == list(KEYS["text"][:2])
    assert frame.isna().iloc[2][list(KEYS)].all()
    assert frame["day"][0] == pd.Timestamp(2024, 2, 29)
    assert frame["zone"][0] == pd.Timestamp(KEYS["zone"][0])
    assert wards().to_pandas()["n_upper"].tolist() == [129, 83, 10]


def test_arrow() -> None:
    pytest.importorskip("pyarrow", reason="needs the extra frames")
    table = every_kind().to_arrow()
    assert table.column_names == list(every_kind().columns)
    for name in ("text", "whole", "real", "truth", "day", "time", "zone"):
        assert table[name].to_pylist() == list(KEYS[name]), name


@pytest.mark.parametrize("module", ["polars", "pandas", "pyarrow"])
def test_whole_numbers_beyond_64_bits_become_reals(module: str) -> None:
    pytest.importorskip(module, reason="needs the extra frames")
    release = made([count_column(counts((2**70, 5)))], {"ward": ("A", "B")})
    frame = getattr(release, f"to_{module.removeprefix('py')}")()
    values = frame["n"].to_pylist() if module == "pyarrow" else list(frame["n"])
    assert values == [2.0**70, 5.0]
    assert release.to_dict()["n"] == [2**70, 5]


@pytest.mark.parametrize("module", ["polars", "pandas", "pyarrow"])
def test_no_rows_are_a_frame_too(module: str) -> None:
    pytest.importorskip(module, reason="needs the extra frames")
    empty = made([count_column(counts(()))], {"ward": ()})
    assert len(getattr(empty, f"to_{module.removeprefix('py')}")()) == 0


@pytest.mark.parametrize("module", ["polars", "pandas", "pyarrow"])
def test_a_missing_package_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidParameter, match=r"pip install 'discreet\[frames\]'") as caught:
        getattr(wards(), f"to_{module.removeprefix('py')}")()
    assert caught.value.code == "missing_frames"


def test_comma_separated_values(tmp_path: Path) -> None:
    place = tmp_path / "release.csv"
    every_kind().to_csv(place)
    with place.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == every_kind().columns
    assert rows[0]["text"] == KEYS["text"][0]
    assert rows[0]["day"] == "2024-02-29"
    assert [row["n"] for row in rows] == ["123", "77", "4"]
    assert rows[2]["whole"] == ""
    wards().to_csv(str(place))
    with place.open(encoding="utf-8", newline="") as file:
        ages = [float(row["age"]) for row in csv.DictReader(file)]
    assert ages == wards().to_dict()["age"]


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="table_not_saved"):
        wards().to_csv(tmp_path / "no" / "release.csv")
