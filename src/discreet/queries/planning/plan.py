"""A plan: all mechanisms ranked by what they will get wrong, and why.

Everything is decided from public quantities, so a plan costs nothing. A choice that looks at data
is a mechanism of its own, and is charged: :mod:`discreet.queries.planning.contest`.

Source: 004b:A22; contract, "Spending".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import positive
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.planning.computed_options import IndependentOption
from discreet.queries.planning.objectives import Objective, RootMeanSquare
from discreet.queries.planning.option import Basis, MechanismOption, Predicted, mechanism_of
from discreet.queries.planning.options import OPTIONS
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest, SynopsisMechanism
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.workload import Workload

_CLEARLY = 1.1
"""What is better by less in a trial does not outrank what is computed: real data differ."""
_HARDLY = 1.02
"""What differs by less is as good: answers that agree with each other go first."""
_TAIL = 0.975


@dataclass(frozen=True)
class RankedOption:
    """One mechanism in a plan."""

    option: MechanismOption
    predicted: Predicted

    @property
    def name(self) -> str:
        """What it is called."""
        return self.option.name


@dataclass(frozen=True)
class ReleasePlan:
    """Mechanisms, the best first, and those that cannot serve with the reason.

    Assumptions: the request holds public things only.

    Guarantee: nothing was read and nothing is charged: a plan is a function of the request.

    Source: 004b:A22.
    """

    request: ReleaseRequest
    ranked: tuple[RankedOption, ...]
    unfit: tuple[tuple[str, str], ...]
    within: float | None

    @property
    def chosen(self) -> RankedOption:
        """The mechanism that is ranked best."""
        return self.ranked[0]

    @property
    def mechanism(self) -> MechanismBuilder:
        """The chosen mechanism, for ``curator.synopsis(workload, mechanism=plan.mechanism)``."""
        return self.chosen.option.build(self.request)

    @property
    def reaches(self) -> bool:
        """Whether the chosen one is expected to be as exact as was wanted."""
        return self.within is None or self.chosen.predicted.error <= self.within

    @property
    def why(self) -> str:
        """The reason in one sentence."""
        best = self.chosen
        said = f"{best.name} is expected to err by {_figure(best.predicted, 3)} records"
        if best.predicted.basis is Basis.TRIAL:
            said += f", as it did {best.predicted.trials} times on invented data of this size"
        if not isinstance(self.request.objective, RootMeanSquare):
            said += f" ({self.request.objective.name})"
        if self.within is not None:
            reached = "within" if self.reaches else "beyond"
            said += f", {reached} the {self.within:.3g} that are wanted"
        if len(self.ranked) > 1:
            rival = min(self.ranked[1:], key=lambda each: each.predicted.error)
            said += f"; the best of the others, {rival.name}, by {_figure(rival.predicted, 3)}"
        return said + "."

    def explain(self) -> str:
        """A table of all mechanisms, and the reason for the first."""
        lines = [f"{'mechanism':<24}{'error':>18}{'seconds':>10}  basis"]
        for each in self.ranked:
            guess = each.predicted
            basis = (
                f"{guess.basis.value}, {guess.trials} times"
                if guess.trials
                else (guess.basis.value)
            )
            shown = f"{each.name:<24}{_figure(guess, 4):>18}{guess.seconds:>10.2g}"
            lines.append(f"{shown}  {basis}")
        lines += [f"{name:<24}{'-':>18}{'-':>10}  {reason}" for name, reason in self.unfit]
        return "\n".join([*lines, self.why])

    def __str__(self) -> str:
        """The same table."""
        return self.explain()


def plan(
    workload: Workload,
    *,
    spend: Guarantee,
    size: RecordCount | None = None,
    records: int = 1,
    about: int | None = None,
    within: float | None = None,
    options: Sequence[MechanismOption] = OPTIONS,
    objective: Objective | None = None,
) -> ReleasePlan:
    """Rank mechanisms for a workload; no data is read and nothing is spent.

    ``about`` is a public guess of the number of records. ``objective`` is what is to be small: the
    root mean squared error of a query, or the largest deviation. ``within`` is how small, in
    records: among mechanisms that reach it, the fastest comes first. Errors are exact where they
    are known; others come from trials, run until what they are ranked beside is told apart from
    them with 95 % confidence, is within two per cent, or has been tried 64 times.
    """
    aim = RootMeanSquare() if objective is None else objective
    request = ReleaseRequest(workload, spend, size or NoisyRecordCount(), records, about, aim)
    wanted = None if within is None else float(positive("within", within))
    found: list[RankedOption] = []
    unfit: list[tuple[str, str]] = []
    for option in options:
        reason = option.unfit(request)
        if reason is None:
            found.append(RankedOption(option, option.predict(request)))
        else:
            unfit.append((option.name, reason))
    if not found:
        raise InvalidParameter(
            code="no_mechanism_fits",
            expectation="a workload that some mechanism can answer",
            received="; ".join(f"{name}: {reason}" for name, reason in unfit),
            remedy="Ask for smaller marginals, or take fewer attributes.",
        )
    ranked = _told_apart(found, request, wanted)
    return ReleasePlan(request, ranked, tuple(unfit), wanted)


def _told_apart(
    found: Sequence[RankedOption], request: ReleaseRequest, wanted: float | None
) -> tuple[RankedOption, ...]:
    """Ranked, with more trials of neighbours in the ranking that might be the other way round."""
    ranked = sorted(found, key=lambda each: _rank(each, wanted))
    while True:
        for place, (better, worse) in enumerate(itertools.pairwise(ranked)):
            if _apart(better, worse):
                continue
            pair = sorted(
                enumerate((better, worse), place),
                key=lambda each: -each[1].predicted.standard_error,
            )
            refined = (
                (number, each.option.refined(request, each.predicted)) for number, each in pair
            )
            number, predicted = next((each for each in refined if each[1]), (0, None))
            if predicted is not None:
                ranked[number] = RankedOption(ranked[number].option, predicted)
                break
        else:
            return tuple(ranked)
        ranked.sort(key=lambda each: _rank(each, wanted))


def _apart(better: RankedOption, worse: RankedOption) -> bool:
    """Whether two are in this order with 95 % confidence, or nearly equal."""
    one, other = better.predicted, worse.predicted
    trials = [each.trials for each in (one, other) if each.trials]
    low, high = _cautious(better), _cautious(worse)
    if not trials or max(low, high) <= min(low, high) * _HARDLY:
        return True
    from scipy.special import stdtrit  # loaded on first use: SciPy is slow to import

    spread = math.hypot(one.standard_error, other.standard_error) * _CLEARLY
    return bool(abs(high - low) > float(stdtrit(min(trials) - 1, _TAIL)) * spread)


def _figure(predicted: Predicted, digits: int) -> str:
    """An error, with its standard error where it has one."""
    said = f"{predicted.error:.{digits}g}"
    return f"{said} ± {predicted.standard_error:.2g}" if predicted.trials else said


def _cautious(each: RankedOption) -> float:
    """The error by which an option is ranked."""
    if each.predicted.basis is Basis.TRIAL:
        return each.predicted.error * _CLEARLY
    return each.predicted.error * (_HARDLY if isinstance(each.option, IndependentOption) else 1.0)


def _rank(each: RankedOption, wanted: float | None) -> tuple[int, float, float]:
    predicted, cautious = each.predicted, _cautious(each)
    if wanted is not None and cautious <= wanted:
        # Times are rough: what differs by less than a tenth of a second takes equally long.
        return 0, round(predicted.seconds, 1), cautious
    return 1, cautious, predicted.seconds


def best_mechanism(
    workload: Workload,
    spend: Guarantee,
    size: RecordCount | None = None,
    records: int = 1,
    randomness: Source = SYSTEM,
    *,
    about: int | None = None,
    within: float | None = None,
    objective: Objective | None = None,
) -> SynopsisMechanism:
    """The mechanism that :func:`plan` puts first, ready to release.

    For the curator, which knows ``size`` and ``records``:
    ``curator.synopsis(workload, mechanism=partial(best_mechanism, about=9_000), spend=...)``.
    """
    given = {"size": size, "records": records, "about": about, "within": within}
    found = plan(workload, spend=spend, objective=objective, **given)  # type: ignore[arg-type]
    return mechanism_of(found.chosen.option, found.request, randomness)
