"""Opening a round, and taking it up again from the ledger.

To open: translate, plan from public facts, price, reserve, claim, keep the names. To take up: read
what was kept; plan again, which must give the same event; claim, unless it was run already.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import count
from discreet.core.written import written
from discreet.curator.budget import as_written
from discreet.curator.interactive.sessions import Dialogue, paid_dialogue
from discreet.curator.rounds.analyst_spending import Told, plain_unit, unit_from
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.rounds.log import Pages
from discreet.curator.rounds.plan import Facts, Mechanism, RoundPlan, plan
from discreet.curator.rounds.round import Round, Terms
from discreet.curator.rounds.run import Outcome, Submitted, run
from discreet.curator.rounds.submission import Rule
from discreet.curator.synopsis.make import synopsis_facts
from discreet.curator.tags import form_of, short
from discreet.ledger.session_log import SessionLog
from discreet.noise.randomness import SYSTEM, integer, random_id
from discreet.queries.analysts.guarantee import AnalystUnit
from discreet.queries.analysts.query_class import AnyQuery, Conjunctions, QueryClass
from discreet.queries.workload.universe import Universe
from discreet.relational.database import private_tables
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.identity.identity import identity
from discreet.relational.plan.keyed_universe import KeyedUniverse, universe_from
from discreet.release.guarantee import guarantee_from_dict, guarantee_to_dict

if TYPE_CHECKING:
    from discreet.curator.session import Session

_NUMBERS = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")


def open_round(
    session: Session,
    universe: Universe,
    *,
    analysts: Sequence[str],
    queries_each: int,
    spend: Guarantee,
    protects: AnalystUnit,
    promise: ApproxDP,
    asked: QueryClass,
    topics: int | None,
    places: int | None,
    mechanism: type | None,
    corrections: int,
    closes: datetime | None,
    limit: ApproxDP | None,
    asker: str,
    purpose: str | None,
) -> Round:
    """Plan a round, pay for it, and begin it."""
    names = _named(analysts)
    source = _source(session, universe)
    assert isinstance(universe, KeyedUniverse)  # else there is nothing to count
    rule = Rule(universe, queries_each, _class(asked))
    plain_unit(protects)
    session._purse.check(spend)
    spend, closes = as_written(spend), _aware(closes)
    many = len(names) if places is None else count("places", places)
    if many < len(names):
        raise InvalidParameter(
            code="places_too_few",
            expectation="at least as many places as there are analysts",
            received=(many, len(names)),
            remedy="Leave `places=` out, or choose a larger number; it is public.",
        )
    facts = _facts(
        session,
        source,
        rule,
        places=many,
        spend=spend,
        protects=protects,
        promise=_promise(promise),
        topics=topics,
        corrections=_whole(corrections),
    )
    agreed, chosen = plan(facts, mechanism)
    if limit is not None:
        require_whole(session)
        _promise(limit)
    reserve: Callable[..., str] = session._account.reserve
    if limit is not None and agreed.cost != ApproxDP(epsilon=0, delta=0):
        told = Told(session.ledger)

        def admit() -> None:
            told.now().after(protects, agreed.cost).require_within(limit, protects)

        admit()  # here, where a refusal is cheap; and again in the block that charges
        reserve = partial(session.ledger.reserve, admit=admit)
    session._scope.require_event(agreed.event, session.unit)
    allowed = session._policies.admit(source.question, spend, asker=asker, purpose=purpose)
    if session._holdings.randomness.private:  # test mode has no price
        session._purse.require_covered(spend, agreed.event)
    source.text(universe.names[:1])  # what cannot be written is refused now
    session._payment.require_unchanged()
    kept = {
        "universe": list(universe.questions),
        "places": many,
        "queries_each": rule.most,
        "spend": guarantee_to_dict(spend),
        "promise": guarantee_to_dict(facts.promise),
        "ways": rule.asked.ways if isinstance(rule.asked, Conjunctions) else None,
        "topics": topics,
        "corrections": facts.corrections,
        "mechanism": _tag(_kind(chosen)),
        "closes": None if closes is None else closes.isoformat(),
        "snapshot": session._snapshot(source.question),
        "question": _declared(session, source),
        "plan": agreed.plain(),
    }
    name = reserve(
        asker=asker,
        question=f"round {random_id(96)}",
        charge=session._price(spend, (agreed.event,)),
        event=agreed.event.to_json(),
        detail={
            "mechanism": f"round about {' x '.join(universe.names)} by {agreed.name}",
            "spend": written(spend),
            "round": kept,
            **allowed,
        },
    )
    pages = Pages(session._account.session_log(name))
    pages.begin(names)
    public = synopsis_facts(session, source, mechanism=agreed.name, rmse=agreed.rmse)
    terms = Terms(rule, agreed, spend.per(session.unit), names, many, closes, public)
    return _running(session, name, source, terms, mechanism=chosen, pages=pages)


def resume_round(session: Session, name: str, *, asker: str) -> Round:
    """Go on with a round that was paid from here by the same asker; or read what it left."""
    paid = paid_dialogue(session._account, name, Dialogue.ROUND, asker=asker)
    kept = paid["detail"]["round"]
    universe = universe_from(kept["universe"], session._question)
    source = _source(session, universe)
    purpose = paid["detail"].get("purpose")
    session._policies.admit_resumed(source.question, asker=asker, purpose=purpose)
    asked = AnyQuery() if kept["ways"] is None else Conjunctions(kept["ways"])
    rule = Rule(universe, kept["queries_each"], asked)
    agreed = RoundPlan.from_plain(kept["plan"])
    spend = guarantee_from_dict(kept["spend"])
    closes = None if kept["closes"] is None else datetime.fromisoformat(kept["closes"])
    pages = Pages(SessionLog(session.ledger, name, 0))  # reads, and may not write
    public = synopsis_facts(session, source, mechanism=agreed.name, rmse=agreed.rmse)
    held = spend.per(session.unit)
    terms = Terms(rule, agreed, held, pages.names(), kept["places"], closes, public)
    if pages.outcome() is not None:
        _require_declared(session, source, kept)
        ended = session._account.find(asker=asker, question=str(paid["question"])) is not None
        commit = _nothing if ended else partial(_commit, session, name)
        round_again = Round(name, terms, pages, _never, commit)
        round_again.close()
        return round_again
    pages.require_not_run()  # without a claim: whoever runs it now may still end it
    chosen = _again(session, source, terms, kept)
    claimed = Pages(session._account.session_log(name))
    return _running(session, name, source, terms, mechanism=chosen, pages=claimed)


def _declared(session: Session, source: TableCounts) -> str:
    """Equal where the universe means the same cells of the same tables."""
    return identity("universe", question=source.question, rows=session._rows(source.question))


def _require_declared(session: Session, source: TableCounts, kept: Mapping[str, Any]) -> None:
    """Refuse to read queries and counts of other cells; the first rounds did not keep which."""
    if kept.get("question", "") not in ("", _declared(session, source)):
        raise InvalidParameter(
            code="universe_differs",
            expectation="tables that are declared as when the round was opened",
            received=list(source.universe.names),
            remedy="Declare the columns as they were, or open a new round.",
        )


def _again(
    session: Session, source: TableCounts, terms: Terms, kept: Mapping[str, Any]
) -> Mechanism:
    """The mechanism that was agreed on: planned again, and the same."""
    if session._snapshot(source.question) != kept["snapshot"]:
        raise InvalidParameter(
            code="data_changed",
            expectation="the tables as they were when the round was opened",
            received=list(source.universe.names),
            remedy="Open a new round. For tables that are not files, name their version: "
            "dp.table(..., snapshot=...).",
        )
    _require_declared(session, source, kept)
    session._payment.require_unchanged()
    promise = guarantee_from_dict(kept["promise"])
    assert isinstance(promise, ApproxDP)
    facts = _facts(
        session,
        source,
        terms.rule,
        places=terms.places,
        spend=guarantee_from_dict(kept["spend"]),
        protects=unit_from(kept["plan"]["protects"]),
        promise=promise,
        topics=kept["topics"],
        corrections=kept["corrections"],
    )
    kinds = {_tag(kind): kind for kind in get_args(Mechanism) if kind is not CorrectedGame}
    agreed, chosen = plan(facts, kinds[kept["mechanism"]])
    if _promises(agreed) != _promises(terms.plan):
        raise InvalidParameter(
            code="round_differs",
            expectation="a plan as it was when the round was opened",
            received=agreed.name,
            remedy="Close it with the version of the software that opened it, or open another.",
        )
    return chosen


def _promises(plan: RoundPlan) -> tuple[object, ...]:
    """What must not differ: words may, and predicted errors in their last digits, but no number."""
    return (plan.name, plan.event, plan.analysts, plan.cost, _NUMBERS.findall(plan.text))


def _running(
    session: Session,
    name: str,
    source: TableCounts,
    terms: Terms,
    *,
    mechanism: Mechanism,
    pages: Pages,
) -> Round:
    def released(submitted: Submitted) -> Outcome:
        """What reads data: one count for each cell, whatever was asked."""
        fresh = replace(source, salt=integer(SYSTEM, 62))
        with fresh.engine.snapshot():
            return run(mechanism, fresh, terms.names, submitted)

    def guarded(submitted: Submitted, begin: Callable[[], None]) -> Outcome:
        session._payment.require_unchanged()  # free: nothing was read
        begin()
        return session._payment.guarded(name, lambda: released(submitted))

    return Round(name, terms, pages, guarded, partial(_commit, session, name))


def _commit(session: Session, name: str) -> None:
    """End the reservation; the outcome itself stays on a veiled page."""
    session._account.commit(name, {"round": "closed"})


def _nothing() -> None:
    """It was committed."""


def _never(submitted: Submitted, begin: Callable[[], None]) -> Outcome:
    raise AssertionError(len(submitted), begin)


def _facts(
    session: Session,
    source: TableCounts,
    rule: Rule,
    *,
    places: int,
    spend: Guarantee,
    protects: AnalystUnit,
    promise: ApproxDP,
    topics: int | None,
    corrections: int,
) -> Facts:
    return Facts(
        universe=source.universe,
        size=source.size,
        records=source.records,
        unit=session.unit,
        analysts=places,
        most=rule.most,
        spend=spend,
        protects=protects,
        promise=promise,
        asked=rule.asked,
        topics=topics,
        corrections=corrections,
        randomness=session._holdings.randomness,
    )


def _source(session: Session, universe: Universe) -> TableCounts:
    database = session._database
    return TableCounts.of(universe, session._question, database.engine, private_tables(database))


def _named(analysts: Sequence[str]) -> tuple[str, ...]:
    listed = isinstance(analysts, Sequence) and not isinstance(analysts, str)
    names = tuple(analysts) if listed else ()
    if not all(map(_is_name, names)) or not names or len(set(names)) < len(names):
        raise InvalidParameter(
            code="analysts_misfit",
            expectation="the names of all analysts who may submit, each once",
            received=len(names),
            remedy='Write analysts=["ann", "bob"]; whether they submit is theirs to decide.',
        )
    return names


def _is_name(name: object) -> bool:
    """Text that is not blank and that a ledger can hold."""
    try:
        return isinstance(name, str) and bool(name.strip()) and bool(name.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _class(asked: QueryClass) -> QueryClass:
    if not isinstance(asked, AnyQuery | Conjunctions):
        raise InvalidParameter(
            code="query_class_unknown",
            expectation="AnyQuery() or Conjunctions(ways)",
            received=type(asked).__name__,
            remedy="Write asked=Conjunctions(3), or leave it out.",
        )
    return asked


def _kind(mechanism: Mechanism) -> type:
    """The kind of release that the planner ranks."""
    return type(mechanism.game if isinstance(mechanism, CorrectedGame) else mechanism)


def _tag(kind: type) -> str:
    form = form_of(kind)
    assert form is not None  # every release of a round has a name in a ledger
    return short(form)


def require_whole(session: Session) -> None:
    """Refuse a limit below the curator itself: it would tell of others' rounds."""
    if session._account is not session.ledger:
        raise InvalidParameter(
            code="analyst_limit_of_all",
            expectation="a limit, or the sum of all rounds, at the curator itself",
            remedy="Open the round at the curator, or leave `limit=` out: what others opened is "
            "not for a child to see.",
        )


def _whole(corrections: int) -> int:
    return 0 if corrections == 0 else count("corrections", corrections)


def _promise(promise: ApproxDP) -> ApproxDP:
    if not isinstance(promise, ApproxDP):
        raise InvalidParameter(
            code="promise_notion",
            expectation="a promise to analysts in ApproxDP",
            received=type(promise).__name__,
            remedy="Write promise=dp.ApproxDP(epsilon=1, delta=1e-6).",
        )
    return promise


def _aware(closes: datetime | None) -> datetime | None:
    """A time that means the same everywhere."""
    if closes is None:
        return None
    if not isinstance(closes, datetime) or closes.tzinfo is None:
        raise InvalidParameter(
            code="time_unclear",
            expectation="a time with its zone",
            received=type(closes).__name__,
            remedy="Write datetime(2030, 1, 1, 12, tzinfo=UTC).",
        )
    try:
        common = closes.astimezone(UTC)
    except OverflowError:
        common = datetime.min.replace(tzinfo=UTC)
    if common <= datetime.now(UTC):
        raise InvalidParameter(
            code="time_past",
            expectation="a time that has not come yet, so that somebody can submit",
            received=closes,
            remedy="Choose a later time, or leave `closes=` out.",
        )
    return common
