"""Which release to use for a round: all options ranked, from public facts alone.

Nothing here sees a query or a record, so what is chosen tells nothing about either. Every option
has a predicted error, what it costs the data's people and the analysts, and how long it takes; an
option that cannot help is refused with a reason. A game is refused where it would have to be
allowed to be wrong about everybody (|Q| ≤ s, or as many analysts), or promises nothing.

Source: analysts-verified:H1, H4 ("Planner"), H5, H10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.planning_options import RoundOption, plan_text, refused
from discreet.queries.analysts.planning_rounds import expected_option, sampled_option
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.analysts.query_class import Conjunctions

WORTH = 1.1
"""What costs analysts something must be this much better than what costs them nothing."""
NOT_A_CLASS = "queries may be over any attributes; declare asked=Conjunctions(ways)"


@dataclass(frozen=True)
class RoundRanking:
    """All options, best first; those that were refused come last."""

    round: PublicRound
    ranked: tuple[RoundOption, ...]

    @property
    def chosen(self) -> RoundOption:
        """The least predicted largest error; what costs analysts must be a tenth better."""
        best = self.ranked[0]
        if best.refusal:
            raise InvalidParameter(
                code="no_release_fits",
                expectation="a round that at least one release can serve",
                received=best.refusal,
                remedy="Use coarser attributes, a spend with delta, or asked=Conjunctions(ways).",
            )
        return best

    @property
    def reason(self) -> str:
        """Why it was chosen, in a sentence."""
        games = [option for option in self.ranked if option.name.endswith("game")]
        words = f"{self.chosen.name} has the least predicted largest error"
        if self.chosen.analysts.perfect:
            words += " of what no analyst's query influences; no other is a tenth better"
        else:
            words += ", clearly less than what no analyst's query influences"
        useless = all(option.refusal for option in games)
        return f"no useful shared game; {words}" if useless else words

    def explain(self) -> str:
        """What was chosen and why, with all options in a table."""
        facts = self.round
        head = (
            f"{facts.size.records} records, {facts.universe.size} cells, {facts.analysts} analysts "
            f"with at most {facts.most} queries each; {facts.asked.text}"
        )
        return plan_text(
            head,
            self.ranked,
            f"Chosen: {self.chosen.name}: {self.reason}.",
            promise=facts.promise,
        )


def plan_round(facts: PublicRound) -> RoundRanking:
    """Rank all options for a round."""
    makers: tuple[tuple[str, Callable[[PublicRound], RoundOption]], ...] = (
        ("independent noise", _independent),
        ("noisy histogram", _histogram),
        ("public marginals", _marginals),
        ("profiled marginals", _profiled),
        ("sampled game", sampled_option),
        ("expected game", expected_option),
    )
    options = []
    for name, make in makers:
        try:
            options.append(make(facts))
        except InvalidParameter as reason:
            options.append(refused(name, facts.protects, f"{reason.code}: {reason.expectation}"))
    ranked = sorted(options, key=lambda each: (bool(each.refusal), _rank(each)))
    return RoundRanking(facts, tuple(ranked))


def _rank(option: RoundOption) -> float:
    return option.largest * (1 if option.analysts.perfect else WORTH)


def _independent(facts: PublicRound) -> RoundOption:
    given = (facts.universe, facts.queries, facts.spend, facts.size, facts.records)
    mechanism = PaddedNoise(*given, facts.randomness)
    return RoundOption.perfect(
        "independent noise",
        mechanism,
        mechanism.predicted(),
        unit=facts.protects,
        seconds=1e-5 * facts.queries,
    )


def _histogram(facts: PublicRound) -> RoundOption:
    given = (facts.universe, facts.spend, facts.size, facts.records)
    mechanism = NoisyHistogram(*given, facts.randomness)
    return RoundOption.perfect(
        "noisy histogram",
        mechanism,
        mechanism.predicted(facts.asked, facts.queries),
        unit=facts.protects,
        seconds=1e-7 * facts.universe.size,
    )


def _marginals(facts: PublicRound) -> RoundOption:
    if not isinstance(facts.asked, Conjunctions):
        return refused("public marginals", facts.protects, NOT_A_CLASS)
    mechanism = PublicMarginals(
        facts.universe,
        facts.asked.ways,
        facts.spend,
        facts.size,
        records=facts.records,
        randomness=facts.randomness,
    )
    cells = mechanism.mechanism.workload.queries
    return RoundOption.perfect(
        "public marginals",
        mechanism,
        mechanism.predicted(facts.queries),
        unit=facts.protects,
        seconds=1e-4 * len(mechanism.mechanism.workload.products) + 1e-7 * cells,
    )


def _profiled(facts: PublicRound) -> RoundOption:
    if not isinstance(facts.asked, Conjunctions):
        return refused("profiled marginals", facts.protects, NOT_A_CLASS)
    mechanism = ProfiledMarginals(
        facts.universe,
        facts.asked,
        facts.spend,
        facts.size,
        facts.protects,
        facts.promise,
        facts.records,
        facts.randomness,
    )
    every = len(mechanism.profile.topics)
    topics = every if facts.topics is None else facts.topics
    return RoundOption(
        name="profiled marginals",
        mechanism=mechanism,
        error=mechanism.predicted(facts.queries, topics),
        basis="every topic asked" if facts.topics is None else f"if {topics} topics",
        analysts=mechanism.analysts,
        seconds=1e-3 * every + 1e-5 * facts.queries,
    )
