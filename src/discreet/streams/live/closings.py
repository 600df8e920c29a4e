"""Which tick an event belongs to: where its source ended when the public clock closed the tick.

A watch beside the stream notes the end of the source at every closing, however long the work on
earlier ticks still takes. So an event belongs to the first tick that closes after it arrived, by
the clock and by its own arrival; work that is late makes outputs late, and moves no event. Work
rests while a closing is near, so that the watch is woken as on an idle day. A place that was noted
is durable before anything is counted up to it: who resumes reads the same.

Where nobody watched when a tick closed, as while the process was down or the source away, its place
is the one that is found first afterwards.

Source: contract, "Spending" (streams output at public clock ticks). Proof:
``proofs/live-streams.md``.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable

from discreet.core.errors import LedgerError
from discreet.streams.live.clock import Clock
from discreet.streams.live.ticks import Ticks
from discreet.streams.sources.source import EventSource, Offset

_NAP = 0.05
_AGAIN = 0.5
_NEAR = 0.1
"""Seconds before a closing at which work rests."""


class Closings:
    """The place of the source at the closing of each tick.

    Contract: ``keep`` makes a tick's place durable before it returns. Guarantee: places are found
    once, in the order of ticks; a place lies behind everything that arrived before its tick closed.
    """

    def __init__(
        self,
        source: EventSource,
        ticks: Ticks,
        clock: Clock,
        keep: Callable[[int, Offset], None],
    ) -> None:
        """Watch nothing yet."""
        self._source = source
        self._ticks = ticks
        self._clock = clock
        self._keep = keep
        self._found: deque[tuple[int, Offset]] = deque()
        self._next = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._watched = False

    def go_on(self, tick: int, kept: Iterable[tuple[int, Offset]]) -> None:
        """Be at a tick, with the places that an earlier process found."""
        with self._lock:
            self._found = deque(each for each in sorted(kept, key=_tick) if each[0] >= tick)
            self._next = self._found[-1][0] + 1 if self._found else tick

    def watch(self) -> None:
        """Note every closing from now on, beside the work; where the clock moves by itself."""
        if self._clock.moves:
            beside = threading.Thread(
                target=_watch, args=(weakref.ref(self), self._stopped), daemon=True
            )
            beside.start()
            self._watched = True

    def of(self, tick: int) -> Offset:
        """The place up to which the events of a tick lie; the tick has closed."""
        with self._lock:
            while self._found and self._found[0][0] < tick:
                self._found.popleft()
            if not self._found:
                self._note()
            return self._found[0][1]

    def give_way(self) -> None:
        """Rest while a closing is near, until it is noted: called between pieces of long work.

        A watch beside busy work is woken later than beside none, on a machine with much to do by
        tenths of a second: whoever floods a stream would still move others a little.
        """
        near = min(_NEAR, self._ticks.length.total_seconds() / 8)
        end = time.monotonic() + 2 * near
        while self._watched and time.monotonic() < end:
            upcoming = self._next
            if upcoming >= self._ticks.count:
                return
            left = (self._ticks.closes(upcoming) - self._clock.now()) / 1e6
            if left > near:
                return
            self._stopped.wait(min(max(left, 0.001), near))

    def note(self) -> float | None:
        """Note the ticks that closed by now; seconds to the next closing, None after the last."""
        with self._lock:
            if not self._stopped.is_set():
                self._note()
            if self._next >= self._ticks.count:
                return None
            return (self._ticks.closes(self._next) - self._clock.now()) / 1e6

    def _note(self) -> None:
        last = self._ticks.open_at(self._clock.now()) - 1
        if last >= self._next:
            place = self._source.find_end_offset()
            self._keep(last, place)
            self._found.append((last, place))
            self._next = last + 1

    def stop(self) -> None:
        """Watch no longer; on return nobody asks the source any more."""
        self._stopped.set()
        with self._lock:
            pass


def _watch(watched: weakref.ref[Closings], stopped: threading.Event) -> None:
    """Note closings as long as somebody holds the stream."""
    while not stopped.is_set():
        closings = watched()
        if closings is None:
            return
        try:
            left = closings.note()
        except Exception as error:
            if isinstance(error, LedgerError) and error.code == "conversation_taken":
                return  # another process speaks for the stream
            stopped.wait(_AGAIN)  # whoever counts the tick meets the same, and says so
            continue
        finally:
            del closings
        if left is None:
            return
        stopped.wait(max(0.0, min(left, _NAP)))


def _tick(found: tuple[int, Offset]) -> int:
    return found[0]
