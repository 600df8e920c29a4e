"""Opening a live stream, charged once for all its ticks, and resuming it from the ledger.

To open: price, reserve, claim, begin the state. To resume: claim, which ends every older speaker;
take the state over; be where it was. Nothing is drawn a second time and nothing is charged.

Source: contract, "Spending" (noise that outlives a call; streams). Proof:
``proofs/live-streams.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import probability
from discreet.curator.budget import as_written
from discreet.curator.context import Context
from discreet.curator.purchase import OWNER, Offer, Purchase, Reservation, reserve
from discreet.curator.streams.stream_unit import require_guarded
from discreet.ledger.durable_files import exists
from discreet.ledger.session_log import SessionLog
from discreet.noise.randomness import SYSTEM
from discreet.streams.contribution import ONE_COUNT
from discreet.streams.live.clock import Clock, SystemClock
from discreet.streams.live.events import EVERY
from discreet.streams.live.intake import Intake
from discreet.streams.live.limits import limit_of
from discreet.streams.live.live_stream import LiveStream, Speaking
from discreet.streams.live.pan_private import NoTally, pan_private, require_keeps_nothing
from discreet.streams.live.patience import Patience
from discreet.streams.live.rules import EventRules
from discreet.streams.live.sealed_state import StateCipher
from discreet.streams.live.state_file import (
    OutputsInMemory,
    StateFile,
    StateInMemory,
    StreamStore,
    state_path,
)
from discreet.streams.live.ticks import Ticks
from discreet.streams.resume import describe, from_state, mechanism_from
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.sources.source import EventSource
from discreet.streams.tags import from_dict, to_dict
from discreet.streams.units import EventLevel, StreamUnit, WEvent, require_unit


def open_stream(
    context: Context,
    source: EventSource,
    *,
    unit: StreamUnit,
    keys: Sequence[object] | None,
    ticks: Ticks,
    mechanism: Callable[..., Any],
    spend: Guarantee,
    state: str | PathLike[str] | None,
    rules: EventRules | None,
    clock: Clock | None,
    patience: Patience | None,
    confidence: float,
    analyst: str,
    purpose: str | None,
) -> LiveStream:
    """Pay for a stream and start it."""
    context.require_open()
    context.budget.check(spend)
    spend = as_written(spend)
    require_guarded(require_unit(unit), context.unit, source.fields)
    if isinstance(source, CountedBatches) and not isinstance(unit, EventLevel | WEvent):
        raise Mismatch(
            code="stream_batches_people",
            expectation="a unit of events for batches that an engine counts: nobody there counts "
            "a person's events over all batches",
            received=unit,
            remedy="Protect EventLevel(); or read the events from Kafka, Redis or files.",
        )
    named = _keys(source, keys)
    limit = limit_of(unit, source.fields)
    seized = mechanism is pan_private
    if seized:
        require_keeps_nothing(unit, source, state)
    place = None if seized else _place(context, state)
    rules = EventRules() if rules is None else rules
    intake = Intake(ticks, named, rules, limit, SYSTEM.bytes(32))
    if seized:
        intake.left_out = NoTally()
    planned: dict[str, Any] = {
        "unit": to_dict(unit),
        "keys": list(named),
        "ticks": ticks.to_dict(),
        "rules": rules.to_dict(),
        "fields": source.fields.to_dict(),
        "confidence": float(probability("confidence", confidence)),
        "state": None if place is None else str(place),
    }
    source.begin(None)  # what is not there is refused before anything is charged

    def offer() -> Offer[Any]:
        made = mechanism(
            horizon=ticks.count,
            spend=context.budget.as_paid(spend),
            unit=unit,
            keys=len(named),
            randomness=context.randomness,
        )
        _require_for(made, unit, ticks.count, len(named))
        described = {"kind": "pan-private/1"} if seized else describe(made)
        kept = {**planned, "mechanism": described}
        words = f"stream of {ticks.count} ticks by {source.fields.key or 'nothing'}"
        return Offer(made, made.event, {"mechanism": words, "stream": kept})

    purchase = Purchase(
        analyst=analyst, purpose=purpose, spend=spend, reads=(), offer=offer, own=True
    )
    reservation, made = reserve(context, purchase, "stream")
    log = reservation.log()
    stream = _live(
        reservation,
        intake,
        source,
        log=log,
        place=place,
        confidence=confidence,
        clock=clock,
        patience=patience,
        store=OutputsInMemory() if seized else None,
    )
    stream.begin(made.open(), log.generation)
    return stream


def _require_for(made: Any, unit: StreamUnit, horizon: int, keys: int) -> None:
    """Refuse a counter for other people, keys or ticks: its price would be for those."""
    wanted = {"unit": unit, "horizon": horizon, "keys": keys, "contribution": ONE_COUNT}
    differ = [name for name, value in wanted.items() if getattr(made, name, value) != value]
    if differ:
        raise Mismatch(
            code="mechanism_forgets",
            expectation="a counter with the unit, horizon, keys and contribution that it was given",
            received=differ,
            remedy="Pass the class itself, or functools.partial of it with other options.",
        )


def resume_stream(
    reservation: Reservation,
    paid: Mapping[str, Any],
    *,
    source: EventSource | None = None,
    state: str | PathLike[str] | None = None,
    clock: Clock | None = None,
    patience: Patience | None = None,
) -> LiveStream:
    """Go on with a stream that was paid for, with its source."""
    context, kept = reservation.context, paid["detail"]["stream"]
    context.policies.admit_resumed(
        None, analyst=paid["asker"], purpose=paid["detail"].get("purpose")
    )
    if source is None:
        raise InvalidParameter(
            code="stream_source_needed",
            expectation="the source of the stream, which the ledger does not hold",
            remedy="Write curator.resume(id, source=...), with the source it was opened with.",
        )
    if source.fields.to_dict() != kept["fields"]:
        raise Mismatch(
            code="stream_source_differs",
            expectation="a source that is read by the fields with which the stream was opened",
            received=source.fields,
            remedy=f"Write EventFields as they were: {kept['fields']}.",
        )
    place = state_path(state) if state is not None else kept["state"]
    if place is None:
        raise InvalidParameter(
            code="stream_kept_nothing",
            expectation="a stream whose state was kept",
            received=reservation.id,
            remedy="It was in its process only, as that of a pan-private stream must be, and has "
            "ended with it. Open a new one, which is charged.",
        )
    unit, ticks = from_dict(kept["unit"]), Ticks.from_dict(kept["ticks"])
    require_guarded(unit, context.unit, source.fields)
    intake = Intake(
        ticks,
        tuple(kept["keys"]),
        EventRules.from_dict(kept["rules"]),
        limit_of(unit, source.fields),
        SYSTEM.bytes(32),  # a state brings its own
    )
    log = reservation.log()
    stream = _live(
        reservation,
        intake,
        source,
        log=log,
        place=Path(place),
        confidence=kept["confidence"],
        clock=clock,
        patience=patience,
    )
    noted = _noted(log)
    if not noted and not StateFile(Path(place), reservation.id, _cipher(reservation)).begun():
        # It was paid for and never spoke, so nothing was seen of what it may have drawn.
        source.begin(None)
        made = mechanism_from(kept["mechanism"], randomness=context.randomness)
        stream.begin(made.open(), log.generation)
        return stream
    revive = partial(from_state, randomness=context.randomness)
    stream.go_on(revive, log.generation, noted)
    return stream


class LedgerTicks:
    """Notes ticks in a session log."""

    def __init__(self, log: SessionLog) -> None:
        """Write to a log that was claimed."""
        self._log = log

    def note(self, tick: int) -> None:
        """Note a tick. Durable on return."""
        self._log.write({"tick": tick})


def _noted(log: SessionLog) -> int:
    """How many ticks may have been seen."""
    return max((int(entry["tick"]) + 1 for entry in log.entries()), default=0)


def _live(
    reservation: Reservation,
    intake: Intake,
    source: EventSource,
    *,
    log: SessionLog,
    place: Path | None,
    confidence: float,
    clock: Clock | None,
    patience: Patience | None,
    store: StreamStore | None = None,
) -> LiveStream:
    return LiveStream(
        Speaking(reservation.id, intake.ticks, intake.keys, confidence, patience or Patience()),
        intake,
        source,
        store=store or _store(reservation, place),
        log=LedgerTicks(log),
        clock=clock or SystemClock(),
        finish=lambda: reservation.commit({"closed": True}),
        on_failure=lambda: OWNER.exception("stream %s: a tick was cut short", reservation.id),
    )


def _store(reservation: Reservation, place: Path | None) -> StreamStore:
    if place is None:
        return StateInMemory()
    return StateFile(place, reservation.id, _cipher(reservation))


def _cipher(reservation: Reservation) -> StateCipher:
    return StateCipher(reservation.context.ledger.chain.owner(), reservation.id)


def _place(context: Context, state: str | PathLike[str] | None) -> Path | None:
    """Where the state is to lie; in memory only together with a ledger that is."""
    if state is None and not context.ledger.durable:
        return None
    place = state_path(state)
    if exists(place) or not place.parent.is_dir():
        raise InvalidParameter(
            code="stream_state_place",
            expectation="a place for the state where nothing is yet, in a folder that exists",
            received=place.name,
            remedy="Choose another name; each stream has a file of its own. To go on with one, "
            "write curator.resume(id, source=...).",
        )
    return place


def _keys(source: EventSource, keys: Sequence[object] | None) -> tuple[str, ...]:
    """The keys as texts, as events have them."""
    if source.fields.key is None:
        if keys is not None:
            raise InvalidParameter(
                code="stream_keys",
                expectation="keys= together with EventFields(key=...)",
                remedy="Name the field that holds the key, or leave keys= out.",
            )
        return (EVERY,)
    if keys is None or isinstance(keys, str):
        raise InvalidParameter(
            code="stream_keys_undeclared",
            expectation="a public list of keys: which of them appear, and when, tells of people",
            received=type(keys).__name__,
            remedy='Write keys=["A", "B"]. Streams do not discover keys: learn them once from a '
            "table, with dp.Discovered() and a delta, and list what was found; others can be "
            'counted together: EventRules(unlisted=CountAs("other")).',
        )
    return tuple(str(key) for key in keys)
