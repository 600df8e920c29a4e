"""A live stream: counts events of a source, and speaks at every tick of a public clock.

The end of the source is noted when the public clock closes a tick (``closings``). At a tick, in
order: count what lies before its place; draw noise; write counts, the place in the source, noise
and output in one transaction; note the tick in the ledger; hand out the output. A crash before the
transaction loses nothing but noise that nobody saw, and a crash after it loses nothing: the output
is read again. Nothing that was drawn for an output is drawn a second time.

Source: contract, "Spending" (noise that outlives a call; streams). Proof:
``proofs/live-streams.md``.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import DiscreetError, EngineFailed, Exhausted, InvalidParameter
from discreet.core.source import CountSource
from discreet.streams.counter import Counter
from discreet.streams.live.clock import Clock
from discreet.streams.live.closings import Closings
from discreet.streams.live.intake import Intake
from discreet.streams.live.patience import Patience
from discreet.streams.live.sealed_state import damaged_state
from discreet.streams.live.series import LiveStatistic, name_answers_of_key, told_within
from discreet.streams.live.state_file import StreamStore
from discreet.streams.live.tick import Tick
from discreet.streams.live.ticks import Ticks
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.sources.source import EventSource, SourceAway
from discreet.streams.stored import State

if TYPE_CHECKING:
    import altair as alt

_NAP = 0.25


class TickLog(Protocol):
    """Where the number of each tick is noted before its output is seen."""

    def note(self, tick: int) -> None:
        """Note a tick. Durable on return."""


@dataclass(frozen=True)
class Speaking:
    """What is agreed on about a stream; all of it public. No keys: they are found."""

    id: str
    ticks: Ticks
    keys: tuple[str, ...] | None
    confidence: float
    patience: Patience
    statistic: LiveStatistic | None = None


class LiveStream:
    """Goes on tick by tick: ``for tick in stream``, or ``async for tick in stream``.

    Contract: ``store`` holds the state of this stream and of no other; ``log`` knows the last tick
    that may have been seen. Guarantee: every tick is output once, in order, for all keys; what
    :meth:`released` tells of a tick is what was or will be handed out for it.
    """

    def __init__(
        self,
        speaking: Speaking,
        intake: Intake,
        source: EventSource,
        *,
        store: StreamStore,
        log: TickLog,
        clock: Clock,
        finish: Callable[[], None],
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """Hold the parts; :meth:`begin` or :meth:`go_on` makes it speak."""
        self._speaking = speaking
        self._counting: Counter | None = None
        self._intake = intake
        self._source = source
        self._store = store
        self._log = log
        self._clock = clock
        self._closings = Closings(source, speaking.ticks, clock, store.keep_cut)
        self._finish = finish
        self._on_failure = on_failure
        self._next = 0
        self._settled = False
        self._ended = False
        self._named: tuple[str, ...] = ()
        self._noted = 0  # ticks that may be seen: the ledger knows them
        self._ready: deque[Tick] = deque()
        self._lock = threading.RLock()

    # How it starts ------------------------------------------------------------------------------

    def begin(self, counter: Counter, speaker: int) -> None:
        """Start with the first tick, at the place where the source stands. Durable on return."""
        with self._lock:
            self._counting = counter
            self._store.begin(self._state(), speaker)
            self._settled = True
            self._closings.watch()

    def go_on(self, revive: Callable[[State], Counter], speaker: int, noted: int) -> None:
        """Be where the state is; ``noted`` ticks may have been seen.

        A state that has fewer is an older copy, and refused: its noise would be drawn again. One
        that has one more was written before a crash; its output, which nobody saw, comes first.
        """
        with self._lock:
            state = self._store.take_over(speaker)
            self._next = int(state["next"])
            if not noted <= self._next <= noted + 1:
                raise damaged_state(what=f"a state after {self._next} ticks, of {noted} noted")
            self._noted = noted
            self._counting = revive(state["counter"])
            self._intake.restore(state["intake"])
            self._reached(lambda: self._source.begin(state["offset"]))
            self._named = self._intake.keys.names
            if self._next == noted + 1:
                self._log.note(self._next - 1)
                self._noted = self._next
                self._ready.append(self._read_kept_tick(self._next - 1))
            self._settled = True
            self._closings.go_on(self._next, self._store.cuts())
            self._closings.watch()

    # What it tells ------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """By which it is resumed. Random."""
        return self._speaking.id

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys, each of which has an estimate at every tick; of found ones those so far."""
        return self._named if self._speaking.keys is None else self._speaking.keys

    @property
    def ticks(self) -> Ticks:
        """The public clock."""
        return self._speaking.ticks

    @property
    def source(self) -> EventSource:
        """Where its events come from."""
        return self._source

    @property
    def next_tick(self) -> int:
        """The number of the tick that is open."""
        return self._next

    def released(self, since: int = 0) -> Iterator[Tick]:
        """The outputs so far, read again from where they are kept; free.

        What the ledger refused to note was never released, though it may be in the state.
        """
        for number in range(since, self._noted):
            yield self._read_kept_tick(number)

    def plot(self, keys: Iterable[str] | None = None) -> alt.LayerChart:
        """Estimates so far against time, each within its band; all of it was released."""
        from discreet.streams.live.plot import released_by_tick

        return released_by_tick(self.released(), keys)

    def left_out_for_owner(self) -> dict[str, int]:
        """How many events did not count, and why. Exact and not private: for the owner alone."""
        with self._lock:
            return dict(self._intake.left_out)

    # How it goes on -----------------------------------------------------------------------------

    def __iter__(self) -> LiveStream:
        """Itself: each tick comes once."""
        return self

    def __next__(self) -> Tick:
        """Wait for the next tick, and its estimates."""
        while (tick := self.advance(most=60.0)) is None:
            pass
        return tick

    def __aiter__(self) -> LiveStream:
        """Itself: each tick comes once."""
        return self

    async def __anext__(self) -> Tick:
        """Wait for the next tick without holding up other tasks."""
        while True:
            try:
                tick = await asyncio.to_thread(self._advanced)
            except _End:
                raise StopAsyncIteration from None
            if tick is not None:
                return tick

    def _advanced(self) -> Tick | None:
        try:
            found = self.advance(most=_NAP)
        except StopIteration:
            raise _End from None
        return found

    def advance(self, *, most: float) -> Tick | None:
        """The next tick; None where it is not over within ``most`` seconds.

        Raises ``StopIteration`` after the last.
        """
        with self._lock:
            if self._ready:
                return self._ready.popleft()
            self._require_settled()
            number = self._next
            if number >= self.ticks.count:
                self._end()
                raise StopIteration
        if not self._clock.wait(self.ticks.closes(number), most=most):
            return None
        with self._lock:
            if self._ready or self._next != number:
                return None  # another thread was here
            self._require_settled()
            self._settled = False
            failed = self._guarded(self._close_tick)
            # While a source is away nothing was begun that could be half done.
            self._settled = failed is None or isinstance(failed, SourceAway)
            if failed is None:
                self._source.committed(self._source.offset)
                return self._ready.popleft()
        raise failed

    def take(self, batch: CountSource, number: int) -> None:
        """Count a batch that an engine counted; durable on return, and once whatever is repeated.

        For a stream over :class:`CountedBatches`: the function for ``foreachBatch``.
        """
        source = self._source
        if not isinstance(source, CountedBatches):
            raise InvalidParameter(
                code="not_counted_batches",
                expectation="a stream over CountedBatches",
                received=type(source).__name__,
                remedy="Open the stream with CountedBatches(column) as its source.",
            )
        arrived = self.ticks.open_at(self._clock.now())  # whoever else is at work meanwhile
        with self._lock:
            self._require_settled()
            counts: dict[str, int] | None = None

            def count_batch() -> None:
                nonlocal counts
                counts = source.read_batch_counts(batch, number, self.keys)

            def commit_counts() -> None:
                assert counts is not None
                self._intake.take_counts(counts, max(arrived, self._next))
                source.passed(number)
                self._store.commit(self._state(), None)

            failed = self._guarded(count_batch)
            if failed is None and counts is not None:
                self._settled = False
                failed = self._guarded(commit_counts)
                self._settled = failed is None
        if failed is not None:
            raise failed

    def pause(self) -> None:
        """Let go of the source; it can be resumed by its id."""
        with self._lock:
            self._settled = False
            self._closings.stop()
            self._source.close()

    def close(self) -> None:
        """End it for good; it cannot be resumed, and what was released stays."""
        with self._lock:
            self._settled = False
            self._closings.stop()
            self._end()
            self._source.close()

    def __enter__(self) -> LiveStream:
        """Use it in a ``with`` block, which lets go of the source at its end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.pause()

    # Inside -------------------------------------------------------------------------------------

    def _close_tick(self) -> None:
        number = self._next
        self._reached(lambda: self._drain(number))
        counts = self._intake.close(number)
        estimates = np.asarray(self._counter.step(counts)).reshape(-1)
        self._next = number + 1
        output = self._output(estimates)
        self._store.commit(self._state(), (number, output))
        self._log.note(number)
        self._noted = number + 1
        self._named = self._intake.keys.names
        self._ready.append(self._tick(number, output))

    def _output(self, estimates: NDArray[Any]) -> dict[str, Any]:
        """What is kept of a tick: all estimates; where keys are found, those that have a name."""
        if self._speaking.keys is not None:
            return {"values": estimates.tolist()}
        names = self._intake.keys.names
        return {"values": estimates[: len(names)].tolist(), "keys": list(names)}

    def _drain(self, number: int) -> None:
        """Count all that arrived before it closed; again from here if the source goes away."""
        try:
            for events in self._source.read_events_until(self._closings.of(number)):
                self._intake.take(events, number)
                self._closings.give_way()
        except BaseException:  # a key that was pressed, too
            if not self._store.keeps:
                self._intake.close(number)  # exact counts would lie in memory from here on
            raise

    @property
    def _counter(self) -> Counter:
        assert self._counting is not None
        return self._counting

    def _state(self) -> dict[str, Any]:
        if not self._store.keeps:
            return {}  # a state that is written is a look at the memory
        return {
            "next": self._next,
            "offset": dict(self._source.offset),
            "counter": self._counter.state(),
            "intake": self._intake.state(),
        }

    def _read_kept_tick(self, number: int) -> Tick:
        kept = self._store.output(number)
        if kept is None:
            raise EngineFailed(
                code="stream_output_missing",
                expectation="an output that is kept",
                received=number,
                remedy="Ask for ticks that were released.",
            )
        return self._tick(number, kept)

    def _tick(self, number: int, output: Mapping[str, Any]) -> Tick:
        confidence, statistic = self._speaking.confidence, self._speaking.statistic
        keys = output["keys"] if self._speaking.keys is None else self._speaking.keys
        width = 1 if statistic is None else statistic.keys
        values: dict[str, float] = {}
        for key, own in zip(keys, _parted(output["values"], width), strict=True):
            values |= name_answers_of_key(statistic, key, own)
        return Tick(
            number,
            self.ticks.moment(number),
            self.ticks.moment(number + 1),
            values,
            told_within(statistic, self._counter.error(number + 1, confidence=confidence)),
            confidence,
        )

    def _reached(self, act: Callable[[], None]) -> None:
        """Do what needs the source, and wait for it while it is away."""
        waited = self._speaking.patience.begun()
        while True:
            try:
                act()
            except SourceAway as error:
                waited.again(error)
            else:
                return

    def _guarded(self, act: Callable[[], None]) -> Exception | None:
        """Do what reads events; of what fails on the way nothing is told but public causes."""
        try:
            act()
        except DiscreetError as error:
            return error.with_traceback(None)
        except Exception:
            self._on_failure()
        else:
            return None
        return EngineFailed(
            code="engine_failed",
            expectation="a stream that can be counted",
            remedy="Nothing was spent beyond the stream. The data owner's log says what happened; "
            "go on with curator.resume(id).",
        )

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._finish()

    def _require_settled(self) -> None:
        if not self._settled:
            raise Exhausted(
                code="conversation_interrupted",
                expectation="a stream whose last tick was written as a whole",
                received=self.id,
                remedy="It was paused or closed, or a tick was cut short. If it was not closed, go "
                "on with curator.resume(id).",
            )

    def __repr__(self) -> str:
        """Only what is public."""
        return (
            f"LiveStream({self.id!r}, tick={self._next} of {self.ticks.count}, "
            f"keys={len(self.keys)})"
        )


def _parted(values: list[float], width: int) -> list[NDArray[Any]]:
    """The estimates of each key."""
    return [np.array(values[place : place + width]) for place in range(0, len(values), width)]


class _End(Exception):
    """What a thread can raise in place of StopIteration."""
