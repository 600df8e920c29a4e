"""Marginals measured where analysts ask: a private profile first, then the data.

Guarantee: to people, the event of the marginals; their precisions follow the released profile,
which is no function of the data. To analysts, the event of the profile; everything after it is
post-processing of the profile and of data.

Source: analysts-verified:H10. Proof: ``proofs/analysts-profile.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.noise_choice import GaussianNoise
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.guarantee import AnalystGuarantee, AnalystUnit, OneQuery
from discreet.queries.analysts.predicted_error import (
    Deviations,
    PredictedError,
    predicted_errors,
)
from discreet.queries.analysts.profile import (
    Contribution,
    EachAnalyst,
    EachQuery,
    ProfileRelease,
    TopicProfile,
    Topics,
)
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.marginal_synopsis import MarginalSynopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places


@dataclass(frozen=True)
class ProfiledMarginals:
    """Conjunctions over a universe, a spend of data, and one of analysts' privacy.

    Data is measured with Gaussian noise.

    Assumptions: queries are of the public class. Neighbours exchange the records of one person, at
    most ``records`` of them; their number is public.

    Guarantee: to people, the event of the measured marginals; to analysts, that of the profile.

    Source: analysts-verified:H10. Proof: ``proofs/analysts-profile.md``.
    """

    universe: Universe
    asked: Conjunctions
    spend: Guarantee
    size: PublicCount
    protects: AnalystUnit
    promise: Guarantee
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be priced, before any query or data is seen."""
        _ = self.profile.noise, self.event

    @cached_property
    def profile(self) -> ProfileRelease:
        """What releases the profile."""
        each: Contribution = EachQuery() if isinstance(self.protects, OneQuery) else EachAnalyst()
        return ProfileRelease(
            self.universe,
            self.asked,
            self.promise,
            each=each,
            randomness=self.randomness,
        )

    @cached_property
    def event(self) -> Event:
        """What a release costs the data: the same, whatever the profile turns out to be."""
        return self.marginals(self._imagined([])).event

    @property
    def analysts(self) -> AnalystGuarantee:
        """What others learn about one query or analyst."""
        return AnalystGuarantee(self.protects, self.profile.event)

    def marginals(self, profile: TopicProfile) -> PublicMarginals:
        """The mechanism that measures what a profile asks for."""
        return PublicMarginals(
            self.universe,
            self.asked.ways,
            self.spend,
            self.size,
            importance=profile.importance(self.universe),
            records=self.records,
            randomness=self.randomness,
            # Its sensitivity in L2, and so its event, is the same whatever the profile turns out
            # to be; in L1 it is not.
            choice=GaussianNoise(),
        )

    def predicted(self, queries: int, topics: int) -> PredictedError:
        """Errors if queries were spread over so many topics; an assumption, not a promise.

        As many topics as there are: what is asked is all alike, and the profile cannot help.
        """
        every = self.profile.topics
        many = min(count("topics", topics), len(every))
        # The widest ones, evenly spaced over the list: they share as little as topics may.
        widest = [places for places in every if len(places) == len(every[-1])]
        source = widest if many <= len(widest) else every
        chosen = [source[index * len(source) // many] for index in range(many)]
        mechanism = self.marginals(self._imagined(chosen))
        kinds = dict(self.asked.kinds(self.universe, count("queries", queries)))
        found = [
            Deviations(mechanism.deviation(places) / self.size.records, kinds[places])
            for places in chosen
        ]
        return predicted_errors(found, mechanism.mechanism.noise)

    def release(self, counts: Counted, submitted: Sequence[Topics]) -> MarginalSynopsis:
        """Profile, then measure. ``submitted`` has the topics of each analyst's queries."""
        mechanism = self.marginals(self.profile.release(submitted))
        # The charge was fixed before the profile; see the proof for why this never differs.
        assert mechanism.event == self.event
        return mechanism.release(counts)

    def _imagined(self, chosen: Sequence[Places]) -> TopicProfile:
        """A profile that finds these topics asked, alike, and no others."""
        asked = set(chosen)
        weights = {places: float(places in asked) for places in self.profile.topics}
        return TopicProfile(weights, 0.0, self.profile.event)
