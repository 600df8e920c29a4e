"""A plan: all mechanisms ranked by what they will get wrong, and why.

Everything is decided from public quantities, so a plan costs nothing. A choice that looks at data
is a mechanism of its own, and is charged: :mod:`discreet.queries.planning.contest`.

Source: 004b:A22; contract, "Spending".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import positive
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.planning.options import (
    OPTIONS,
    Basis,
    IndependentOption,
    MechanismOption,
    Predicted,
    mechanism_of,
)
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest, SynopsisMechanism
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.workload import Workload

_CLEARLY = 1.1
"""What is better by less does not outrank a computed error, or answers that agree."""


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
    """Mechanisms, the best first, and those that cannot serve with the reason."""

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
        said = f"{best.name} is expected to err by {best.predicted.error:.3g} records"
        if best.predicted.basis is Basis.TRIAL:
            said += ", as it did on invented data of this size"
        if self.within is not None:
            reached = "within" if self.reaches else "beyond"
            said += f", {reached} the {self.within:.3g} that are wanted"
        if len(self.ranked) > 1:
            rival = min(self.ranked[1:], key=lambda each: each.predicted.error)
            said += f"; the best of the others, {rival.name}, by {rival.predicted.error:.3g}"
        return said + "."

    def explain(self) -> str:
        """A table of all mechanisms, and the reason for the first."""
        lines = [f"{'mechanism':<24}{'error':>12}{'seconds':>10}  basis"]
        for each in self.ranked:
            guess = each.predicted
            lines.append(
                f"{each.name:<24}{guess.error:>12.4g}{guess.seconds:>10.2g}  {guess.basis.value}"
            )
        lines += [f"{name:<24}{'-':>12}{'-':>10}  {reason}" for name, reason in self.unfit]
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
) -> ReleasePlan:
    """Rank mechanisms for a workload; no data is read and nothing is spent.

    ``about`` is a public guess of the number of records. ``within`` is the error that is wanted, a
    root mean square in records: among mechanisms that reach it, the fastest comes first.
    """
    request = ReleaseRequest(workload, spend, size or NoisyRecordCount(), records, about)
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
    ranked = tuple(sorted(found, key=lambda each: _rank(each, wanted)))
    return ReleasePlan(request, ranked, tuple(unfit), wanted)


def _rank(each: RankedOption, wanted: float | None) -> tuple[int, float, float]:
    predicted = each.predicted
    doubtful = predicted.basis is Basis.TRIAL or isinstance(each.option, IndependentOption)
    cautious = predicted.error * (_CLEARLY if doubtful else 1.0)
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
) -> SynopsisMechanism:
    """The mechanism that :func:`plan` puts first, ready to release.

    For the curator, which knows ``size`` and ``records``:
    ``curator.synopsis(workload, mechanism=partial(best_mechanism, about=9_000), spend=...)``.
    """
    found = plan(workload, spend=spend, size=size, records=records, about=about, within=within)
    return mechanism_of(found.chosen.option, found.request, randomness)
