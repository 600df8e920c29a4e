"""Hostile files: missing, broken, changed, ragged. Types never depend on what a file holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError, EngineFailed
from discreet.noise import Noiseless
from discreet.relational.database import Database
from tests.relational.adversarial.curators import COLUMNS, SECRETS, ask, curator, spent, words

GOOD = pl.DataFrame(
    {"pid": [1, 1, 2, 3], "w": ["A", "B", "A", "B"], "x": [1, 2, 3, 4], "y": [0.1, 0.2, 0.3, 0.4]}
)
COUNTS = "SELECT w, COUNT(*) AS n, COUNT(x) AS m FROM t GROUP BY w"


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    GOOD.write_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def refusal(source: object) -> DiscreetError:
    with pytest.raises(DiscreetError) as caught:
        curator(source)
    assert not any(secret in words(caught.value) for secret in SECRETS)
    return caught.value


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.parquet").code == "file_not_found"
    assert refusal(tmp_path).code == "file_not_found"


@pytest.mark.parametrize("kept", [0, 3, 40, 200, -1, -9])
def test_a_truncated_parquet_file_is_refused(parquet: Path, kept: int) -> None:
    parquet.write_bytes(parquet.read_bytes()[:kept])
    assert refusal(parquet).code == "source_unreadable"


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text(f"pid,w\n1,{SECRETS[0]}\n")
    assert refusal(tmp_path / "t.parquet").code == "source_unreadable"
    (tmp_path / "t.duckdb").write_text(SECRETS[0] * 1000)
    assert refusal(tmp_path / "t.duckdb").code == "source_unreadable"
    (tmp_path / "t.exe").write_text(SECRETS[0])
    assert refusal(tmp_path / "t.exe").code == "unknown_file_kind"


def test_a_file_broken_in_the_middle_fails_like_everything_else(tmp_path: Path) -> None:
    """Metadata are whole, so it opens; its pages are not, so reading fails."""
    path = tmp_path / "t.parquet"
    values = np.arange(200_000)
    frame = pl.DataFrame({"pid": values, "w": ["A"] * 200_000, "x": values % 7, "y": values / 7})
    frame.write_parquet(path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[1000 : len(data) // 2] = os.urandom(len(data) // 2 - 1000)
    path.write_bytes(bytes(data))
    with curator(path) as made:
        with pytest.raises(EngineFailed) as caught:
            ask(made, "SELECT SUM(x) AS s, SUM(y) AS r, COUNT(*) AS n FROM t")
        assert caught.value.code == "engine_failed"
        assert spent(made) == 1


def test_a_file_that_changed_is_noticed_before_anything_is_paid(parquet: Path) -> None:
    with curator(parquet) as made:
        ask(made, COUNTS)
        GOOD.head(2).write_parquet(parquet)
        with pytest.raises(DiscreetError) as caught:
            ask(made, "SELECT COUNT(*) AS n FROM t")
        assert caught.value.code == "data_changed"
        assert spent(made) == 1


def test_a_file_that_changes_while_it_is_read_gives_no_answer(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with curator(parquet) as made:
        real = dp.DuckDB.numbers

        def numbers(self: dp.DuckDB, text: str) -> Any:
            found = real(self, text)
            GOOD.head(1).write_parquet(parquet)
            return found

        monkeypatch.setattr(dp.DuckDB, "numbers", numbers)
        with pytest.raises(EngineFailed):
            ask(made, COUNTS)
        assert spent(made) == 1


def test_a_file_that_is_gone_is_noticed(parquet: Path) -> None:
    with curator(parquet) as made:
        parquet.unlink()
        with pytest.raises(DiscreetError) as caught:
            ask(made, COUNTS)
        assert caught.value.code in ("data_changed", "file_not_found")
        assert spent(made) == 0


@pytest.mark.parametrize("exchanged", [True, False], ids=["exchanged", "broken"])
def test_a_public_file_that_cannot_be_read_any_more_is_refused_free(
    parquet: Path, tmp_path: Path, *, exchanged: bool
) -> None:
    """Its pages are overwritten; where the directory entry tells it, that it was exchanged."""
    path = tmp_path / "p.parquet"
    pl.DataFrame({"x": [*range(5)] * 4000, "k": range(20_000)}).write_parquet(path)
    with dp.Curator(
        t=dp.table(parquet, unit=dp.Row(), columns=COLUMNS),
        p=dp.public(path),
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
    ) as made:
        before, data = path.stat(), path.read_bytes()
        path.write_bytes(data[:4] + b"\0" * (len(data) - 8) + data[-4:])
        if not exchanged:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(DiscreetError) as caught:
            ask(made, "SELECT COUNT(*) AS n FROM t JOIN p ON t.x = p.x")
        assert caught.value.code == "data_changed" if exchanged else "source_unreadable"
        assert spent(made) == 0


def test_the_engine_reads_nothing_but_what_was_attached(parquet: Path, tmp_path: Path) -> None:
    GOOD.write_parquet(tmp_path / "other.parquet")
    engine = dp.DuckDB()
    database = Database(engine, {"t": dp.table(parquet, unit=dp.Row(), columns=COLUMNS)})
    for text in (
        f"SELECT COUNT(*) FROM read_parquet('{tmp_path}/other.parquet')",
        f"SELECT COUNT(*) FROM glob('{tmp_path}/*')",
        "SELECT content FROM read_text('/etc/hostname')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/new.db'",
        "SET enable_external_access = true",
        "SET threads = 1",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT COUNT(*) FROM engine",
    ):
        with pytest.raises(Exception, match=r"(?i)error|not|cannot|disabled|locked"):
            engine._run(text).fetchall()
    assert not list(tmp_path.glob("out*")) + list(tmp_path.glob("new*"))
    database.close()


def test_a_path_is_not_a_pattern(tmp_path: Path) -> None:
    GOOD.write_parquet(tmp_path / "t[1].parquet")
    with pytest.raises(DiscreetError, match="unknown_file_kind"):
        dp.table(tmp_path / "t[1].parquet", unit=dp.Row(), columns={})


# CSV ---------------------------------------------------------------------------------------------


def counted(path: Path, text: str | bytes, sql: str = COUNTS) -> list[tuple[Any, ...]]:
    """The exact counts of a CSV file, row by row a unit."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with curator(path, unit=dp.Row(), randomness=Noiseless()) as made:
        return [answer.values for answer in ask(made, sql).answers]


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("w,x,y\nA,1,0\nB,2,0\n", [(1, 1), (1, 1)]),
        ("w,x,y\n", [(0, 0), (0, 0)]),
        ("w,x,y\nA,1,0\nA,zwei,0\nB,,0\n", [(2, 1), (1, 0)]),
        ("w,x,y\nA\nB,2\nA,1,0\n", [(2, 1), (1, 1)]),
        ("w,x,y\nA,1,0,9,9,9\nB,2,0\n", [(1, 1), (1, 1)]),
        ('w,x,y\n"A","1","0"\n"B","""2","0"\n', [(1, 1), (1, 0)]),
        ("\ufeffw,x,y\r\nA,1,0\r\nB,2,0\r\n", [(1, 1), (1, 1)]),
        (f"w,x,y\nA,1,0\nB,{'9' * 3_000_000},0\n", [(1, 0), (1, 0)]),
        ("w,x,y\nA,1,0\n\n\nB,2,0\n", [(1, 1), (1, 1)]),
        ("w,x,y\nA,0x1,0\nB, 2,0\nA,1e3,0\nB,NaN,0\n", [(2, 2), (1, 0)]),
    ],
    ids=["plain", "empty", "words", "short", "long", "quotes", "windows", "huge", "blank", "forms"],
)
def test_a_line_that_does_not_fit_is_its_own_affair(
    csv: Path, text: str, wanted: list[tuple[int, int]]
) -> None:
    assert counted(csv, text) == wanted


def test_types_do_not_depend_on_the_lines(csv: Path) -> None:
    """Numbers, dates and words are all text until a declaration says otherwise."""
    for first in ("1", "2024-01-01", "true", "x", '""'):
        csv.write_text(f"w,x,y,note\nA,1,0,{first}\n")
        database = Database(dp.DuckDB(), {"t": dp.table(csv, unit=dp.Row(), columns=COLUMNS)})
        entry = database.find("t")
        assert entry is not None
        assert {field.stored for field in entry.fields.values()} == {"VARCHAR"}
        database.close()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"w": ["A", "B"], "x": [1, 2], "y": [0.1, 0.2], "note": ["1", "2"]}),
        pd.DataFrame(
            {
                "w": ["A", None],
                "x": [1, 2],
                "y": [0.1, 0.2],
                "note": pd.Series([1, "x"], dtype=object),
            }
        ),
        pd.DataFrame(
            {
                "w": ["A", None],
                "x": [1, 2],
                "y": [0.1, 0.2],
                "note": pd.Series([None, 2.5], dtype=object),
            }
        ),
    ],
    ids=["text", "mixed", "numbers"],
)
def test_types_do_not_depend_on_objects_in_a_frame(frame: pd.DataFrame) -> None:
    database = Database(dp.DuckDB(), {"t": dp.table(frame, unit=dp.Row(), columns=COLUMNS)})
    entry = database.find("t")
    assert entry is not None
    assert entry.fields["note"].stored == "VARCHAR"
    database.close()


ALL = "SELECT COUNT(*) AS n, COUNT(x) AS m FROM t"


def test_one_open_quote_swallows_nobody(csv: Path) -> None:
    lines = [f"{'AB'[k % 2]},{k % 7},0" for k in range(20_000)]
    lines[7] = 'A,3,"Bob'
    assert counted(csv, "\n".join(["w,x,y", *lines, ""]), ALL) == [(20_000,), (20_000,)]


def test_carriage_returns_make_no_rows(csv: Path) -> None:
    text = "w,x,y\nA,1,0\n" + "\r".join(["A,1,0"] * 1_000) + "\nB,2,0\n"
    assert counted(csv, text, ALL) == [(3,), (3,)]


def test_a_line_break_in_quotes_ends_the_row_as_any_other(csv: Path) -> None:
    assert counted(csv, 'w,x,y\nA,1,0\n"A\nB",2,0\nB,3,0\n', ALL) == [(4,), (3,)]


def test_mixed_line_endings_are_endings(csv: Path) -> None:
    text = "w,x,y\r\nA,1,0\r\nB,2,0\nA,3,0\rB,4,0\r\n"
    assert counted(csv, text) == [(2, 1), (2, 1)]


def test_bytes_that_are_not_text_are_their_own_affair(csv: Path) -> None:
    text = b"w,x,y\nA,1,0\n\xff\xfe,2,0\nB,\xff,0\n"
    assert counted(csv, text) == [(1, 1), (1, 0)]
    assert counted(csv, text, ALL) == [(3,), (2,)]


def test_a_malformed_quote_is_its_own_affair(csv: Path) -> None:
    assert counted(csv, 'w,x,y\nA,1,0\nA,"1"x,0\nB,3,0\n') == [(2, 1), (1, 1)]


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        'a"b',
        "a'b",
        "a;b",
        "a--b",
        "a b\n\t",
        "SELECT",
        "cell",
        "o",
        "k0",
        "c0",
        "h",
        "hv",
        "!owner",
        "t#1.w",
        "ünï\U0001f600",
        "x" * 5000,
        "1",
        "*",
        "%s {0} {",
    ],
)
def test_columns_of_any_name_are_only_columns(name: str) -> None:
    frame = pl.DataFrame({"pid": [1, 1, 2], "w": ["A", "B", "A"], name: [1, 2, 30]})
    columns = {"w": COLUMNS["w"], name: dp.Number(0, 10)}
    quoted = '"' + name.replace('"', '""') + '"'
    with curator(frame, columns=columns, randomness=Noiseless()) as made:
        for sql in (
            f"SELECT w, SUM({quoted}) AS s FROM t WHERE {quoted} > 0 GROUP BY w",
            f"SELECT SUM(v) AS s FROM (SELECT DISTINCT w, {quoted} AS v FROM t) AS q",
            f"SELECT SUM(v) AS s FROM (SELECT {quoted} AS v FROM t UNION ALL SELECT 1 FROM t) AS q",
        ):
            assert len(ask(made, sql).answers) == 1
        assert ask(made, f"SELECT SUM({quoted}) AS s FROM t").answers[0].values == (13,)
