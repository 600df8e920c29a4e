"""Opening a round: translate, plan from public facts, price, reserve, claim, keep the names.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import count
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.purchase import Offer, Purchase, reserve
from discreet.curator.rounds.analyst_spending import Told, require_whole, unit_to_dict
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.rounds.corrections import corrections_asked, corrections_to_json
from discreet.curator.rounds.log import Pages
from discreet.curator.rounds.plan import RoundMechanism, plan, written_kind
from discreet.curator.rounds.round import Round, Terms
from discreet.curator.rounds.running import facts_of, running_round
from discreet.curator.rounds.submission import Rule
from discreet.curator.synopsis.make import synopsis_facts
from discreet.curator.synopsis.universe import counts_of, declared_universe
from discreet.ledger.ledger import admit_all
from discreet.queries.analysts.failing_analysts import AnalystRuns
from discreet.queries.analysts.guarantee import AnalystUnit
from discreet.queries.analysts.query_class import AnyQuery, Conjunctions, QueryClass
from discreet.queries.workload.universe import Universe
from discreet.relational.plan.keyed_universe import KeyedUniverse
from discreet.release.guarantee import guarantee_to_dict
from discreet.release.promise import promised


def open_round(
    context: Context,
    universe: Universe,
    *,
    analysts: Sequence[str],
    queries_each: int,
    spend: Guarantee,
    protects: AnalystUnit,
    promise: ApproxDP,
    asked: QueryClass | None,
    topics: int | None,
    places: int | None,
    mechanism: type | None,
    corrections: int | AnalystRuns,
    closes: datetime | None,
    limit: ApproxDP | None,
    analyst: str,
    purpose: str | None,
) -> Round:
    """Plan a round, pay for it, and start it."""
    names = _require_analyst_names(analysts)
    source = counts_of(context, universe)
    assert isinstance(universe, KeyedUniverse)  # else there is nothing to count
    rule = Rule(universe, queries_each, _class(AnyQuery() if asked is None else asked))
    unit_to_dict(protects)
    context.budget.check(spend)
    spend, closes = as_written(spend), _aware(closes)
    many = _places(names, places)
    facts = facts_of(
        context,
        source,
        rule,
        places=many,
        spend=spend,
        protects=protects,
        promise=_promise(promise),
        topics=topics,
        corrections=corrections_asked(corrections),
    )
    if limit is not None:
        require_whole(context)
        _promise(limit)
    agreed, chosen = plan(facts, mechanism)
    still = _within(context, limit, protects, agreed.cost)

    def offer() -> Offer[RoundMechanism]:
        if still is not None:
            still()  # here, where a refusal is cheap; and again in the block that charges
        source.text(universe.names[:1])  # what cannot be written is refused now
        kept = {
            "universe": list(universe.questions),
            "places": many,
            "queries_each": rule.most,
            "spend": guarantee_to_dict(spend),
            "promise": guarantee_to_dict(facts.promise),
            "ways": rule.asked.ways if isinstance(rule.asked, Conjunctions) else None,
            "topics": topics,
            "corrections": corrections_to_json(facts.corrections),
            "mechanism": written_kind(_kind(chosen)),
            "closes": None if closes is None else closes.isoformat(),
            "snapshot": context.snapshot(tables_read(source.query)),
            "question": declared_universe(context, source.query),
            "plan": agreed.to_dict(),
        }
        words = f"round about {' x '.join(universe.names)} by {agreed.name}"
        return Offer(chosen, agreed.event, {"mechanism": words, "round": kept})

    purchase = Purchase(
        analyst=analyst, purpose=purpose, spend=spend, reads=(source.query,), offer=offer
    )
    reservation, _ = reserve(context, purchase, "round", still=still or admit_all)
    pages = Pages(reservation.log())
    pages.begin(names)
    public = synopsis_facts(context, source, mechanism=agreed.name, rmse=agreed.rmse)
    held = promised(spend, agreed.event).per(context.unit)
    terms = Terms(rule, agreed, held, names, many, closes, public)
    return running_round(reservation, source, terms, mechanism=chosen, pages=pages)


def _within(
    context: Context, limit: ApproxDP | None, protects: AnalystUnit, cost: ApproxDP
) -> Callable[[], None] | None:
    """Refuses a round after which all rounds together would tell more than the owner allows."""
    if limit is None or cost == ApproxDP(epsilon=0, delta=0):
        return None
    told = Told(context.ledger)
    return lambda: told.now().after(protects, cost).require_within(limit, protects)


def _places(names: Sequence[str], places: int | None) -> int:
    many = len(names) if places is None else count("places", places)
    if many < len(names):
        raise InvalidParameter(
            code="places_too_few",
            expectation="at least as many places as there are analysts",
            received=(many, len(names)),
            remedy="Leave `places=` out, or choose a larger number; it is public.",
        )
    return many


def _require_analyst_names(analysts: Sequence[str]) -> tuple[str, ...]:
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


def _kind(mechanism: RoundMechanism) -> type:
    """The kind of release that the planner ranks."""
    return type(mechanism.game if isinstance(mechanism, CorrectedGame) else mechanism)


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
