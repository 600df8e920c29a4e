"""``discreet stream``: counts that move with the events, private and paid for once."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import display
from discreet.cli.options import (
    Analyst,
    Confidence,
    Delta,
    Epsilon,
    Machine,
    ProjectFile,
    Purpose,
    Rho,
)
from discreet.cli.stream_options import (
    CounterName,
    counter_of,
    keys_of,
    source_of,
    span_of,
    start_of,
)
from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.streams.live.live_stream import LiveStream
    from discreet.streams.units import StreamUnit


def stream(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="visits.csv, visits.jsonl, a folder of Parquet files, redis://host:6379/0#name, "
            "kafka://host:9092/topic, or socket:7070.",
        ),
    ],
    *,
    key: Annotated[str | None, typer.Option("--key", help="The field that is counted by.")] = None,
    keys: Annotated[
        str | None, typer.Option("--keys", metavar="A,B,C", help="All its values, in public.")
    ] = None,
    find_keys: Annotated[
        int | None,
        typer.Option("--find-keys", help="In place of a list: how many are named, for a delta."),
    ] = None,
    find_every: Annotated[
        int | None, typer.Option("--find-every", help="After how many ticks they are looked for.")
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", help="The field that says whose an event is.")
    ] = None,
    max_events: Annotated[
        int | None, typer.Option("--max-events", help="How many events of a person count, in all.")
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", help="The field that says when; else when it arrives.")
    ] = None,
    mark: Annotated[
        str | None, typer.Option("--id", help="The field by which a second copy is known.")
    ] = None,
    every: Annotated[
        str | None, typer.Option("--every", help="How long ticks are: 30s, 5m.")
    ] = None,
    ticks: Annotated[int | None, typer.Option("--ticks", help="How many there are in all.")] = None,
    start: Annotated[
        str | None, typer.Option("--start", help="When the first begins; else now.")
    ] = None,
    lateness: Annotated[
        str, typer.Option("--lateness", help="How long a tick waits for its events.")
    ] = "0s",
    counter: Annotated[
        CounterName, typer.Option("--counter", help="tree, reduced, or pan-private.")
    ] = CounterName.TREE,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    confidence: Confidence = 0.95,
    state: Annotated[
        Path | None, typer.Option("--state", help="A new file for what outlives a crash.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="ID", help="Go on with a stream.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="The events lie in the past: all ticks at once.")
    ] = False,
    publish: Annotated[
        Path | None, typer.Option("--publish", help="Also a file of released ticks, for pages.")
    ] = None,
    stop_after: Annotated[
        int | None, typer.Option("--stop-after", help="Pause after so many ticks; resume later.")
    ] = None,
    analyst: Analyst = "analyst",
    purpose: Purpose = None,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Count events as they come: private estimates at every tick, in a table that moves.

    discreet stream visits.jsonl --key ward --keys A,B,C --person patient --max-events 2 \
--every 5m --ticks 288 --epsilon 1 --state ward.stream

    It is charged once, for all its ticks. Ctrl-C pauses it; --resume ID, with the same source and
    fields, goes on, and costs nothing.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending
        from discreet.streams.live import EventFields, ReplayClock, SystemClock, Ticks

        fields = EventFields(key=key, person=person, time=time, id=mark)
        clock: Any = ReplayClock() if replay else SystemClock()
        spend = spending.spend_of(epsilon, delta, rho)
        if resume is None and (spend is None or every is None or ticks is None):
            raise InvalidParameter(
                code="spend_or_accuracy",
                expectation="a price, and how long and how many the ticks are; none has a default",
                remedy="Add --every 5m --ticks 288 --epsilon 1, or --resume ID.",
            )
        with opening.curator(project) as curator:
            read = source_of(source, fields)
            if resume is not None:
                opened = curator.resume(resume, analyst=analyst, source=read, clock=clock)
            else:
                assert every is not None
                assert ticks is not None
                assert spend is not None
                opened = curator.stream(
                    read,
                    unit=unit_of(person, max_events),
                    ticks=Ticks(
                        start=start_of(start, replay=replay),
                        length=span_of(every),
                        count=ticks,
                        lateness=span_of(lateness),
                    ),
                    mechanism=counter_of(counter),
                    spend=spend,
                    keys=keys_of(keys, find_keys, find_every),
                    state=state,
                    clock=clock,
                    confidence=confidence,
                    analyst=analyst,
                    purpose=purpose,
                )
            if not machine and resume is None:
                display.note(opening_note(opened, max_events=max_events, person=person))
            listen(opened, stop_after, publish, machine=machine)
            if not machine:
                display.note(f"remaining: {display.describe_remaining_budget(curator.remaining)}")


def opening_note(opened: LiveStream, *, max_events: int | None, person: str | None) -> str:
    """What is known before the first tick: the id to go on with, the ticks, and what limits do."""
    ticks = opened.ticks
    first = (ticks.start + ticks.length + ticks.lateness).astimezone(UTC)
    said = [
        f"stream {opened.id}: {ticks.count:,} ticks of {ticks.length}, the first of them at "
        f"{first:%Y-%m-%d %H:%M:%S} UTC; charged once, for all of them"
    ]
    if max_events is not None:
        plural = "s" * (max_events != 1)
        said.append(
            f"limit: max_events={max_events}: each {person} counts as at most {max_events} "
            f"event{plural}; not in the interval"
        )
    return "\n".join(said)


def unit_of(person: str | None, max_events: int | None) -> StreamUnit:
    """Whose events are protected: a person's, up to a limit, or each by itself."""
    from discreet.streams.units import EventLevel, UserLevel

    if person is None:
        if max_events is not None:
            raise InvalidParameter(
                code="user_without_cap",
                expectation="--max-events together with --person",
                remedy="Name the field that says whose an event is.",
            )
        return EventLevel()
    return UserLevel(person, max_events=max_events)


def listen(
    opened: LiveStream, stop_after: int | None, publish: Path | None, *, machine: bool
) -> None:
    """Show ticks until the end, or a pause; and let them stand in a file, if one is wanted."""
    from discreet.cli.stream_view import view
    from discreet.streams.live.published import PublishedTicks

    ended = True
    file = None if publish is None else PublishedTicks(publish)
    if file is not None:
        file.add(opened.id, opened.released())  # what an earlier process did not write
    with opened, view(opened.ticks.count, machine=machine) as shown:
        try:
            for number, tick in enumerate(opened, start=1):
                if file is not None:
                    file.add(opened.id, [tick])
                shown.show(tick)
                if number == stop_after:
                    ended = False
                    break
        except KeyboardInterrupt:
            ended = False
    if not ended and not machine:
        display.note(f"paused; go on with --resume {opened.id}")
