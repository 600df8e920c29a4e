"""Files that grow, folders that fill: each line or file counts once, and a cut is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources import text_file
from discreet.streams.sources.parquet_files import ParquetFiles
from discreet.streams.sources.source import SourceAway
from discreet.streams.sources.text_file import CSVLines, JSONLines

FIELDS = EventFields(key="key", person="who")


def everything(source: Any) -> list[tuple[str | None, str | None]]:
    found: list[Events] = list(source.read_events_until(source.find_end_offset()))
    return [pair for e in found for pair in zip(e.keys, e.people or (), strict=True)]


def begun(source: Any, offset: Any = None) -> Any:
    source.begin(offset)
    return source


FORMS: dict[str, tuple[Callable[..., Any], str, Callable[[str, str], str]]] = {
    "json": (JSONLines, "", lambda key, who: json.dumps({"key": key, "who": who}) + "\n"),
    "csv": (CSVLines, "who,key\n", lambda key, who: f'{who},"{key}"\r\n'),
}


@pytest.mark.parametrize("form", FORMS)
def test_whole_lines_count_once_as_the_file_grows(tmp_path: Path, form: str) -> None:
    make, header, line = FORMS[form]
    path = tmp_path / "events"
    path.write_text(header + line("A", "ann") + line("B", "bob"))
    source = begun(make(path, FIELDS))
    assert everything(source) == [("A", "ann"), ("B", "bob")]
    whole = line("C", "cid")
    with path.open("a") as file:
        file.write(whole[:5])
    assert everything(source) == []
    with path.open("a") as file:
        file.write(whole[5:] + line("A", "dan"))
    again = begun(make(path, FIELDS), source.offset)
    assert everything(again) == [("C", "cid"), ("A", "dan")]
    assert everything(again) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_is_not_passed(tmp_path: Path, form: str) -> None:
    make, header, line = FORMS[form]
    path = tmp_path / "events"
    path.write_text(header + line("A", "ann"))
    source = begun(make(path, FIELDS))
    cut = source.find_end_offset()
    with path.open("a") as file:
        file.write(line("B", "bob"))
    assert [list(events.keys) for events in source.read_events_until(cut)] == [["A"]]
    assert everything(source) == [("B", "bob")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", ["short", "replaced", "changed"])
def test_a_file_that_lost_what_was_counted_is_refused(tmp_path: Path, form: str, how: str) -> None:
    make, header, line = FORMS[form]
    path = tmp_path / "events"
    path.write_text(header + line("A", "ann") + line("B", "bob"))
    source = begun(make(path, FIELDS))
    everything(source)
    kept = source.offset
    if how == "short":
        path.write_text(header + line("A", "ann"))
        with pytest.raises(InvalidData, match="source_changed"):
            source.find_end_offset()
    elif how == "replaced":
        other = tmp_path / "other"
        other.write_text(header + line("A", "ann") * 50)
        other.replace(path)
        with pytest.raises(InvalidData, match="source_changed"):
            source.find_end_offset()
    else:
        path.write_text(header + line("A", "ann") + line("C", "bob"))
    with pytest.raises(InvalidData, match="source_changed"):
        begun(make(path, FIELDS), kept)


def test_lines_that_cannot_be_read_are_events_without_a_key(tmp_path: Path) -> None:
    path = tmp_path / "events"
    deep = "[" * 100_000
    path.write_bytes(b'{"key": "A"\n\xff\xfe\n[]\n' + deep.encode() + b'\n\n{"key": "A"}\n')
    assert [key for key, _ in everything(begun(JSONLines(path, FIELDS)))] == [None] * 5 + ["A"]
    path.write_text('who,key\nann\nann,A,B\n"ann,A\nann,A\n')
    assert [key for key, _ in everything(begun(CSVLines(path, FIELDS)))] == [None] * 3 + ["A"]


def test_a_line_without_end_holds_nothing_up_once_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "_LONGEST", 100)
    monkeypatch.setattr(text_file, "_BLOCK", 128)
    path = tmp_path / "events"
    path.write_text('{"key": "A"}\n' + "x" * 1000)
    source = begun(JSONLines(path, FIELDS))
    assert [key for key, _ in everything(source)] == ["A"]
    assert everything(source) == []
    with path.open("a") as file:
        file.write("y" * 300 + '\n{"key": "B"}\n')
    assert [key for key, _ in everything(source)] == ["B"]


def test_what_is_not_there_is_away_and_headers_are_checked(tmp_path: Path) -> None:
    with pytest.raises(SourceAway, match="source_away"):
        begun(JSONLines(tmp_path / "nothing", FIELDS))
    (tmp_path / "events").write_text("who,ke")
    with pytest.raises(SourceAway, match="source_away"):
        begun(CSVLines(tmp_path / "events", FIELDS))
    (tmp_path / "events").write_text("who,ward\n")
    with pytest.raises(InvalidParameter, match="stream_field"):
        begun(CSVLines(tmp_path / "events", FIELDS))
    with pytest.raises(InvalidParameter, match="stream_field"):
        JSONLines(tmp_path / "events", {"key": "ward"})  # type: ignore[arg-type]


def parquet(path: Path, first: int, count: int) -> None:
    with duckdb.connect() as made:
        made.execute(
            "COPY (SELECT chr(65 + CAST(n % 3 AS INTEGER)) AS key, 'p' || n AS who, n AS extra "
            f"FROM range({first}, {first + count}) AS t(n)) TO '{path}' (FORMAT parquet)"
        )


def test_parquet_files_are_read_whole_in_the_order_of_their_names(tmp_path: Path) -> None:
    parquet(tmp_path / "b.parquet", 10, 100_000)
    parquet(tmp_path / "a.parquet", 0, 10)
    source = begun(ParquetFiles(tmp_path, FIELDS))
    cut = source.find_end_offset()
    parquet(tmp_path / "c.parquet", 7, 1)
    found = [
        p for e in source.read_events_until(cut) for p in zip(e.keys, e.people or (), strict=True)
    ]
    assert len(found) == 100_010
    assert found[:2] == [("A", "p0"), ("B", "p1")]
    again = begun(ParquetFiles(tmp_path, FIELDS), source.offset)
    assert everything(again) == [("B", "p7")]
    (tmp_path / "c.parquet").unlink()
    with pytest.raises(InvalidData, match="source_changed"):
        begun(ParquetFiles(tmp_path, FIELDS), again.offset)


def test_a_parquet_file_that_is_not_whole_is_waited_for(tmp_path: Path) -> None:
    parquet(tmp_path / "whole", 0, 10)
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "a.parquet").write_bytes(content[:-20])
    source = begun(ParquetFiles(tmp_path, FIELDS))
    with pytest.raises(SourceAway, match="source_away"):
        everything(source)
    (tmp_path / "a.parquet").write_bytes(content)
    assert len(everything(source)) == 10
    unkeyed = begun(ParquetFiles(tmp_path, EventFields()))
    assert [len(events) for events in unkeyed.read_events_until(unkeyed.find_end_offset())] == [10]


@pytest.mark.parametrize("length", [1, 1 << 15, 1 << 16, (1 << 16) + 1, 1 << 19])
def test_lines_longer_than_what_is_read_at_once_are_read(tmp_path: Path, length: int) -> None:
    place = tmp_path / "long.jsonl"
    long = json.dumps({"key": "A", "more": "x" * length})
    place.write_text(f'{long}\n{{"key": "B"}}\n{long}\n{long}')
    source = JSONLines(place, EventFields(key="key"))
    source.begin(None)
    found = [
        key for events in source.read_events_until(source.find_end_offset()) for key in events.keys
    ]
    assert found == ["A", "B", "A"]
    with place.open("a") as file:
        file.write("\n")
    assert [
        key for events in source.read_events_until(source.find_end_offset()) for key in events.keys
    ] == ["A"]
