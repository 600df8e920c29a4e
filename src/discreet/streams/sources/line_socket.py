"""Events over a socket: one JSON object on each line, acknowledged once it is counted for good.

Programs connect and write lines. After a tick is durable each is told, on a line of its own, how
many of the lines of its connection are counted by now. Lines for which no such number came are sent
again after a new connection; since an acknowledgement may get lost as well, every event has an
``id``, by which a second copy is known. So nothing is lost and nothing counts twice, whoever of
the two crashes.

Nobody is waited for: a sender that does not read what it is told is let go of once it can be told
nothing more. A connection is one party: it is read a million lines or 16 megabytes ahead at most,
and all of them together 64 megabytes, above which each has the 256th part of that. So whoever sends
on behalf of several people lets one of them hold up the others' events. Give each party its own;
there are at most 256, those that ended with lines here included, and where one more comes, the one
that has been silent longest is let go of, if it has nothing here. A moment without descriptors or
threads ends nothing: accepting goes on.

It listens on this machine alone unless told otherwise, and asks nobody who they are.

Source: contract, "Spending" (streams).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources.source import Offset, away
from discreet.streams.sources.text_file import json_record

_LONGEST = 1 << 20
_MOST = 1 << 20
_BYTES = 1 << 24
_SENDERS = 256
_TOTAL = 1 << 26
_LINE = 64
"""Bytes that a line takes beside its own."""
_PAUSE = 0.05
_BLOCK = 1 << 16
_BATCH = 1 << 11


@dataclass
class _Sender:
    """One connection: lines that arrived, were handed out, and are counted."""

    connection: socket.socket
    name: str = field(default_factory=random_id)  # a place is of this one alone
    arrived: list[bytes] = field(default_factory=list)
    held: int = 0
    rest: int = 0  # bytes of a line that has not ended
    heard_at: float = field(default_factory=time.monotonic)
    handed_out: int = 0
    counted: int = 0
    open: bool = True

    @property
    def room(self) -> int:
        """Bytes of memory that its lines take."""
        return self.held + self.rest + _LINE * len(self.arrived)


class LineSocket:
    """Listens for lines of JSON.

    >>> LineSocket(EventFields(key="ward", id="visit"), port=0).port > 0
    True
    """

    fields: EventFields

    def __init__(self, fields: EventFields, *, port: int, host: str = "127.0.0.1") -> None:
        """Listen; port 0 takes a free one."""
        if fields.id is None:
            raise InvalidParameter(
                code="stream_field",
                expectation="EventFields(id=...) for a socket, where lines may come twice",
                remedy="Name the field that tells one event from another.",
            )
        self.fields = fields
        self._lock = threading.Condition()
        self._senders: list[_Sender] = []
        self._open = True
        try:
            self._listener = socket.create_server((host, port))
        except OSError:
            raise away(what=f"{host}:{port}, which cannot be listened on") from None
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def begin(self, offset: Offset | None) -> None:
        """Nothing to go back to: whoever was not told otherwise sends again."""

    def find_end_offset(self) -> Offset:
        with self._lock:
            return {each.name: each.counted + len(each.arrived) for each in self._senders}

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        with self._lock:
            senders = list(self._senders)
        for sender in senders:
            end = int(cut.get(sender.name, 0)) - sender.counted
            while sender.handed_out < end:
                lines = sender.arrived[sender.handed_out : min(end, sender.handed_out + _BATCH)]
                sender.handed_out += len(lines)
                yield self.fields.events(map(json_record, lines))

    @property
    def offset(self) -> Offset:
        """Empty: the senders keep what is not acknowledged."""
        return {}

    def committed(self, offset: Offset) -> None:
        """Tell every sender how many of its lines are counted."""
        with self._lock:
            for sender in self._senders:
                if sender.handed_out:
                    sender.counted += sender.handed_out
                    sender.held -= sum(map(len, sender.arrived[: sender.handed_out]))
                    del sender.arrived[: sender.handed_out]
                    sender.handed_out = 0
                    _tell(sender)
            self._senders = [each for each in self._senders if each.open or each.arrived]
            self._lock.notify_all()

    def close(self) -> None:
        with self._lock:
            self._open = False
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            for sender in self._senders:
                with suppress(OSError):
                    sender.connection.shutdown(socket.SHUT_RDWR)
                sender.connection.close()
            self._lock.notify_all()

    def _accept(self) -> None:
        while self._open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if self._open:  # no descriptor is left, for a while
                    time.sleep(_PAUSE)
                continue
            connection.settimeout(None)
            sender = _Sender(connection)
            with self._lock:
                if not self._open or not self._makes_room():
                    connection.close()
                    continue
                self._senders.append(sender)
            self._listen_to(sender)

    def _listen_to(self, sender: _Sender) -> None:
        """Receive what a sender says, in a thread; let go of it where the system gives none."""
        try:
            threading.Thread(target=self._receive, args=(sender,), daemon=True).start()
        except (RuntimeError, MemoryError):
            with self._lock:
                self._senders.remove(sender)
            sender.connection.close()
            time.sleep(_PAUSE)

    def _makes_room(self) -> bool:
        """Let go of the sender that was silent longest, where there are too many; False: none."""
        there = [each for each in self._senders if each.open or each.arrived]
        if len(there) < _SENDERS:
            return True
        idle = [each for each in there if not each.arrived]
        if not idle:
            return False
        oldest = min(idle, key=lambda each: each.heard_at)
        oldest.open = False
        self._senders.remove(oldest)
        with suppress(OSError):
            oldest.connection.shutdown(socket.SHUT_RDWR)
        return True

    def _receive(self, sender: _Sender) -> None:
        rest, too_long = b"", False
        while True:
            try:
                block = sender.connection.recv(_BLOCK)
            except OSError:
                break
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            if too_long and lines:
                lines[0], too_long = b"", False  # the end of what was too long
            if len(rest) > _LONGEST:
                rest, too_long = b"", True
            with self._lock:
                sender.rest = len(rest)
                sender.arrived += lines
                sender.held += sum(map(len, lines))
                if lines:
                    sender.heard_at = time.monotonic()
                # A connection that floods waits, and with it all whose events it carries.
                while self._open and self._must_wait(sender):
                    self._lock.wait()
                if self._is_crowded(sender):  # lines that do not end: no tick makes room
                    break
        with self._lock:
            sender.open, sender.rest = False, 0
        sender.connection.close()

    def _must_wait(self, sender: _Sender) -> bool:
        """Whether a sender is so far ahead that it waits for a tick."""
        if len(sender.arrived) > _MOST or sender.held > _BYTES:
            return True
        return bool(sender.arrived) and self._is_crowded(sender)

    def _is_crowded(self, sender: _Sender) -> bool:
        """Whether all have too much together, and this one more than its part of it."""
        if sender.room <= _TOTAL // _SENDERS:
            return False
        return sum(each.room for each in self._senders) > _TOTAL


def _tell(sender: _Sender) -> None:
    """Tell a sender how many of its lines are counted; let go of one that does not listen.

    To wait for it would hold up the ticks of all, for as long as it likes.
    """
    line, told = b"%d\n" % sender.counted, 0
    with suppress(OSError):
        told = sender.connection.send(line, getattr(socket, "MSG_DONTWAIT", 0))
    if told < len(line):
        with suppress(OSError):
            sender.connection.shutdown(socket.SHUT_RDWR)
