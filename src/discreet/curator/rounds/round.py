"""A round: analysts submit privately, it closes on a public schedule, and runs once.

The whole price was reserved when the round was opened and is the same whatever is submitted. What
is submitted is kept in the ledger as a secret; the outcome is kept before anybody sees it, so that
after a crash it is read again and never drawn again.

Source: contract, "What may be seen" (between analysts). Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.rounds.log import Pages
from discreet.curator.rounds.plan import RoundPlan
from discreet.curator.rounds.results import RoundResults
from discreet.curator.rounds.run import Outcome, Submitted
from discreet.curator.rounds.submission import Held, Queries, Rule, queries_to_dict
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.queries.workload.universe import Universe


@dataclass(frozen=True)
class Terms:
    """What was agreed when a round was opened; public, but for the analysts' names."""

    rule: Rule
    plan: RoundPlan
    guarantee: Guarantee
    names: tuple[str, ...]
    places: int
    closes: datetime | None
    facts: Mapping[str, Any]


class Round:
    """Collects queries and answers them all at once. Threads may share it.

    ``curator.resume(round.id)`` goes on with it in another process, which ends it here.
    """

    def __init__(
        self,
        name: str,
        terms: Terms,
        pages: Pages,
        run: Callable[[Submitted, Callable[[], None]], Outcome],
        commit: Callable[[], None],
    ) -> None:
        """Hold what was opened; ``commit`` ends the reservation.

        ``run`` opens the data, after it has called what it is given.
        """
        self._name = name
        self._terms = terms
        self._pages = pages
        self._run = run
        self._commit = commit
        self._drawn: Outcome | None = None
        self._results: RoundResults | None = None
        self._lock = threading.RLock()

    @property
    def id(self) -> str:
        """By which ``curator.resume`` finds it. Random."""
        return self._name

    @property
    def universe(self) -> Universe:
        """What queries are about."""
        return self._terms.rule.universe

    @property
    def closes(self) -> datetime | None:
        """When it may be closed; None if the owner says when."""
        return self._terms.closes

    def plan(self) -> RoundPlan:
        """What will run, the errors to expect, what it costs, and why: public facts only."""
        return self._terms.plan

    def submit(self, analyst: str, queries: Queries) -> None:
        """Keep an analyst's queries, instead of earlier ones. Durable on return.

        A list of conditions, linear queries or arrays, or a workload; it may be empty. What breaks
        the round's public rule is refused to this analyst, and what stood before stands.
        """
        self._require_member(analyst)
        with self._lock:
            if self._results is not None or self._over() or self._pages.was_run():
                raise InvalidParameter(
                    code="round_closed",
                    expectation="a round that is still open",
                    received=self._terms.closes,
                    remedy="Submit to the next round.",
                )
            self._pages.submit(analyst, queries_to_dict(self._terms.rule.read_queries(queries)))

    def close(self) -> RoundResults:
        """Run the round and hand out its results; afterwards, the same results at no charge.

        For the owner, when the public schedule says so. Whoever submitted nothing has padding.
        """
        with self._lock:
            if self._results is None:
                outcome = self._recalled()
                if outcome is None:
                    self._require_over()
                submitted = self._submitted()
                if outcome is None:
                    outcome = self._once(submitted)
                    self._pages.end(outcome.to_dict())
                self._commit()
                self._results = self._make_results(outcome, submitted)
            return self._results

    def _once(self, submitted: Submitted) -> Outcome:
        """Run it, unless it was run: what was drawn here and not kept yet is kept now.

        The page that says so is written only by whoever speaks for the round, before any data is
        opened; whoever finds it without an outcome draws nothing.
        """
        if self._drawn is None:
            self._pages.require_not_run()
            self._drawn = self._run(submitted, self._pages.run)
        return self._drawn

    def _recalled(self) -> Outcome | None:
        plain = self._pages.outcome()
        if plain is None:
            return None
        return Outcome.from_dict(plain, self.universe, self._terms.plan.event)

    def _submitted(self) -> Submitted:
        rule = self._terms.rule
        kept = self._pages.submitted()
        # `submit` lets nobody have more than the public number of places.
        return {
            name: rule.from_dict(queries)
            for name, queries in kept.items()
            if len(queries) <= rule.most
        }

    def _make_results(self, outcome: Outcome, submitted: Submitted) -> RoundResults:
        def queries(analyst: str) -> Sequence[Held]:
            self._require_member(analyst)
            return submitted.get(analyst, ())

        plan, guarantee = self._terms.plan, self._terms.guarantee
        shared = None
        if outcome.shared is not None:
            shared = SynopsisRelease(
                id=self._name,
                query=f"synopsis of a round by {plan.name}: {' x '.join(self.universe.names)}",
                synopsis=outcome.shared,
                guarantee=guarantee,
                event=plan.event,
                rmse=plan.rmse,
                facts=self._terms.facts,
            )
        return RoundResults(outcome, shared, queries, guarantee, plan.event, plan.analysts)

    def _require_member(self, analyst: str) -> None:
        if not isinstance(analyst, str) or analyst not in self._terms.names:
            raise InvalidParameter(
                code="analyst_unknown",
                expectation="an analyst whom the owner listed when the round was opened",
                received=analyst if isinstance(analyst, str) else type(analyst).__name__,
                remedy="Everybody who may submit is listed beforehand: analysts=[...].",
            )

    def _over(self) -> bool:
        closes = self._terms.closes
        return closes is not None and _now() >= closes

    def _require_over(self) -> None:
        if self._terms.closes is not None and not self._over():
            raise InvalidParameter(
                code="round_open",
                expectation="a round whose public time of closing has come",
                received=self._terms.closes.isoformat(),
                remedy="Close it then; earlier or later would depend on who submitted.",
            )

    def __repr__(self) -> str:
        terms = self._terms
        return (
            f"Round({terms.plan.name}; {terms.places} analysts with at most {terms.rule.most} "
            f"queries each, closes {terms.closes or 'when the owner says'})"
        )


def _now() -> datetime:
    return datetime.now(UTC)
