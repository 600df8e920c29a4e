"""The shuffler: a party of its own that removes who, when and in which order, and nothing else.

Only reports that were drawn afresh gain by it. A memoised report is the same each time: whoever
sees it in two rounds knows that it is one person's, however the rounds were shuffled, and compares
rounds with and without that person. So no amplification is given for memoised collections.

Source: 004a:C36; modern-learn:7. Proof: ``proofs/shuffle.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter, NotPrivate
from discreet.core.events.mechanisms import Pure
from discreet.core.events.shuffled import Shuffled
from discreet.core.guarantee import ApproxDP
from discreet.core.parameters import count
from discreet.core.unit import AddRemoveUnit, Replace
from discreet.local.collection import Collection
from discreet.local.collector import Collector, Rejections
from discreet.local.randomiser import require_people
from discreet.local.reports import ReportBatch
from discreet.noise import permutation


@dataclass(frozen=True)
class ShuffledRound:
    """Reports in random order without nonces, what was dropped, and what the order is worth."""

    batch: ReportBatch
    rejected: Rejections
    event: Shuffled

    def guarantee(self, *, delta: float, unit: AddRemoveUnit | Replace) -> ApproxDP:
        """What each person is promised towards whoever sees no more than the reports."""
        return ApproxDP(
            epsilon=self.event.epsilon(delta=delta), delta=delta, unit=require_people(unit)
        )


def shuffled_event(collection: Collection, *, people: int) -> Shuffled:
    """What one shuffled round costs each person, towards whoever sees no more than its reports.

    ``people`` counts those who are sure to report honestly and not to tell anybody their report.

    >>> from discreet.local.direct import DirectEncoding
    >>> coin = DirectEncoding(epsilon=1, domain=2)
    >>> asked = Collection(name="survey", version=1, oracle=coin, memoised=False)
    >>> round(shuffled_event(asked, people=10_000).epsilon(delta=1e-6), 3)
    0.036
    """
    if not isinstance(collection, Collection):
        raise InvalidParameter(
            code="not_a_local_randomiser",
            expectation="a Collection, which says whether reports are memoised",
            received=type(collection).__name__,
            remedy="Write Collection(name=…, version=1, oracle=…, memoised=False).",
        )
    if collection.memoised:
        raise InvalidParameter(
            code="local_shuffled_memory",
            expectation="fresh reports; memoised ones can be linked from round to round",
            received=collection.name,
            remedy="Count the local epsilon, or ask once with memoised=False.",
        )
    event = collection.oracle.event
    if not isinstance(event, Pure):
        raise NotPrivate(
            code="local_shuffled_test_mode",
            expectation="reports drawn from the system's randomness",
            remedy="Leave randomness= out.",
        )
    return Shuffled(event, count("people", people))


def shuffle(
    collection: Collection, reports: Iterable[str | bytes], *, people: int
) -> ShuffledRound:
    """Check reports, drop nonces, and put the rest in random order.

    Contract: run by a party that does not share what it saw with whoever gets the batch. Refused if
    fewer than ``people`` reports are good: the promise was made for so many.
    """
    event = shuffled_event(collection, people=people)
    collector = Collector(collection)
    batch = collector.checked(reports)
    if batch.people < people:
        raise InvalidParameter(
            code="local_shuffle_too_few",
            expectation=f"at least {people} good reports in a round",
            received=batch.people,
            remedy="Wait for more people, or promise for fewer.",
        )
    order = permutation(batch.people)
    mixed = ReportBatch({name: column[order] for name, column in batch.columns.items()})
    return ShuffledRound(mixed, collector.rejected, event)
