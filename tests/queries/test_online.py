"""Online multiplicative weights: lazy answers are free, updates few, noise exact."""

import copy
import json
import math
import pickle
import threading
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import discreet as dp
from discreet import events
from discreet.core.guarantee import Guarantee
from discreet.core.interactive import Interactive
from discreet.errors import Exhausted, InvalidData, InvalidParameter
from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.sparse_vector.hidden import HiddenThreshold
from discreet.noise import Noiseless, Seeded
from discreet.queries.net import small_databases
from discreet.queries.online.comparisons import Comparisons
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.gap_updater import GapUpdater
from discreet.queries.online.journal import Entry, past
from discreet.queries.online.pmw import (
    pmw_error,
    private_gap_weights,
    private_multiplicative_weights,
)
from discreet.queries.online.updaters import MedianUpdater, MultiplicativeUpdater, PerceptronUpdater
from discreet.queries.record_count import BoughtCount, PublicCount, RecordCount
from discreet.queries.workload.linear_query import LinearQuery, Region, Weights

NUMBERS = np.random.default_rng(9)
CELLS = 64
COUNTS = NUMBERS.multinomial(100_000, NUMBERS.dirichlet(np.full(CELLS, 0.1)))
QUERIES = [Weights(NUMBERS.random(CELLS) < 0.3) for _ in range(60)]
SPENDS = [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=1, delta=1e-6)]


def mechanism(spend: Guarantee = SPENDS[0], randomness: object = None) -> OnlineConstruction:
    """100 000 records over 64 cells."""
    return private_multiplicative_weights(
        cells=CELLS,
        spend=spend,
        size=PublicCount(100_000),
        questions=1000,
        confidence=0.95,
        **({"randomness": randomness} if randomness else {}),  # type: ignore[arg-type]
    )


def truth(query: LinearQuery) -> float:
    return query.answer(COUNTS.astype(float)) / float(COUNTS.sum())


def test_the_theorem_s_accuracy() -> None:
    """000a:F5 with 36 for the printed 32."""
    given = {"cells": 1024, "queries": 1000, "records": 10**6, "epsilon": 1, "confidence": 0.95}
    assert pmw_error(**given) == pytest.approx(0.16763, abs=5e-6)  # type: ignore[arg-type]
    assert pmw_error(**given, delta=1e-6) == pytest.approx(0.09727, abs=5e-6)  # type: ignore[arg-type]


def test_a_plan_is_at_least_as_accurate_as_the_theorem() -> None:
    """One comparison for two, so ln k in place of ln 2k."""
    plan = private_multiplicative_weights(
        cells=1024, spend=SPENDS[0], size=PublicCount(10**6), questions=1000, confidence=0.95
    )
    assert 0.15 < plan.updater.error <= 0.16763
    assert plan.cutoff == math.floor(4 * math.log(1024) / plan.updater.error**2)


@pytest.mark.parametrize("size", [PublicCount(100_000), BoughtCount()], ids=["public", "bought"])
@pytest.mark.parametrize("spend", SPENDS, ids=lambda s: type(s).__name__)
def test_the_event_costs_no_more_than_the_spend(spend: Guarantee, size: RecordCount) -> None:
    plan = OnlineConstruction(MultiplicativeUpdater(CELLS, 0.2), spend, size, 1000, cutoff=20)
    match spend:
        case dp.PureDP():
            assert plan.event.epsilon(delta=0) == pytest.approx(1, abs=1e-12)
        case dp.ZCDP():
            assert 0.49 < plan.event.zcdp().rho <= 0.5 * (1 + 1e-12)
        case dp.ApproxDP():
            assert plan.event.epsilon(delta=1e-6) <= 1


def test_noise_is_that_of_the_event_on_counts() -> None:
    """A record moves a count by one: thresholds get 2/e, values 4/e, answers 1/e' records."""
    plan = OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.2), SPENDS[0], PublicCount(10), 5, cutoff=4
    )
    compared, answered = plan.comparison, plan.answering
    assert compared.epsilon == Fraction(8, 36)
    assert answered.epsilon == Fraction(1, 36)
    assert compared.sensitivity == answered.sensitivity == 1
    inner = Comparisons(compared)
    step = 2.0 ** compared.exponent()
    assert float(inner._scale) * step == pytest.approx(9, rel=1e-5)
    assert float(inner._value_scale) * step == pytest.approx(18, rel=1e-5)


def test_one_record_moves_the_compared_value_by_no_more_than_one() -> None:
    """And twice that if weights could reach two: such queries are refused."""
    for query in QUERIES[:20]:
        for cell in range(CELLS):
            more = COUNTS.copy()
            more[cell] += 1
            public = 12345 * 2.0**-20
            values = [abs(query.answer(c.astype(float)) - public) for c in (COUNTS, more)]
            assert abs(values[0] - values[1]) <= 1
    with pytest.raises(InvalidParameter, match="query_weights"):
        Weights(np.full(CELLS, 2.0))


def test_a_question_that_promises_nothing_is_refused() -> None:
    class Loud(LinearQuery):
        cells = CELLS

        def answer(self, table: np.ndarray) -> float:
            return 1000 * float(table[0])

        def dense(self) -> np.ndarray:
            return np.zeros(CELLS)

    session = mechanism().open(COUNTS)
    for wrong in (Loud(), Weights([0.5]), QUERIES[0].values):
        with pytest.raises(InvalidParameter, match="query_misfit"):
            session.ask(wrong)  # type: ignore[arg-type]


def test_comparisons_have_the_law_of_above_threshold() -> None:
    """000a:E1: at the threshold it halts at 1, 2, 3 with 1/2, 5/24, 5/48.

    About 8000 rounds; each frequency within 5 sigma, false alarms below 2e-6.
    """
    comparisons = Comparisons(AboveThreshold(epsilon=1, threshold=100, sensitivity=1))
    lengths: Counter[int] = Counter()
    run = 0
    for _ in range(30_000):
        run += 1
        if comparisons.above(100.0):
            lengths[run] += 1
            run = 0
    rounds = lengths.total()
    for length, chance in ((1, 1 / 2), (2, 5 / 24), (3, 5 / 48)):
        spread = math.sqrt(chance * (1 - chance) / rounds)
        assert abs(lengths[length] / rounds - chance) < 5 * spread


def test_the_law_of_a_conversation_is_private_by_integration() -> None:
    """Answers no, …, no, yes to (0…0, 1) against (1…1, 0), summed over the noisy threshold."""
    compared = AboveThreshold(epsilon=1, threshold=3, sensitivity=1)
    bars = np.linspace(-60, 60, 24001)

    def log_chance(values: list[float], scale: float) -> float:
        density = np.exp(-np.abs(bars - 3) / 2) / 4
        chance = density
        for place, value in enumerate(values):
            x = bars - value
            below = np.where(x < 0, np.exp(x / scale) / 2, 1 - np.exp(-np.abs(x) / scale) / 2)
            chance = chance * (1 - below if place == len(values) - 1 else below)
        return math.log(float(np.trapezoid(chance, bars)))

    def lost(scale: float) -> float:
        pair = [0.0] * 50 + [1.0], [1.0] * 50 + [0.0]
        return abs(log_chance(pair[0], scale) - log_chance(pair[1], scale))

    inner = Comparisons(compared)
    step = 2.0 ** compared.exponent()
    honest = float(inner._value_scale) * step
    assert 0.8 < lost(honest) <= 1 + 1e-6
    twin = honest / COUNTS.sum()  # noise for means, where the value is a count
    assert lost(max(twin, 0.2)) > 1


@pytest.mark.parametrize("spend", SPENDS, ids=lambda s: type(s).__name__)
def test_answers_are_as_accurate_as_planned(spend: Guarantee) -> None:
    """At confidence 1 - 1e-4 that all are within 3 alpha."""
    plan = private_multiplicative_weights(
        cells=CELLS, spend=spend, size=PublicCount(100_000), questions=60, confidence=0.9999
    )
    session = plan.open(COUNTS)
    assert isinstance(session, Interactive)
    for query in QUERIES:
        assert abs(session.ask(query) - truth(query)) <= 3 * plan.updater.error
    assert session.event == plan.event


def test_without_noise_updates_are_few_and_each_brings_it_closer() -> None:
    """004b:A10: the relative entropy falls at each update; a repeated query updates no more."""
    plan = OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.05),
        SPENDS[0],
        PublicCount(100_000),
        10_000,
        randomness=Noiseless(),
    )
    session = plan.open(COUNTS)
    data = COUNTS / COUNTS.sum()
    for query in QUERIES * 40:
        left, before = session.left, session._hypothesis.weights.divergence(data)  # type: ignore[attr-defined]
        answer = session.ask(query)
        after = session._hypothesis.weights.divergence(data)  # type: ignore[attr-defined]
        if session.left < left:
            assert after < before
            assert answer == pytest.approx(truth(query))
        else:
            assert after == before
            assert abs(answer - truth(query)) <= 0.1
    settled = session.left
    for query in QUERIES:
        session.ask(query)
    assert 0 < settled == session.left
    assert plan.cutoff - settled <= 4 * math.log(CELLS) / 0.05**2


def test_after_the_last_update_the_hypothesis_answers_without_the_data() -> None:
    plan = OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.1),
        dp.PureDP(epsilon=100),
        PublicCount(100_000),
        10,
        cutoff=2,
    )
    session = plan.open(COUNTS)
    while session.left:
        for query in QUERIES:
            session.ask(query)
    session._counts = None  # type: ignore[assignment]
    first = [session.ask(query) for query in QUERIES]
    assert first == [session.ask(query) for query in QUERIES]


def test_a_generic_construction_with_multiplicative_weights_is_the_same_mechanism() -> None:
    """000a:G8: bit for bit under one seed."""
    plan = mechanism(randomness=Seeded(7))
    same = OnlineConstruction(
        MultiplicativeUpdater(CELLS, plan.updater.error),
        SPENDS[0],
        PublicCount(100_000),
        plan.threshold,
        cutoff=plan.cutoff,
        randomness=Seeded(7),
    )
    sessions = [each.open(COUNTS) for each in (plan, same)]
    answers = [[session.ask(query) for query in QUERIES] for session in sessions]
    assert answers[0] == answers[1]


@given(
    start=st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    data=st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    query=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    off=st.floats(-0.3, 0.3),
)
def test_a_step_of_four_gaps_brings_it_closer_by_twice_their_squares(
    start: list[float], data: list[float], query: list[float], off: float
) -> None:
    """At least 2 ((m - p)**2 - (m - v)**2), whatever the value v."""
    truth, asked = np.array(data) / sum(data), Weights(query)
    hypothesis = GapUpdater(4, 0.1, start).begin()
    p, m = hypothesis.answer(asked), asked.answer(truth)
    before = hypothesis.weights.divergence(truth)
    hypothesis.update(asked, m + off)
    fallen = before - hypothesis.weights.divergence(truth)
    assert fallen >= 2 * ((m - p) ** 2 - off**2) - 1e-9


def test_steps_by_the_gap_are_planned_more_accurately_than_the_theorem() -> None:
    given = {"cells": 1024, "spend": SPENDS[0], "size": PublicCount(10**6), "questions": 1000}
    fixed = private_multiplicative_weights(**given, confidence=0.95)  # type: ignore[arg-type]
    plan = private_gap_weights(**given, confidence=0.95)  # type: ignore[arg-type]
    stated = plan.within(confidence=0.95, questions=1000)
    # The number of updates is whole, so a little is left over.
    assert 0.99 < stated / (5 / 3 * plan.updater.error * 10**6) <= 1
    assert stated < 0.45 * fixed.within(confidence=0.95, questions=1000)
    few = private_gap_weights(**given, confidence=0.95, updates=30)  # type: ignore[arg-type]
    assert few.cutoff == 30
    assert few.within(confidence=0.95, questions=1000) < stated / 2


def test_without_noise_updates_by_the_gap_stay_within_their_bound() -> None:
    plan = OnlineConstruction(
        GapUpdater(CELLS, 0.03), SPENDS[0], PublicCount(100_000), 4000, randomness=Noiseless()
    )
    session = plan.open(COUNTS)
    for query in QUERIES * 40:
        assert abs(session.ask(query) - truth(query)) <= 0.04 + 1e-9
    assert 0 < plan.cutoff - session.left <= 9 * math.log(CELLS) / (16 * 0.03**2)


def test_other_updaters_work_online() -> None:
    counts = np.array([5, 1, 1, 1])
    queries = [Weights(np.eye(4)[i]) for i in range(4)]
    for updater in (MedianUpdater(small_databases(4, 8), 0.05), PerceptronUpdater(4, 0.1, 8, 28)):
        plan = OnlineConstruction(
            updater, SPENDS[0], PublicCount(8), 0.9, cutoff=50, randomness=Noiseless()
        )
        session = plan.open(counts)
        for _ in range(30):
            answers = [session.ask(query) for query in queries]
        assert answers == pytest.approx(counts / 8, abs=0.9 / 8)


def test_a_bought_number_of_records_is_noisy_and_paid_for() -> None:
    plan = OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.2), SPENDS[0], BoughtCount(), 3000, cutoff=20
    )
    totals = {plan.open(COUNTS).total for _ in range(12)}
    assert len(totals) > 1
    assert all(abs(total - 100_000) < 2000 for total in totals)
    assert isinstance(plan.event, events.Composed)


def test_a_session_lives_once_and_counts_under_a_lock() -> None:
    plan = OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.1), dp.PureDP(epsilon=100), PublicCount(100_000), 1, cutoff=5
    )
    session = plan.open(COUNTS)
    with pytest.raises(Exhausted, match="session_not_copied"):
        pickle.dumps(session)
    threads = [
        threading.Thread(target=lambda: [session.ask(query) for query in QUERIES]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.left == 0
    assert "counts" not in repr(session).lower().replace("publiccount", "")


class Paper:
    """A journal on paper, kept as JSON."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    def write(self, entry: Entry) -> None:
        self.lines.append(json.dumps(entry))

    def keep(self, entry: Entry) -> None:
        self.write(entry)

    def did(self, what: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries() if entry["did"] == what]


class CrashError(Exception):
    """The process ends here."""


class Crashing(Paper):
    """A journal whose process ends at the n-th line, just before or just after it is written."""

    def __init__(self, lines: list[str], at: int, *, written: bool) -> None:
        super().__init__()
        self.lines = lines
        self.at, self.written = at, written

    def write(self, entry: Entry) -> None:
        self.at -= 1
        if self.at or self.written:
            super().write(entry)
        if not self.at:
            raise CrashError


def kept(cutoff: int = 6, threshold: float = 2000, size: RecordCount | None = None) -> Any:
    return OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.1),
        dp.PureDP(epsilon=100),
        size or BoughtCount(),
        threshold,
        cutoff=cutoff,
    )


def test_a_conversation_is_resumed_without_a_draw_and_without_a_loss() -> None:
    plan = kept(cutoff=30)
    paper = Paper()
    box = Region((CELLS,), (slice(0, 20),))
    first = plan.open(COUNTS, paper)
    for query in [*QUERIES[:20], box, box]:
        first.ask(query)
    assert 30 - first.left == len(paper.did("update")) > 0
    second = plan.open(COUNTS, paper)
    assert (second.left, second.total) == (first.left, first.total)
    assert second._comparisons._bar == first._comparisons._bar
    written = len(paper.lines)
    third = plan.open(COUNTS, paper)
    assert third.left == first.left
    assert len(paper.lines) == written
    for session in (first, second, third):
        session._left = 0
    for query in [*QUERIES, box]:
        assert first.ask(query) == second.ask(query) == third.ask(query)


@pytest.mark.parametrize("written", [False, True])
def test_a_crash_at_any_line_costs_nothing_and_gains_nothing(*, written: bool) -> None:
    """One crash at every line in turn; the question under way is asked again."""
    plan, lines = kept(), 0
    for at in range(1, 14):
        paper = Crashing([], at, written=written)
        seen: list[tuple[int, float]] = []
        session, place, crashed = None, 0, 0
        while place < len(QUERIES):
            try:
                session = session or plan.open(COUNTS, paper)
                answer = session.ask(QUERIES[place])
            except CrashError:
                crashed += 1
                bars = [entry["steps"] for entry in paper.did("threshold")]
                if session is not None:
                    with pytest.raises(Exhausted, match="conversation_interrupted"):
                        session.ask(QUERIES[place])
                session = plan.open(COUNTS, paper) if paper.lines else None
                if session is not None and session._comparisons.under_way:
                    assert session._comparisons._bar == session._comparisons._origin + bars[-1]
                continue
            seen.append((place, answer))
            place += 1
        assert session is not None
        updates = paper.did("update")
        assert crashed == 1
        assert len(updates) == 6 - session.left <= 6
        # One threshold for each round, whatever happened: none was drawn twice.
        assert len(paper.did("threshold")) == len(updates) + session._comparisons.under_way
        again = plan.open(COUNTS, paper)
        assert again.left == session.left
        assert [answer for _, answer in past(paper.entries()).updates] == [
            entry["answer"] for entry in updates
        ]
        lines = len(paper.lines) - len(paper.did("estimate"))
    assert lines == 13  # an opening, and a threshold and an update for each of six rounds


def test_crash_after_crash_never_pays_for_more_than_the_cutoff() -> None:
    plan, lines = kept(cutoff=3), list[str]()
    for _ in range(40):
        paper = Crashing(lines, 2, written=True)
        with suppress(CrashError):
            session = plan.open(COUNTS, paper)
            for query in QUERIES:
                session.ask(query)
    assert len(paper.did("update")) == 3
    assert len(paper.did("threshold")) == 3
    assert plan.open(COUNTS, paper).left == 0


def test_reading_the_threshold_again_is_private_and_drawing_it_again_is_not() -> None:
    """Fifty times "no, then a crash", for values 0 against 1, summed over the noisy threshold.

    The twin draws a fresh threshold at every resumption and pays for one.
    """
    compared = AboveThreshold(epsilon=1, threshold=3, sensitivity=1)
    bars = np.linspace(-60, 60, 24001)
    density = np.exp(-np.abs(bars - 3) / 2) / 4
    scale = float(Comparisons(compared)._value_scale) * 2.0 ** compared.exponent()

    def log_noes(value: float, times: int) -> float:
        x = bars - value
        below = np.where(x < 0, np.exp(x / scale) / 2, 1 - np.exp(-np.abs(x) / scale) / 2)
        return math.log(float(np.trapezoid(density * below**times, bars)))

    read_again = abs(log_noes(0, 50) - log_noes(1, 50))
    drawn_again = 50 * abs(log_noes(0, 1) - log_noes(1, 1))
    assert read_again <= 0.5 + 1e-6
    assert drawn_again > 1


def test_a_twin_that_draws_again_is_caught_by_its_own_journal() -> None:
    class Forgetful(Paper):
        """Loses the round under way."""

        def entries(self) -> list[dict[str, Any]]:
            return [entry for entry in super().entries() if entry["did"] != "threshold"]

    plan, paper = kept(threshold=90_000, size=PublicCount(100_000)), Forgetful()
    for _ in range(2):
        plan.open(COUNTS, paper).ask(QUERIES[0])
    honest = Paper()
    honest.lines = paper.lines
    with pytest.raises(InvalidData, match="journal_misread"):
        plan.open(COUNTS, honest)


def test_a_threshold_is_kept_before_its_first_comparison_and_shown_to_nobody() -> None:
    plan, paper = kept(threshold=90_000, size=PublicCount(100_000)), Paper()
    session = plan.open(COUNTS, paper)
    assert paper.did("threshold") == []
    seen: list[int] = []
    above = session._comparisons.above

    def noted(value: float) -> bool:
        seen.append(len(paper.did("threshold")))
        return bool(above(value))

    session._comparisons.above = noted
    for query in QUERIES[:3]:
        session.ask(query)
    assert seen == [1, 1, 1]
    hidden = HiddenThreshold(123456789)
    assert "123456789" not in f"{hidden!r} {hidden}"
    for spread in (pickle.dumps, copy.copy):
        with pytest.raises(Exhausted, match="session_not_copied"):
            spread(hidden)


def test_a_journal_of_something_else_is_refused() -> None:
    plan, other = kept(), kept(cutoff=7)
    for lines in ([{"did": "update"}], [{"did": "threshold", "steps": 1}]):
        paper = Paper()
        for line in lines:
            paper.write(line)
        with pytest.raises(InvalidData, match="journal_misread"):
            plan.open(COUNTS, paper)
    paper = Paper()
    plan.open(COUNTS, paper)
    with pytest.raises(InvalidData, match="journal_differs"):
        other.open(COUNTS, paper)


def test_memory_does_not_grow_with_questions() -> None:
    plan = mechanism()
    session = plan.open(COUNTS)
    box = Region((CELLS,), (slice(0, 5),))
    for _ in range(20_000):
        session.ask(box)
    assert len(session._comparisons._ahead) <= 4096


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="records_unknown"):
        private_multiplicative_weights(
            cells=4, spend=SPENDS[0], size=BoughtCount(), questions=10, confidence=0.9
        )
    with pytest.raises(InvalidParameter, match="accuracy_unreachable"):
        private_multiplicative_weights(
            cells=4, spend=SPENDS[0], size=PublicCount(10), questions=10, confidence=0.9
        )
    with pytest.raises(InvalidData, match="records_differ"):
        mechanism().open(COUNTS + 1)
    with pytest.raises(InvalidParameter, match="counts_misfit"):
        mechanism().open(COUNTS[:3])
