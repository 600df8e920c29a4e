"""Opening a live stream, charged once for all its ticks, and resuming it from the ledger.

To open: price, reserve, claim, begin the state. To resume: claim, which ends every older speaker;
take the state over; be where it was. Nothing is drawn a second time and nothing is charged.

Source: contract, "Spending" (noise that outlives a call; streams). Proof:
``proofs/live-streams.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.events.event import compose
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import probability
from discreet.curator.budget import as_written
from discreet.curator.context import Context
from discreet.curator.purchase import OWNER, Offer, Purchase, Reservation, reserve
from discreet.curator.streams.content import FoundBy, StreamContent, told_by
from discreet.curator.streams.stream_unit import require_guarded
from discreet.ledger.durable_files import exists
from discreet.ledger.session_log import SessionLog
from discreet.noise.randomness import SYSTEM
from discreet.streams.live.clock import Clock, SystemClock
from discreet.streams.live.found_keys import FoundKeys
from discreet.streams.live.intake import Intake
from discreet.streams.live.limits import limit_of
from discreet.streams.live.live_stream import LiveStream, Speaking
from discreet.streams.live.pan_private import NoTally, pan_private, require_keeps_nothing
from discreet.streams.live.patience import Patience
from discreet.streams.live.rules import EventRules
from discreet.streams.live.sealed_state import StateCipher
from discreet.streams.live.series import LiveStatistic
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
from discreet.streams.window import SlidingWindow


def open_stream(
    context: Context,
    source: EventSource,
    *,
    unit: StreamUnit,
    keys: Sequence[object] | FoundKeys | None,
    ticks: Ticks,
    mechanism: Callable[..., Any],
    spend: Guarantee,
    statistic: LiveStatistic | None,
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
    rules = EventRules() if rules is None else rules
    told = told_by(
        source,
        keys,
        statistic,
        unit=unit,
        spend=spend,
        rules=rules,
        randomness=context.randomness,
    )
    limit = limit_of(unit, source.fields)
    seized = mechanism is pan_private
    if seized:
        require_keeps_nothing(unit, source, state)
    place = None if seized else _place(context, state)
    intake = Intake(ticks, told.keys(rules, ticks), rules, limit, SYSTEM.bytes(32))
    if seized:
        intake.left_out = NoTally()
    planned: dict[str, Any] = {
        "unit": to_dict(unit),
        **told.to_dict(),
        "ticks": ticks.to_dict(),
        "rules": rules.to_dict(),
        "fields": source.fields.to_dict(),
        "confidence": float(probability("confidence", confidence)),
        "state": None if place is None else str(place),
    }
    source.begin(None)  # what is not there is refused before anything is charged

    def offer() -> Offer[Any]:
        paid = context.budget.as_paid(spend)
        parts = told.names.keys.parted(paid) if isinstance(told.names, FoundBy) else None
        more = {} if told.statistic is None else {"contribution": told.contribution}
        made = mechanism(
            horizon=ticks.count,
            spend=paid if parts is None else parts[1],
            unit=unit,
            keys=told.columns,
            randomness=context.randomness,
            **more,
        )
        _require_for(made, unit, ticks.count, told)
        described = {"kind": "pan-private/1"} if seized else describe(made)
        kept = {**planned, "mechanism": described}
        words = f"stream of {ticks.count} ticks by {source.fields.key or 'nothing'}"
        detail = {"mechanism": words, "stream": kept}
        if parts is None:
            return Offer(made, made.event, detail)
        return _with_names(context, made, told, parts, detail)

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
        told=told,
        place=place,
        confidence=confidence,
        clock=clock,
        patience=patience,
        store=OutputsInMemory() if seized else None,
    )
    stream.begin(made.open(), log.generation)
    return stream


def _with_names(
    context: Context,
    made: Any,
    told: StreamContent,
    parts: tuple[ApproxDP, ApproxDP],
    detail: Mapping[str, object],
) -> Offer[Any]:
    """Names and counts are paid for together, each from its part of the spend."""
    assert isinstance(told.names, FoundBy)
    if isinstance(made, SlidingWindow):
        raise InvalidParameter(
            code="stream_found_keys",
            expectation="totals since the beginning for keys that nobody listed: what was before a "
            "key's naming is counted then, and would stand in a window of other ticks",
            received=type(made).__name__,
            remedy="Choose another counter, such as dp.streams.BinaryTree; or list the keys.",
        )
    names, rest = parts
    context.scope.require_event(made.event, context.unit)
    if context.randomness.private:  # test mode has no price
        context.budget.require_covered(replace(rest, by=None), made.event)
    rule = told.names.rule
    charges = ((names, (rule.event,)), (rest, (made.event,)))
    return Offer(made, compose((rule.event, made.event)), detail, charges=charges)


def _require_for(made: Any, unit: StreamUnit, horizon: int, told: StreamContent) -> None:
    """Refuse a counter for other people, keys or ticks: its price would be for those."""
    wanted = {
        "unit": unit,
        "horizon": horizon,
        "keys": told.columns,
        "contribution": told.contribution,
    }
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
    rules, told = (
        EventRules.from_dict(kept["rules"]),
        StreamContent.from_dict(kept, context.randomness),
    )
    intake = Intake(
        ticks,
        told.keys(rules, ticks),
        rules,
        limit_of(unit, source.fields),
        SYSTEM.bytes(32),  # a state brings its own
    )
    log = reservation.log()
    stream = _live(
        reservation,
        intake,
        source,
        log=log,
        told=told,
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
    told: StreamContent,
    place: Path | None,
    confidence: float,
    clock: Clock | None,
    patience: Patience | None,
    store: StreamStore | None = None,
) -> LiveStream:
    listed = None if isinstance(told.names, FoundBy) else told.names
    waiting = patience or Patience()
    return LiveStream(
        Speaking(reservation.id, intake.ticks, listed, confidence, waiting, told.statistic),
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
