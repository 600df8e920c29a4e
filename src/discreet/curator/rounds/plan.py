"""What a round will run: chosen when it is opened, from public facts alone.

Where one row for each person is exchanged and their number is public, the planner of
``queries/analysts`` ranks everything it knows, games included. Under every other unit the games
have no proof; there a round releases public marginals, or all cells, whose price follows from the
unit and which no analyst's query influences.

Source: analysts-verified:H1, H4 ("Planner"), H10. Proof: ``proofs/rounds.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, from_json
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import exact
from discreet.core.unit import PrivacyUnit
from discreet.curator.rounds.analyst_spending import (
    cost_from_dict,
    cost_to_dict,
    unit_from_dict,
    unit_to_dict,
)
from discreet.curator.rounds.corrected_game import CorrectedGame, corrected_game
from discreet.curator.rounds.game_with_runs import game_with_runs, promise_of_the_game
from discreet.curator.tags import form_of, short
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.failing_analysts import AnalystRuns, FailingAnalysts
from discreet.queries.analysts.game import Game
from discreet.queries.analysts.guarantee import (
    AnalystGuarantee,
    AnalystUnit,
    OneQuery,
    require_one_row_replaced,
)
from discreet.queries.analysts.planning import plan_round
from discreet.queries.analysts.planning_game import BETA
from discreet.queries.analysts.planning_options import RoundOption
from discreet.queries.analysts.predicted_error import PredictedError
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.analysts.query_class import Conjunctions, QueryClass, attribute_sets
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

_MOST_ANSWERS = 1 << 24

RoundMechanism: TypeAlias = (
    NoisyHistogram
    | PublicMarginals
    | MarginalMechanism
    | MatrixMechanism
    | PaddedNoise
    | ProfiledMarginals
    | SampledGame
    | ExpectedGame
    | CorrectedGame
)


@dataclass(frozen=True)
class RoundPlan:
    """What will run and why; every part of it is public.

    Attributes:
        name: The release that was chosen.
        error: Predicted errors as shares of the records, where their number is public.
        rmse: The expected error of a query in records, where the number of records is not.
        event: What is done to the data, whatever is submitted.
        analysts: What others learn about one query, or one analyst.
        cost: The same in (epsilon, delta): what the account of analysts' privacy adds up.
        text: All options, and the reason for this one.
    """

    name: str
    error: PredictedError | None
    rmse: float | None
    event: Event
    analysts: AnalystGuarantee
    cost: ApproxDP
    text: str

    def explain(self) -> str:
        """In words, with a table of all options."""
        return self.text

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        """The plan as values for JSON."""
        error = None
        if self.error is not None:
            error = [_finite(self.error.mean), _finite(self.error.largest)]
        return {
            "name": self.name,
            "error": error,
            "rmse": self.rmse,
            "event": self.event.to_json(),
            "protects": unit_to_dict(self.analysts.unit),
            "analysts": self.analysts.event.to_json(),
            "cost": cost_to_dict(self.cost),
            "text": self.text,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RoundPlan:
        """What :meth:`to_dict` wrote."""
        error = plain["error"]
        return cls(
            name=plain["name"],
            error=None
            if error is None
            else PredictedError(*(math.nan if each is None else each for each in error)),
            rmse=plain["rmse"],
            event=from_json(plain["event"]),
            analysts=AnalystGuarantee(
                unit_from_dict(plain["protects"]), from_json(plain["analysts"])
            ),
            cost=cost_from_dict(plain["cost"]),
            text=plain["text"],
        )


@dataclass(frozen=True)
class Facts:
    """All that is public about a round, for a number of records that is public or bought."""

    universe: Universe
    size: RecordCount
    records: int
    unit: PrivacyUnit
    analysts: int
    most: int
    spend: Guarantee
    protects: AnalystUnit
    promise: ApproxDP
    asked: QueryClass
    topics: int | None = None
    corrections: int | AnalystRuns = 0
    randomness: Source = SYSTEM


def plan(facts: Facts, wanted: type | None) -> tuple[RoundPlan, RoundMechanism]:
    """Choose a release: the best one, or the best of the kind that the owner wants."""
    if wanted is not None and not isinstance(wanted, type):
        raise InvalidParameter(
            code="release_unknown",
            expectation="a kind of release that rounds know, as a class",
            received=type(wanted).__name__,
            remedy="Leave `mechanism=` out, or write mechanism=NoisyHistogram.",
        )
    if wanted is not None and issubclass(wanted, Game):
        require_one_row_replaced(facts.unit)
    if not isinstance(facts.size, PublicCount):
        return _untouched(facts, wanted)
    found = plan_round(
        PublicRound(
            facts.universe,
            facts.size,
            facts.analysts,
            facts.most,
            facts.spend,
            facts.protects,
            _promised_by_a_game(facts),
            asked=facts.asked,
            topics=facts.topics,
            records=facts.records,
        )
    )
    chosen = found.chosen if wanted is None else _of_kind(found.ranked, wanted)
    assert chosen.mechanism is not None
    text = found.explain()
    if chosen != found.chosen:
        text += f"\nThe owner asked for: {chosen.name}."
    mechanism: RoundMechanism = chosen.mechanism
    if isinstance(mechanism, Game):
        require_one_row_replaced(facts.unit)
    error, analysts = chosen.error, chosen.analysts
    if isinstance(mechanism, SampledGame | ExpectedGame):
        # The planner's bound is after a shared correction, which no round makes.
        error = PredictedError(mean=math.nan, largest=mechanism.alpha(beta=BETA))
        text += _before_correction(mechanism, facts)
        mechanism, analysts = _corrected(mechanism, facts)
        text += _after_correction(mechanism, facts)
    elif facts.corrections:
        text += "\nNo corrections: they are for games."
    if isinstance(mechanism, PaddedNoise) and mechanism.queries > _MOST_ANSWERS:
        raise InvalidParameter(
            code="round_too_large",
            expectation=f"at most {_MOST_ANSWERS} places for queries with independent noise",
            received=mechanism.queries,
            remedy="Choose fewer places, or a release that keeps a synopsis.",
        )
    mechanism = _drawing(mechanism, facts.randomness)
    made = RoundPlan(
        name=chosen.name,
        error=error,
        rmse=None,
        event=mechanism.event,
        analysts=analysts,
        cost=_cost(analysts, facts.promise),
        text=text,
    )
    return made, mechanism


def _drawing(mechanism: RoundMechanism, randomness: Source) -> RoundMechanism:
    """The mechanism that was planned, with noise from elsewhere in test mode."""
    if isinstance(mechanism, CorrectedGame):
        return mechanism.drawing(randomness)
    changed: RoundMechanism = replace(mechanism, randomness=randomness)
    return changed


def _before_correction(game: SampledGame | ExpectedGame, facts: Facts) -> str:
    who = "queries" if isinstance(facts.protects, OneQuery) else "analysts"
    after = "no corrections"
    if isinstance(facts.corrections, AnalystRuns):
        after = "then runs for analysts whose answers fail"
    elif facts.corrections:
        after = f"then at most {facts.corrections} corrections for each analyst"
    return (
        f"\nThe synopsis: all but fewer than {game.s} {who} within {game.alpha(beta=BETA):.2g}, "
        f"with probability {1 - BETA:g}; {after}."
    )


def _after_correction(mechanism: RoundMechanism, facts: Facts) -> str:
    failing = mechanism.correction if isinstance(mechanism, CorrectedGame) else None
    if not isinstance(failing, FailingAnalysts):
        return ""
    return (
        f" An analyst fails by an error of about {float(failing.threshold):.2g}; there are "
        f"{failing.runs} runs for {facts.analysts} analysts, each within {failing.run.error:.2g}."
    )


def _promised_by_a_game(facts: Facts) -> ApproxDP:
    """The promise that a game is planned with: what comes after it may need some of the delta."""
    if isinstance(facts.corrections, AnalystRuns):
        return promise_of_the_game(facts.promise, facts.corrections, facts.analysts)
    return facts.promise


def _corrected(
    game: SampledGame | ExpectedGame, facts: Facts
) -> tuple[RoundMechanism, AnalystGuarantee]:
    """With what was asked for after it, and what analysts are promised of both."""
    if isinstance(facts.corrections, AnalystRuns):
        return game_with_runs(
            game, runs=facts.corrections, spend=facts.spend, promise=facts.promise
        )
    if not facts.corrections:
        return game, game.analysts
    return corrected_game(game, spend=facts.spend, cutoff=facts.corrections), game.analysts


def _of_kind(ranked: Sequence[RoundOption], wanted: type) -> RoundOption:
    for option in ranked:
        if isinstance(option.mechanism, wanted):
            return option
    reasons = "; ".join(f"{each.name} {each.refusal}" for each in ranked if each.refusal)
    raise _none(wanted=wanted, reason=reasons)


def _untouched(facts: Facts, wanted: type | None) -> tuple[RoundPlan, RoundMechanism]:
    """Releases for units that come and go: no analyst's query influences them."""
    universe = facts.universe
    kind: type[MarginalMechanism | MatrixMechanism] = MatrixMechanism
    name, workload = "all cells", Workload.marginal(universe, universe.names)
    if isinstance(facts.asked, Conjunctions):
        kind, name = MarginalMechanism, "public marginals"
        sets = attribute_sets(universe, facts.asked.ways)
        named = [[universe.names[place] for place in places] for places in sets]
        workload = Workload.union(*(Workload.marginal(universe, names) for names in named))
    if wanted is not None and not issubclass(kind, wanted):
        raise _none(wanted=wanted, reason=f"under {facts.unit!r} it is {kind.__name__}")
    mechanism = kind(workload, facts.spend, size=facts.size, records=facts.records)
    text = (
        f"{universe.size} cells, {facts.analysts} analysts with at most {facts.most} queries each; "
        f"{facts.asked.text}\n\n{name}: expected error of a query {mechanism.rmse:.4g} records "
        f"(root mean square); analysts pay nothing.\n\nChosen: {name}: the games are proved for "
        "one row of each person that is exchanged; under this unit only releases that no query "
        "influences are offered."
    )
    rmse, drawing = mechanism.rmse, _drawing(mechanism, facts.randomness)
    made = RoundPlan(
        name=name,
        error=None,
        rmse=rmse,
        event=drawing.event,
        analysts=AnalystGuarantee(facts.protects),
        cost=ApproxDP(epsilon=0, delta=0),
        text=text,
    )
    return made, drawing


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _cost(analysts: AnalystGuarantee, promise: ApproxDP) -> ApproxDP:
    """The price at the delta that was promised, rounded up; nothing for a perfect release."""
    if analysts.perfect:
        return ApproxDP(epsilon=0, delta=0)
    found = Fraction(analysts.epsilon(delta=float(promise.delta)))
    return ApproxDP(epsilon=found, delta=exact(promise.delta))


def _none(*, wanted: type, reason: str) -> InvalidParameter:
    return InvalidParameter(
        code="no_release_fits",
        expectation=f"a round that {wanted.__name__} can serve",
        received=reason,
        remedy="Leave `mechanism=` out, or see `plan` for what the others need.",
    )


def written_kind(kind: type) -> str:
    """The name of a kind of release in ledgers, for ever."""
    form = form_of(kind)
    assert form is not None  # every release of a round has a name in a ledger
    return short(form)
