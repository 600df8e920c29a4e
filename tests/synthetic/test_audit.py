"""Black-box audits of adaptive steps: claims hold, and a twin that forgets selection is refuted.

A true claim is refuted with probability at most 1e-9 in each audit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.accounting.pure import PURE
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.audit import BrokenTwin, Finding, LearnedEvents, audit, check_pair, outcome, repeated
from discreet.core.guarantee import ZCDP, PureDP
from discreet.core.parameters import Number
from discreet.noise.randomness import SYSTEM
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic import AIM, MST, graphical_mechanism
from discreet.synthetic.adaptive_spend import AdaptiveSpend, SpendTerms, whole_score
from tests.synthetic.brute_force import RowTable, chained_rows

EPSILON = 1.0
Release = Callable[[NDArray[np.int64]], object]


class ForgetsSelection(AdaptiveSpend):
    """Selects the best for nothing, as if a look at scores were no look at data."""

    def selected(self, scores: Sequence[int], share: Number, heaviest: int) -> int:
        return int(np.argmax(scores))


class ForgetsOthersRecords(AdaptiveSpend):
    """Scales noise for one record, whatever a person has."""

    def measured(
        self, counts: NDArray[np.int64], share: Number, purpose: str = "marginals"
    ) -> tuple[NDArray[np.float64], float]:
        terms = SpendTerms(self.terms.paid, NoisyRecordCount(), 1, SYSTEM, 2)
        return AdaptiveSpend(terms).measured(counts, share)


def one_round(kind: type[AdaptiveSpend], *, size: RecordCount, records: int) -> Release:
    """Select the worse of two marginals, then measure it with what is left."""

    def release(cells: NDArray[np.int64]) -> object:
        table = np.asarray(cells).reshape(2, 2)
        spend = kind(SpendTerms(PureDP(epsilon=EPSILON), size, records, SYSTEM, 2))
        marginals = [table.sum(axis=1), table.sum(axis=0)]
        scores = [whole_score(each, np.full(2, 2.0), 0.0, 1) for each in marginals]
        chosen = spend.selected(scores, Fraction(1, 2), 1)
        noisy, _ = spend.measured(marginals[chosen], Fraction(1, 2))
        return (chosen, *(int(each) for each in noisy))

    return release


def auditor_of(x: list[int], y: list[int], trials: int) -> Callable[[Release], Finding]:
    def auditor(release: Release) -> Finding:
        return audit(
            repeated(release),
            np.array(x),
            np.array(y),
            epsilon=EPSILON,
            delta=0,
            events=LearnedEvents(outcome),
            trials=trials,
            confidence=1 - 1e-9,
        )

    return auditor


@pytest.mark.audit
def test_a_twin_that_forgets_selection_is_refuted() -> None:
    """Scores of 2 and 2, where the first wins; with one record more, of 1 and 3."""
    size = NoisyRecordCount()
    twin = BrokenTwin(
        "one round",
        sound=one_round(AdaptiveSpend, size=size, records=1),
        broken=one_round(ForgetsSelection, size=size, records=1),
        why="selection looks at data and was not paid for",
    )
    check_pair(twin, auditor_of([0, 1, 1, 2], [0, 2, 1, 2], 1500))


@pytest.mark.audit
def test_a_twin_that_forgets_a_person_s_other_records_is_refuted() -> None:
    size = PublicCount(40)
    twin = BrokenTwin(
        "one round",
        sound=one_round(AdaptiveSpend, size=size, records=10),
        broken=one_round(ForgetsOthersRecords, size=size, records=10),
        why="ten records of one person are exchanged, and noise hides one that comes or goes",
    )
    check_pair(twin, auditor_of([25, 5, 5, 5], [15, 5, 5, 15], 1500))


@pytest.mark.parametrize("kind", [AIM, MST])
@pytest.mark.parametrize(
    ("spend", "accountant"), [(ZCDP(rho=1), ZERO_CONCENTRATED), (PureDP(epsilon=1), PURE)]
)
def test_accounts_show_whether_every_look_at_data_was_paid(
    kind: Any, spend: object, accountant: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger of looks beside the filter's: equal for the mechanisms, short for the twin."""
    universe = Universe.of(a=range(3), b=range(2), c=range(2))
    rows = RowTable(universe, chained_rows(universe, 300, 1))

    def unpaid(base: type[AdaptiveSpend]) -> int:
        looks: list[int] = []

        class Watched(base):  # type: ignore[misc,valid-type]
            def selected(self, *given: object) -> int:
                looks.append(1)
                return int(super().selected(*given))

            def measured(self, *given: object) -> object:
                looks.append(1)
                return super().measured(*given)

        monkeypatch.setattr(graphical_mechanism, "AdaptiveSpend", Watched)
        mechanism = kind(
            workload=Workload.marginals(universe, 2), spend=spend, size=NoisyRecordCount()
        )
        _, ran = mechanism.run(rows)
        total = sum(accountant.price(each) for each in ran.ran)  # type: ignore[attr-defined]
        assert total <= accountant.price(mechanism.event)  # type: ignore[attr-defined]
        return len(looks) - len(ran.ran)

    assert unpaid(AdaptiveSpend) == 0
    assert unpaid(ForgetsSelection) > 0
