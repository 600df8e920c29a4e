"""Files without a header, compressed files, and several files as one table."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.noise import Noiseless
from tests.curator.tables import COLUMNS, visits

ONE = dp.PureDP(epsilon=1)
TEXT = (
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE day < '2024-03-01' GROUP BY ward"
)


def curator(source: Any, **more: Any) -> dp.Curator:
    return dp.Curator(
        visits=dp.table(source, unit=dp.Row(), columns=COLUMNS, **more),
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def answer(source: dp.Curator, text: str = TEXT) -> list[Any]:
    found = source.sql(text, spend=ONE)
    return [found[name].values for name in ("n", "s")]


def parts() -> list[pl.DataFrame]:
    return list(visits().iter_slices(47))


def test_a_pattern_names_several_files_as_one_table(tmp_path: Path) -> None:
    whole = answer(curator(visits()))
    for number, frame in enumerate(parts()):
        frame.write_csv(tmp_path / f"v-{number}.csv")
        frame.write_parquet(tmp_path / f"v-{number}.parquet")
        (tmp_path / f"z-{number}.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
        frame.write_csv(tmp_path / f"bare-{number}.tsv", separator="\t", include_header=False)
    for pattern in ("v-*.csv", "v-?.parquet", "z-*.csv.gz"):
        assert answer(curator(tmp_path / pattern)) == whole, pattern
    names = visits().columns
    assert answer(curator(tmp_path / "bare-*.tsv", names=names)) == whole


def test_a_file_without_a_header_loses_no_line(tmp_path: Path) -> None:
    for end in ("\n", "\r\n"):
        text = visits().write_csv(include_header=False, line_terminator=end)
        (tmp_path / "v.csv").write_bytes(text.encode())
        assert answer(curator(tmp_path / "v.csv", names=visits().columns)) == answer(
            curator(visits())
        )


def test_a_line_is_one_record_in_every_file(tmp_path: Path) -> None:
    """An open quote at the end of one file swallows nothing of the next, nor of its own."""
    header = ",".join(visits().columns)
    line = "1,A,30,10.0,2024-01-05,x"
    (tmp_path / "v-1.csv").write_text(f'{header}\n{line}\n1,A,30,10.0,2024-01-05,"x')
    (tmp_path / "v-2.csv").write_text(f"{header}\n{line}\n{line}\n")
    assert answer(curator(tmp_path / "v-*.csv"))[0] == (4, 0, 0)
    (tmp_path / "bare.csv").write_text(f'{line}\n1,A,30,10.0,2024-01-05,"x\n{line}\n')
    assert answer(curator(tmp_path / "bare.csv", names=visits().columns))[0] == (3, 0, 0)


def test_a_file_that_comes_or_changes_is_another_version(tmp_path: Path) -> None:
    first, *others = parts()
    first.write_csv(tmp_path / "v-0.csv")
    source = curator(tmp_path / "v-*.csv")
    assert answer(source)
    others[0].write_csv(tmp_path / "v-1.csv")
    with pytest.raises(DiscreetError) as refusal:
        source.sql("SELECT COUNT(*) AS n FROM visits", spend=ONE)
    assert refusal.value.code == "data_changed"


def test_the_first_line_of_a_file_without_a_header_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("secret,A,30,10.0,2024-01-05,x\n")
    source = curator(tmp_path / "v.csv", names=visits().columns)
    with pytest.raises(DiscreetError) as refusal:
        source.sql("SELECT COUNT(*) AS n FROM visits WHERE nothing = 1", spend=ONE)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("pattern", "more", "code"),
    [
        ("nothing-*.csv", {}, "file_not_found"),
        ("mixed-*", {}, "unknown_file_kind"),
        ("other-*.csv", {}, "files_differ"),
        ("one.csv", {"names": []}, "csv_names"),
        ("one.csv", {"names": "ward"}, "csv_names"),
        ("one.csv", {"names": ["a", "a"]}, "csv_names"),
        ("mixed-1.parquet", {"names": ["a"]}, "csv_names"),
    ],
)
def test_what_cannot_be_one_table_is_refused(
    tmp_path: Path, pattern: str, more: dict[str, Any], code: str
) -> None:
    visits().write_parquet(tmp_path / "mixed-1.parquet")
    visits().write_csv(tmp_path / "mixed-2.csv")
    visits().write_csv(tmp_path / "other-1.csv")
    visits().drop("note").write_csv(tmp_path / "other-2.csv")
    visits().write_csv(tmp_path / "one.csv")
    with pytest.raises(DiscreetError) as refusal:
        curator(tmp_path / pattern, **more)
    assert refusal.value.code == code


def test_public_files_too(tmp_path: Path) -> None:
    (tmp_path / "w-1.csv").write_text("A,first\n")
    (tmp_path / "w-2.csv").write_text("B,second\nC,third\n")
    source = dp.Curator(
        visits=dp.table(visits(), unit=dp.Row(), columns=COLUMNS),
        wards=dp.public(tmp_path / "w-*.csv", names=["ward", "name"]),
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    text = "SELECT name, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY name"
    assert source.sql(text, spend=ONE)["n"].values == (60, 60, 60)
