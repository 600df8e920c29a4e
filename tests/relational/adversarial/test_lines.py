"""In a text file a line is one record for everybody, whatever quotes or signs it holds.

Hostile lines are drawn from all that readers of CSV trip over. Nothing here is random beyond a
fixed seed, so there are no false alarms.
"""

from __future__ import annotations

import gzip
import random
from collections import Counter
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.relational.engines.duckdb.csv_lines import LONGEST_LINE, Lines, blocks
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.schema.sources import source_of
from tests.relational.adversarial.curators import ask, curator

HEADER = b"pid,w,x,y\n"
PIECES = (
    *(b'"', b'""', b'"""', b"\r", b"\r\r", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    *(b",", b";", b"\t", b"|", b"#", b"\\", b"'", b" ", b"//", b"\x1a", b"\x0b", b"\x85"),
    *(b"1", b"A", b"NULL", b"nan", "é\u2028".encode(), b"a,b", b'"a,b"', b'\\"', b'x"y'),
)


def odd_lines(seed: int, number: int) -> list[bytes]:
    """Lines made of pieces; now and then a good one with something in it."""
    draw = random.Random(seed)
    made = []
    for _ in range(number):
        if draw.random() < 0.4:
            fields = [b"7", b"A", b"3", b"0.5"]
            place = draw.randrange(4)
            fields[place] = b"".join(draw.choices(PIECES, k=draw.randint(1, 3)))
            made.append(b",".join(fields))
        else:
            made.append(b"".join(draw.choices(PIECES, k=draw.randint(0, 9))))
    return made


NUMBERS = count()


@cache
def engine() -> DuckDB:
    """One engine for many small files."""
    return DuckDB(threads=2)


def records(path: Path, text: bytes) -> Counter[tuple[Any, ...]]:
    """The rows that questions are asked about."""
    path.write_bytes(gzip.compress(text) if path.suffix.lower() == ".gz" else text)
    name = attached(path)[0]
    return Counter(engine().rows(f"SELECT * FROM {engine().place(name)}"))


def attached(path: Path) -> tuple[str, dict[str, str]]:
    """A table of its own for a file, and its columns."""
    name = f"t{next(NUMBERS)}"
    return name, engine().attach(name, source_of(path))


GOOD = [b"%d,%s,%d,0.%d" % (k, b"AB"[k % 2 : k % 2 + 1], k % 7, k % 9) for k in range(40)]
QUOTED = [b'%d,"%s",%d,"0.%d"' % (k, b"AB"[k % 2 : k % 2 + 1], k % 7, k % 9) for k in range(40)]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("good", [GOOD, QUOTED], ids=["bare", "quoted"])
def test_one_line_more_is_at_most_one_record_more(
    tmp_path: Path, good: list[bytes], ending: bytes
) -> None:
    header = HEADER.strip() + ending
    base = records(tmp_path / "base.csv", header + b"".join(line + ending for line in good))
    assert base.total() == len(good)
    for place, odd in enumerate(odd_lines(seed=len(ending), number=100)):
        at = place % (len(good) + 1)
        text = ending.join([*good[:at], odd, *good[at:]])
        if place % 3:
            text += ending
        found = records(tmp_path / f"t{place}.csv", header + text)
        assert base - found == Counter(), odd
        assert (found - base).total() == (1 if odd.strip(b"\r") or len(odd) > 1 else 0), odd


def test_lines_are_read_alike_whichever_others_are_there(tmp_path: Path) -> None:
    """All hostile lines at once give what each gives alone."""
    odd = odd_lines(seed=3, number=200)
    alone: Counter[tuple[Any, ...]] = Counter()
    for place, line in enumerate(odd):
        alone += records(tmp_path / f"t{place}.csv", HEADER + line + b"\n")
    assert records(tmp_path / "all.csv", HEADER + b"\n".join(odd) + b"\n") == alone


def test_one_open_quote_swallows_nobody(tmp_path: Path) -> None:
    lines = [b"%d,A,5,0.5" % k for k in range(20_000)]
    lines[10] = b'99999,A,5,"Bob'
    assert records(tmp_path / "t.csv", HEADER + b"\n".join(lines)).total() == 20_000


def test_carriage_returns_make_no_records(tmp_path: Path) -> None:
    hostile = b"\r".join([b"1,A,2,0.5"] * 1001)
    found = records(tmp_path / "t.csv", HEADER + b"1,A,2,0.5\n" + hostile + b"\n2,B,3,0.5\n")
    assert found.total() == 3


@pytest.mark.parametrize("length", [LONGEST_LINE, LONGEST_LINE + 1, 3 << 20, 9 << 20])
def test_a_line_without_end_is_no_record(tmp_path: Path, length: int) -> None:
    hostile = b"1,A,2," + b"9" * (length - 6)
    found = records(tmp_path / "t.csv", HEADER + b"1,A,2,0.5\n" + hostile + b"\n2,B,3,0.5\n")
    assert found.total() == (3 if length <= LONGEST_LINE else 2)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.CSV.GZ", "t.tsv.gz"])
def test_compressed_files_have_lines_too(tmp_path: Path, name: str) -> None:
    text = HEADER + b'1,A,2,0.5\n2,"B,3\r4,0.5\n3,A,4,0.5\n'
    assert records(tmp_path / name, text).total() == 3
    assert records(tmp_path / name, HEADER + b"1,A,2,0.5\n").total() == 1


def test_several_members_of_a_compressed_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    records(path, HEADER)
    path.write_bytes(gzip.compress(HEADER + b"1,A,2,0.5\n") + gzip.compress(b"2,B,3,0.5\n"))
    with curator(path, unit=dp.Row(), randomness=Noiseless()) as made:
        assert ask(made, "SELECT COUNT(*) AS n FROM t").answers[0].values == (2,)


@pytest.mark.parametrize("kept", [0, 5, 60, -4])
def test_a_broken_compressed_file_is_refused_before_anything_is_asked(
    tmp_path: Path, kept: int
) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(HEADER + random.Random(1).randbytes(9000))[:kept])
    with pytest.raises(DiscreetError) as caught:
        curator(path)
    assert caught.value.code in {"source_unreadable", "csv_without_header"}


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"", "csv_without_header"),
        (b"\n1,A\n", "csv_without_header"),
        (b'pid,"w\n1,A"\n', "csv_without_header"),
        (b"pid\rw\r1\n", "csv_without_header"),
        (b"pid,w,w\n", "csv_without_header"),
        (b'pid,w"x\n', "csv_without_header"),
        (b"pid," + b"w" * LONGEST_LINE + b"\n", "csv_without_header"),
        (b"pid,\xff\n", "csv_not_utf8"),
        (b"pid,w\0\n", "csv_not_utf8"),
        ("pid,w\n1,A\n".encode("utf-16"), "csv_not_utf8"),
        ("pid,w\n1,A\n".encode("utf-16-le"), "csv_not_utf8"),
    ],
)
def test_a_header_that_is_none_is_refused(tmp_path: Path, header: bytes, code: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(header)
    with pytest.raises(DiscreetError) as caught:
        attached(path)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (b"\xef\xbb\xbfpid,w\n", ["pid", "w"]),
        (b'\xef\xbb\xbf"pid","w, x"\r\n', ["pid", "w, x"]),
        (b"pid;w\n", ["pid", "w"]),
        (b"pid|w|\n", ["pid", "w", "column3"]),
        (b" pid \tw\n", ["pid", "w"]),
        (b"#pid,w", ["#pid", "w"]),
        (b"pid\n", ["pid"]),
    ],
)
def test_a_header_names_the_columns(tmp_path: Path, header: bytes, names: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(header)
    assert list(attached(path)[1]) == names


def test_a_file_of_one_column_has_its_lines(tmp_path: Path) -> None:
    found = records(tmp_path / "t.csv", b'v\na\n\n""\n\xff\n"b\n  \nc')
    assert found == Counter({("a",): 1, (None,): 2, ('"b',): 1, ("  ",): 1, ("c",): 1})


def test_fields_keep_what_quotes_protect(tmp_path: Path) -> None:
    text = HEADER + b'1,"a,b",2,"say ""no"""\n2,"c""",,""\n3,x"y,"z\n'
    wanted = [("1", "a,b", "2", 'say "no"'), ("2", 'c"', None, None), ("3", 'x"y', '"z', None)]
    assert records(tmp_path / "t.csv", text) == Counter(wanted)


def test_a_copy_is_private_and_goes_with_its_engine(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(HEADER + b'1,A,2,"0\n')
    own = DuckDB()
    own.attach("t", source_of(path))
    (copy,) = map(Path, own._paths)
    assert copy != path
    assert copy.parent.stat().st_mode & 0o077 == 0
    own.close()
    assert not copy.parent.exists()


def test_a_plain_file_is_not_copied(tmp_path: Path) -> None:
    for ending in ("\n", "\r\n"):
        for text in (GOOD, QUOTED):
            path = tmp_path / "t.csv"
            lines = [HEADER.strip(), *text]
            path.write_bytes(ending.encode().join(lines))
            attached(path)
            assert engine()._paths[-1] == str(path)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_quick_look_agrees_with_the_careful_one(width: int, ending: bytes) -> None:
    draw = random.Random(width)
    lines = Lines(b",", width, ending)
    plain = 0
    for _ in range(2000):
        made = [
            b",".join(
                draw.choice([b"1", b'""', b'"a"', b'"a""b"', b'"a,b"', b"", *PIECES[:4]])
                if draw.random() < 0.9
                else draw.choice(PIECES)
                for _ in range(width if draw.random() < 0.95 else width + 1)
            )
            for _ in range(draw.randint(1, 3))
        ]
        block = b"".join(line + ending for line in made)
        assert lines.plain(block) == (len(lines.odd(block)) == 0), block
        plain += lines.plain(block)
        fixed = [lines.fixed(line) for line in block.split(b"\n")]
        kept = b"".join(line + ending for line in fixed if line is not None)
        assert not kept or lines.plain(kept), block
    assert 50 < plain < 1900


def test_blocks_are_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"".join(b"x" * (k % 1000) + b"\n" for k in range(9000)) + b"end")
    with path.open("rb") as file:
        found = list(blocks(file))
    assert b"".join(found) == path.read_bytes()
    assert len(found) > 1
    assert all(block.endswith(b"\n") for block in found[:-1])


def test_the_broken_twin_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that takes every file for plain loses people to an open quote."""
    monkeypatch.setattr(Lines, "plain", lambda *_: True)
    lines = [b"%d,A,5,0.5" % k for k in range(2000)]
    lines[10] = b'99999,A,5,"Bob'
    assert records(tmp_path / "t.csv", HEADER + b"\n".join(lines) + b"\n").total() < 100


def test_an_open_quote_says_nothing_about_the_next_line() -> None:
    lines = Lines(b",", 3, b"\n")
    assert lines.odd(b'a,b,"c\n1,2,3\n').tolist() == [0]
    assert lines.odd(b'a,b,"c\n"x,y,z",w\n').tolist() == [0, 1]
