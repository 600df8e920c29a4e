"""What rounds have told about analysts so far: sums of (epsilon, delta), kept in the ledger.

Each round's price was fixed when it was opened, and is public. Rounds may follow upon each other's
results, so prices add up as pairs. A promise for one analyst covers one query, by the same numbers;
a promise for one query says nothing about an analyst.

Source: analysts-verified:H1, H4 ("Over rounds compose (epsilon, delta) pairs").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.guarantee import ApproxDP
from discreet.core.parameters import exact
from discreet.curator.context import Context
from discreet.ledger import Ledger
from discreet.ledger.entry import EntryKind
from discreet.ledger.errors import damaged
from discreet.queries.analysts.guarantee import AnalystUnit, OneAnalyst, OneQuery


@dataclass(frozen=True)
class AnalystSpending:
    """What all rounds together tell.

    Attributes:
        query: About one query of one analyst; None once the deltas add up to one.
        analyst: About one analyst with all queries; None if some round promised that only for
            single queries.
        rounds: How many rounds there were.
    """

    query: ApproxDP | None
    analyst: ApproxDP | None
    rounds: int

    def after(self, unit: AnalystUnit, cost: ApproxDP) -> AnalystSpending:
        """With one more round."""
        free = not cost.epsilon and not cost.delta
        covered = free or isinstance(unit, OneAnalyst)
        analyst = _sum(self.analyst, cost) if covered else None
        return AnalystSpending(_sum(self.query, cost), analyst, self.rounds + 1)

    def require_within(self, limit: ApproxDP, unit: AnalystUnit) -> None:
        """Refuse a round after which more would have been told than the owner allows."""
        told = self.query if isinstance(unit, OneQuery) else self.analyst
        if told is None or told.epsilon > exact(limit.epsilon) or told.delta > exact(limit.delta):
            raise Exhausted(
                code="analyst_limit",
                expectation="rounds that together stay within the limit for analysts",
                received=limit,
                remedy="Open the round with a smaller promise, or with a release that no query "
                "influences; `curator.analyst_spending` shows the sum.",
            )


class Told:
    """The sum over all rounds that a ledger holds, read on from where it was read to before.

    Only sealed entries without a gap are believed: a round whose entry was taken away or made
    something else would be told and not counted.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Read nothing yet."""
        self._ledger = ledger
        nothing = ApproxDP(epsilon=0, delta=0)
        self._total = AnalystSpending(nothing, nothing, rounds=0)
        self._read = 0

    def now(self) -> AnalystSpending:
        """The sum up to the last entry there is; in a block of writing, up to the one before."""
        key = self._ledger.chain.owner()
        for entry in self._ledger.entries(after=self._read):
            if entry.require_seal(key).number != self._read + 1:
                raise damaged(what=f"entry {self._read + 1} is not there")
            self._read = entry.number
            if entry.kind is EntryKind.RESERVED:
                kept = entry.body.get("detail", {}).get("round")
                if kept is not None:
                    plan = kept["plan"]
                    unit, cost = unit_from_dict(plan["protects"]), cost_from_dict(plan["cost"])
                    self._total = self._total.after(unit, cost)
        return self._total


def analyst_spending(ledger: Ledger) -> AnalystSpending:
    """The sum over all rounds that a ledger holds, those that were never closed included."""
    return Told(ledger).now()


def require_whole(context: Context) -> None:
    """Refuse a limit below the curator itself: it would tell of others' rounds."""
    if context.account is not context.ledger:
        raise InvalidParameter(
            code="analyst_limit_of_all",
            expectation="a limit, or the sum of all rounds, at the curator itself",
            remedy="Open the round at the curator, or leave `limit=` out: what others opened is "
            "not for a child to see.",
        )


def unit_to_dict(unit: AnalystUnit) -> str:
    """The unit of analysts as a word for JSON."""
    if not isinstance(unit, OneQuery | OneAnalyst):
        raise InvalidParameter(
            code="not_an_analyst_unit",
            expectation="OneQuery() or OneAnalyst()",
            received=type(unit).__name__,
            remedy="Write protects=OneQuery() or protects=OneAnalyst().",
        )
    return "OneAnalyst" if isinstance(unit, OneAnalyst) else "OneQuery"


def unit_from_dict(plain: str) -> AnalystUnit:
    """What :func:`unit_to_dict` wrote."""
    return OneAnalyst() if plain == "OneAnalyst" else OneQuery()


def cost_to_dict(cost: ApproxDP) -> list[str]:
    """Exact numbers for JSON."""
    return [str(exact(cost.epsilon)), str(exact(cost.delta))]


def cost_from_dict(plain: list[str]) -> ApproxDP:
    """What :func:`cost_to_dict` wrote."""
    epsilon, delta = map(Fraction, plain)
    return ApproxDP(epsilon=epsilon, delta=delta)


def _sum(told: ApproxDP | None, cost: ApproxDP) -> ApproxDP | None:
    if told is None:
        return None
    delta = exact(told.delta) + exact(cost.delta)
    if delta >= 1:
        return None
    return ApproxDP(epsilon=exact(told.epsilon) + exact(cost.epsilon), delta=delta)
