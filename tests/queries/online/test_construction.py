"""Online multiplicative weights: lazy answers are free, updates few, noise exact."""

import math
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet import events
from discreet.core.guarantee import Guarantee
from discreet.errors import Exhausted, InvalidData, InvalidParameter
from discreet.mechanisms import AboveThreshold
from discreet.noise import Noiseless, Seeded
from discreet.queries.net import small_databases
from discreet.queries.online.comparisons import Comparisons
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.online.pmw import private_multiplicative_weights
from discreet.queries.online.updaters import MedianUpdater, PerceptronUpdater
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
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


@pytest.mark.parametrize(
    "size", [PublicCount(100_000), NoisyRecordCount()], ids=["public", "bought"]
)
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
        left, before = session.updates_left, session._hypothesis.weights.divergence(data)  # type: ignore[attr-defined]
        answer = session.ask(query)
        after = session._hypothesis.weights.divergence(data)  # type: ignore[attr-defined]
        if session.updates_left < left:
            assert after < before
            assert answer == pytest.approx(truth(query))
        else:
            assert after == before
            assert abs(answer - truth(query)) <= 0.1
    settled = session.updates_left
    for query in QUERIES:
        session.ask(query)
    assert 0 < settled == session.updates_left
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
    while session.updates_left:
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
        MultiplicativeUpdater(CELLS, 0.2), SPENDS[0], NoisyRecordCount(), 3000, cutoff=20
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
    assert session.updates_left == 0
    assert "counts" not in repr(session).lower().replace("publiccount", "")


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
            cells=4, spend=SPENDS[0], size=NoisyRecordCount(), questions=10, confidence=0.9
        )
    with pytest.raises(InvalidParameter, match="accuracy_unreachable"):
        private_multiplicative_weights(
            cells=4, spend=SPENDS[0], size=PublicCount(10), questions=10, confidence=0.9
        )
    with pytest.raises(InvalidData, match="records_differ"):
        mechanism().open(COUNTS + 1)
    with pytest.raises(InvalidParameter, match="counts_misfit"):
        mechanism().open(COUNTS[:3])
