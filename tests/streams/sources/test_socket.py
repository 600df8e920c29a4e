"""Lines over a socket are acknowledged once they are durable; others come again, and count once."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EventFields
from discreet.streams.sources import line_socket
from discreet.streams.sources.line_socket import LineSocket
from discreet.streams.sources.source import SourceAway
from tests.streams.live.scripted import NotedTicks, resumed, started, state_file

FIELDS = EventFields(key="key", id="id")


class Sender:
    """A program that sends events, and again what was not acknowledged."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._lines = self._socket.makefile("rb")

    def send(self, first: int, count: int) -> None:
        lines = [json.dumps({"key": "ABC"[n % 3], "id": n}) for n in range(first, first + count)]
        self._socket.sendall(("\n".join(lines) + "\n").encode())

    def raw(self, content: bytes) -> None:
        self._socket.sendall(content)

    def told(self) -> int:
        return int(self._lines.readline())

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def arrived(source: LineSocket, count: int) -> None:
    """Wait until so many lines are there."""
    end = time.monotonic() + 10
    while sum(source.find_end_offset().values()) < count:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_lines_count_and_are_acknowledged_after_they_are_durable(tmp_path: Path) -> None:
    source = LineSocket(FIELDS, port=0)
    sender = Sender(source.port)
    stream = started(source, state_file(tmp_path), NotedTicks())
    sender.send(0, 30)
    arrived(source, 30)
    assert sum(next(stream).values.values()) == 30
    assert sender.told() == 30
    sender.send(30, 5)
    arrived(source, 35)
    next(stream)
    assert sender.told() == 35
    sender.close()
    source.close()


def test_a_place_that_was_found_before_earlier_lines_were_counted_stays_the_same() -> None:
    source = LineSocket(FIELDS, port=0)
    sender = Sender(source.port)
    sender.send(0, 3)
    arrived(source, 3)
    first = source.find_end_offset()
    sender.send(3, 4)
    arrived(source, 7)
    second = source.find_end_offset()
    sender.send(7, 5)
    arrived(source, 12)
    found = []
    for cut in (first, second, source.find_end_offset()):
        found.append(sum(len(events) for events in source.read_events_until(cut)))
        source.committed(source.offset)
    assert found == [3, 4, 5]
    sender.close()
    source.close()
    other = LineSocket(FIELDS, port=0)  # in another process it is nobody's place
    assert list(other.read_events_until(second)) == []
    other.close()


def test_what_was_not_acknowledged_is_sent_again_and_counts_once(tmp_path: Path) -> None:
    log = NotedTicks()
    source = LineSocket(FIELDS, port=0)
    sender = Sender(source.port)
    stream = started(source, state_file(tmp_path), log)
    sender.send(0, 20)
    arrived(source, 20)
    next(stream)
    sender.send(20, 10)
    arrived(source, 10)
    sender.close()
    source.close()  # as if the process had ended: ten lines were never counted

    source = LineSocket(FIELDS, port=0)
    stream = resumed(source, state_file(tmp_path), log, speaker=2)
    sender = Sender(source.port)
    sender.send(15, 15)  # five of them were counted, and the sender never heard of it
    arrived(source, 15)
    assert sum(next(stream).values.values()) == 30
    assert sender.told() == 15
    sender.close()
    source.close()


def test_a_sender_that_writes_rubbish_harms_nobody(tmp_path: Path) -> None:
    source = LineSocket(FIELDS, port=0)
    good, bad = Sender(source.port), Sender(source.port)
    stream = started(source, state_file(tmp_path), NotedTicks())
    bad.raw(b"\xff" * (3 << 20) + b'"\n{"key": "A", "id": 999}\n')
    good.send(0, 3)
    arrived(source, 5)
    assert sum(next(stream).values.values()) == 4
    assert good.told() == 3
    good.close()
    bad.close()
    source.close()


def test_a_socket_needs_identifiers_and_a_free_port() -> None:
    with pytest.raises(InvalidParameter, match="stream_field"):
        LineSocket(EventFields(key="key"), port=0)
    source = LineSocket(FIELDS, port=0)
    with pytest.raises(SourceAway, match="source_away"):
        LineSocket(FIELDS, port=source.port)
    source.close()


def test_who_does_not_listen_is_let_go_and_holds_up_nobody() -> None:
    """Acknowledgements that nobody reads fill a buffer; waiting for room stopped all ticks."""
    source = LineSocket(FIELDS, port=0)
    deaf, other = Sender(source.port), Sender(source.port)
    deaf.send(0, 1)
    other.send(1, 1)
    arrived(source, 2)
    with source._lock:
        first = source._senders[0].connection
    with suppress(BlockingIOError):
        while True:
            first.send(b"0\n" * 4096, socket.MSG_DONTWAIT)
    assert sum(len(events) for events in source.read_events_until(source.find_end_offset())) == 2
    telling = threading.Thread(target=source.committed, args=(source.offset,), daemon=True)
    telling.start()
    telling.join(5)
    assert not telling.is_alive()
    other.send(2, 1)
    arrived(source, 3)
    end = time.monotonic() + 10
    while source._senders[0].open:
        assert time.monotonic() < end
        time.sleep(0.005)
    assert [each.open for each in source._senders] == [False, True]
    assert sorted(source.find_end_offset().values()) == [1, 2]
    assert other.told() == 1
    deaf.close()
    other.close()
    source.close()


def test_a_moment_without_descriptors_does_not_end_accepting() -> None:
    """It did, silently: whoever connected later was never heard."""
    source = LineSocket(FIELDS, port=0)
    listener, failures = source._listener, iter([OSError(24, "too many open files")] * 3)

    def accept() -> Any:
        for failure in failures:
            raise failure
        return listener.accept()

    with socket.create_connection(("127.0.0.1", source.port)):
        source._listener = SimpleNamespace(  # type: ignore[assignment]
            accept=accept, shutdown=listener.shutdown, close=listener.close
        )
    sender = Sender(source.port)
    sender.send(0, 2)
    arrived(source, 2)
    assert next(failures, None) is None
    sender.close()
    source.close()


def test_a_moment_without_threads_does_not_end_accepting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds none is let go of, and sends again."""
    source, start = LineSocket(FIELDS, port=0), threading.Thread.start
    failures = iter([RuntimeError("can't start new thread")] * 3)

    def starting(thread: threading.Thread) -> None:
        for failure in failures:
            raise failure
        start(thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", starting)
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", source.port), 10) as left:
                assert left.recv(1) == b""
        sender = Sender(source.port)
        sender.send(0, 2)
        arrived(source, 2)
    assert len(source._senders) == 1
    sender.close()
    source.close()


def test_a_connection_is_read_ahead_by_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_socket, "_BYTES", 1 << 20)
    source = LineSocket(FIELDS, port=0)
    flood, other = socket.create_connection(("127.0.0.1", source.port)), Sender(source.port)
    flood.settimeout(0.5)
    with suppress(TimeoutError):
        for _ in range(400):
            flood.sendall(b"x" * 100_000 + b"\n")
    other.send(0, 1)
    time.sleep(0.1)
    with source._lock:
        held = [each.held for each in source._senders]
    assert sum(source.find_end_offset().values()) > 1
    assert max(held) <= (1 << 20) + line_socket._BLOCK + 100_000
    assert sum(len(events) for events in source.read_events_until(source.find_end_offset())) > 1
    source.committed(source.offset)
    assert other.told() == 1
    flood.close()
    other.close()
    source.close()


def test_silent_connections_make_room_for_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_socket, "_SENDERS", 4)
    source = LineSocket(FIELDS, port=0)
    silent = [socket.create_connection(("127.0.0.1", source.port)) for _ in range(6)]
    sender = Sender(source.port)
    sender.send(0, 3)
    arrived(source, 3)
    assert len(source._senders) <= 4
    assert silent[0].recv(1) == b"", "who was silent longest"
    time.sleep(0.05)  # its thread ends
    for each in silent:
        each.close()
    sender.close()
    source.close()


def test_all_connections_together_are_read_ahead_by_so_many_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight senders of a megabyte each, by lines, short lines and a line that never ends."""
    monkeypatch.setattr(line_socket, "_TOTAL", 1 << 20)
    monkeypatch.setattr(line_socket, "_SENDERS", 9)
    monkeypatch.setattr(line_socket, "_BLOCK", 1 << 12)
    source = LineSocket(FIELDS, port=0)
    content = [(b"x" * 999 + b"\n") * 1000, b"xy\n" * 300_000, b"x" * 1_000_000]

    def flood(number: int) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", source.port)) as made:
            made.sendall(content[number % 3])
            made.recv(1)

    for number in range(8):
        threading.Thread(target=flood, args=(number,), daemon=True).start()
    time.sleep(1)
    polite = Sender(source.port)
    polite.send(0, 5)
    end = time.monotonic() + 10
    while not any(len(each.arrived) == 5 for each in list(source._senders)):
        assert time.monotonic() < end, "who sends little is not held up"
        time.sleep(0.01)
    rooms = [each.room for each in list(source._senders)]
    most = line_socket._TOTAL + 9 * (line_socket._BLOCK * (1 + line_socket._LINE))
    assert 1 << 19 < sum(rooms) <= most
    polite.close()
    source.close()


def test_connections_that_ended_with_lines_here_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_socket, "_SENDERS", 3)
    source = LineSocket(FIELDS, port=0)
    for number in range(3):
        sender = Sender(source.port)
        sender.send(number, 1)
        arrived(source, number + 1)
        sender.close()
    late = socket.create_connection(("127.0.0.1", source.port), timeout=10)
    assert late.recv(1) == b"", "until a tick has made room"
    late.close()
    source.close()
