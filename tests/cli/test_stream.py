"""``discreet stream``: a stream in a shell, paid once, paused and gone on with."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from discreet.cli.stream_options import CounterName, counter_of, source_of, span_of, start_of
from discreet.cli.stream_view import StreamTable, sparkline, view
from discreet.errors import InvalidParameter
from discreet.streams.live import EventFields, Tick
from discreet.streams.live.pan_private import pan_private
from discreet.streams.sources import CSVLines, JSONLines, KafkaTopic, LineSocket, ParquetFiles
from discreet.streams.tree import BinaryTree, ReducedTree
from tests.cli.hospital import run

START = datetime(2027, 1, 1, tzinfo=UTC)
FIELDS = "--key ward --person patient --time at"
NEW = (
    f"stream events.jsonl {FIELDS} --keys A,B,C --max-events 2 --every 1m --ticks 6 "
    "--start 2027-01-01T00:00 --epsilon 1 --state ward.stream --replay"
)


@pytest.fixture
def events(project: Path) -> Path:
    with Path("events.jsonl").open("w", encoding="utf-8") as file:
        for n in range(60):
            record = {"ward": "ABC"[n % 3], "patient": f"p{n}", "at": START.timestamp() + 5 * n}
            file.write(json.dumps(record) + "\n")
    return project


def test_a_stream_is_paid_once_and_told_tick_by_tick(events: Path) -> None:
    done = run(NEW)
    assert done.code == 0, done.error
    assert done.output.count("within") == 6
    assert "2027-01-01 00:01:00  A " in done.output
    assert "remaining: epsilon 2, delta 1e-06" in done.output


def test_what_is_known_before_the_first_tick_is_said_before_it(events: Path) -> None:
    done = run(NEW)
    first, second, third = done.output.splitlines()[:3]
    assert "6 ticks of 0:01:00, the first of them at 2027-01-01 00:01:00 UTC" in first
    assert "each patient counts as at most 2 events; not in the interval" in second
    assert "within" in third
    paused = run(f"{NEW} --stop-after 1".replace("ward.stream", "more.stream"))
    name = paused.output.partition("--resume ")[2].split()[0]
    assert f"stream {name}: " in paused.output


def test_streams_need_no_table(events: Path) -> None:
    terms = """
ledger = "alone.ledger"
[budget]
kind = "pure"
epsilon = 2
"""
    Path("alone.toml").write_text(terms, encoding="utf-8")
    refused = run(f"{NEW} --project alone.toml")
    assert refused.code == 2
    assert "for streams alone, [unit]" in " ".join(refused.error.replace("│", "").split())
    with Path("alone.toml").open("a", encoding="utf-8") as file:
        file.write('[unit]\nkind = "person"\nid = "patient"\n')
    done = run(f"{NEW} --project alone.toml")
    assert done.code == 0, done.error
    assert "remaining: epsilon 1" in done.output
    shown = run("ledger show --project alone.toml")
    assert "stream of 6 ticks by ward" in shown.output


def test_it_pauses_and_goes_on_at_no_charge(events: Path) -> None:
    first = run(f"{NEW} --stop-after 2")
    assert first.code == 0, first.error
    name = first.output.partition("--resume ")[2].split()[0]
    again = run(f"stream events.jsonl {FIELDS} --resume {name} --replay")
    assert again.code == 0, again.error
    assert again.output.count("within") == 4
    assert "remaining: epsilon 2, delta 1e-06" in again.output


def test_ticks_stand_in_a_file_for_pages(events: Path) -> None:
    first = run(f"{NEW} --stop-after 2 --publish ward.ticks")
    assert first.code == 0, first.error
    name = first.output.partition("--resume ")[2].split()[0]
    Path("ward.ticks").unlink()  # what was lost is written again
    assert (
        run(f"stream events.jsonl {FIELDS} --resume {name} --replay --publish ward.ticks").code == 0
    )
    told = [json.loads(line) for line in Path("ward.ticks").read_text().splitlines()]
    assert [tick["tick"] for tick in told] == list(range(6))


def test_keys_are_found_for_a_delta(events: Path) -> None:
    find = "--find-keys 5 --find-every 3 --epsilon 2 --delta 1e-6"
    done = run(NEW.replace("--keys A,B,C", find).replace("--epsilon 1 ", "") + " --json")
    assert done.code == 0, done.error
    told = [json.loads(line) for line in done.output.splitlines()]
    assert [tick["values"] for tick in told[:2]] == [{}, {}]
    assert all(set(tick["values"]) <= {"A", "B", "C"} for tick in told)


def test_machines_get_a_line_for_each_tick(events: Path) -> None:
    told = [json.loads(line) for line in run(f"{NEW} --json").output.splitlines()]
    assert [tick["tick"] for tick in told] == list(range(6))
    assert set(told[0]["values"]) == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (NEW.replace("--epsilon 1", ""), "spend_or_accuracy"),
        (NEW.replace("--every 1m", "--every soon"), "tick_length"),
        (NEW.replace("--start 2027-01-01T00:00", ""), "tick_start"),
        (NEW.replace("--keys A,B,C", ""), "stream_keys_undeclared"),
        (f"{NEW} --find-keys 5 --find-every 3", "stream_keys"),
        (NEW.replace("--keys A,B,C", "--find-keys 5"), "stream_keys"),
        (NEW.replace("--keys A,B,C", "--find-keys 5 --find-every 3"), "keys_need_delta"),
        (NEW.replace("--max-events 2", ""), "user_without_cap"),
        (NEW.replace("--person patient", ""), "user_without_cap"),
        (NEW.replace("events.jsonl", "events.txt"), "stream_source"),
        (NEW.replace("events.jsonl", "nothing.jsonl"), "source_away"),
    ],
)
def test_what_is_refused_is_free_and_says_what_to_write(events: Path, line: str, code: str) -> None:
    done = run(line)
    assert done.code == 2
    assert code in done.error
    assert not Path("ward.stream").exists()


def test_sources_are_known_by_their_names(tmp_path: Path) -> None:
    fields = EventFields(key="ward", id="visit")
    assert isinstance(source_of("a.csv", fields), CSVLines)
    assert isinstance(source_of("a.jsonl", fields), JSONLines)
    assert isinstance(source_of(str(tmp_path), fields), ParquetFiles)
    pytest.importorskip("kafka")
    assert isinstance(source_of("kafka://a:1,b:2/visits", fields), KafkaTopic)
    listening = source_of("socket:0", fields)
    assert isinstance(listening, LineSocket)
    listening.close()
    redis = pytest.importorskip("redis")
    assert redis
    source_of("redis://localhost:1/0#visits", fields).close()


def test_counters_times_and_starts() -> None:
    assert counter_of(CounterName.TREE) is BinaryTree
    assert counter_of(CounterName.REDUCED) is ReducedTree
    assert counter_of(CounterName.PAN_PRIVATE) is pan_private
    assert span_of("1.5h") == timedelta(minutes=90)
    assert start_of("2027-01-01T00:00+01:00", replay=True) == START - timedelta(hours=1)
    assert start_of(None, replay=False) > START - timedelta(days=365)
    with pytest.raises(InvalidParameter, match="tick_start"):
        start_of(None, replay=True)


def tick(number: int, **values: float) -> Tick:
    begins = START + number * timedelta(minutes=1)
    return Tick(number, begins, begins + timedelta(minutes=1), values, 3.2, 0.95)


def test_a_terminal_shows_a_table_with_curves() -> None:
    table = StreamTable(6)
    for number in range(4):
        table.add(tick(number, A=number, B=1))
    shown = Console(file=io.StringIO(), width=100)
    shown.print(table.add(tick(4, A=9, B=1)))
    text: Any = shown.file
    assert "tick 5 of 6" in text.getvalue()
    assert sparkline([0, 1, 2, 3, 9]) in text.getvalue()
    assert "± 3.2" in text.getvalue()


def test_many_keys_are_cut_short_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    table = StreamTable(6).add(tick(0, **{f"k{n}": n for n in range(40)}))
    assert table.row_count == 30
    assert "10 more" in str(table.caption)
    with view(6, machine=False) as plain:
        plain.show(tick(0, A=1))
    assert "A 1" in capsys.readouterr().out
