"""Adaptive steps cost what ran, never more than the limit, and selection is never forgotten."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.accounting.pure import PURE
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.events.mechanisms import Unprotected
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number
from discreet.noise.laplace import LARGEST_SCALE
from discreet.noise.randomness import SYSTEM, Seeded, Source
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.adaptive_spend import AdaptiveSpend, SpendTerms, mean_error, whole_score
from discreet.synthetic.aim import AIM
from discreet.synthetic.annealing import MEASURING, AnnealedRounds
from discreet.synthetic.column_measurements import ColumnShares

BOUGHT = NoisyRecordCount()


def terms(
    spend: Guarantee,
    size: RecordCount = BOUGHT,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> SpendTerms:
    return SpendTerms(spend, size, records, randomness, steps=20)


def price(event: events.Event) -> Fraction:
    plain = event.instead_of if isinstance(event, Unprotected) else event
    return (PURE if PURE.knows(plain) else ZERO_CONCENTRATED).price(plain)


def test_the_claim_is_the_limit_and_what_ran_adds_up_to_no_more() -> None:
    spend = AdaptiveSpend(terms(ZCDP(rho=1)))
    counts = np.array([5, 7])
    spend.measured(counts, Fraction(1, 4))
    spend.selected([3, 4], Fraction(1, 4), 1)
    spend.measured(counts, spend.share_left)
    total = sum(ZERO_CONCENTRATED.price(each) for each in spend.ran)
    assert spend.terms.event == events.Concentrated(rho=1)
    assert 1 - Fraction(1, 10**9) < total <= 1
    assert [type(each).__name__ for each in spend.ran] == [
        "DiscreteGaussian",
        "Exponential",
        "DiscreteGaussian",
    ]


def test_a_step_beyond_the_limit_is_refused_before_it_runs() -> None:
    spend = AdaptiveSpend(terms(PureDP(epsilon=1)))
    spend.measured(np.array([5]), Fraction(3, 4))
    with pytest.raises(Exhausted):
        spend.selected([1, 2], Fraction(1, 2), 1)
    assert len(spend.ran) == 1
    assert spend.share_left == Fraction(1, 4)


def test_pure_spends_use_laplace_noise_and_permute_and_flip() -> None:
    spend = AdaptiveSpend(terms(PureDP(epsilon=2)))
    spend.measured(np.array([5]), Fraction(1, 2))
    spend.selected([1, 2], Fraction(1, 2), 1)
    assert spend.ran == [
        events.DiscreteLaplace(epsilon=1, steps=1),
        events.PermuteAndFlip(epsilon=1),
    ]
    assert spend.terms.event == events.Pure(epsilon=2)


def test_a_delta_is_converted_once_as_the_catalogue_computes_it() -> None:
    given = terms(ApproxDP(epsilon=1, delta=1e-9))
    assert isinstance(given.paid, ZCDP)
    assert given.paid.rho == pytest.approx(0.01497306, abs=1e-8)
    assert given.event.epsilon(delta=1e-9) <= 1


@pytest.mark.parametrize(
    ("size", "records", "l2", "l1"),
    [(BOUGHT, 1, 1.0, 1), (BOUGHT, 3, 3.0, 3), (PublicCount(9), 2, 2 * math.sqrt(2), 4)],
)
def test_noise_and_selection_grow_with_what_one_person_moves(
    size: RecordCount, records: int, l2: float, l1: int
) -> None:
    share = Fraction(1, 2)
    gaussian = terms(ZCDP(rho=1), size, records)
    assert gaussian.noise(share).event == terms(ZCDP(rho=1)).noise(share).event or l2 != 1
    noise = gaussian.noise(share)
    assert float(noise.sensitivity) == pytest.approx(l2)
    assert ZERO_CONCENTRATED.price(noise.event) <= Fraction(1, 2)
    assert gaussian.selection(share, 5).sensitivity == l1 * 5 * 4096
    pure = terms(PureDP(epsilon=1), size, records)
    assert pure.noise(share).sensitivity == l1


def test_test_mode_is_marked_and_never_priced() -> None:
    spend = AdaptiveSpend(terms(ZCDP(rho=1), randomness=Seeded(1)))
    spend.measured(np.array([5]), Fraction(1, 2))
    assert isinstance(spend.terms.event, Unprotected)
    assert isinstance(spend.ran[0], Unprotected)
    assert spend.share_left < Fraction(1, 2) + Fraction(1, 10**9)


def test_one_record_moves_a_score_by_its_weight_exactly() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        counts = rng.integers(0, 50, 6)
        estimate = rng.random(6) * 50
        more = counts.copy()
        more[rng.integers(6)] += 1
        for weight in (1, 7):
            first = whole_score(counts, estimate, 3.3, weight)
            assert abs(whole_score(more, estimate, 3.3, weight) - first) <= weight * 4096


def test_scores_are_the_total_error_less_an_allowance() -> None:
    counts, estimate = np.array([10, 0, 5]), np.array([7.5, 1.25, 5.0])
    assert whole_score(counts, estimate, 1.5, 2) == 2 * round((2.5 + 1.25 - 1.5) * 4096)


def test_the_schedule_is_the_catalogue_s() -> None:
    """d = 5, rho = 1: 75 rounds, or 4 where each anneals, and the last takes what is left."""
    left, shares = 1 - Fraction(9, 160), []
    rounds = AnnealedRounds(columns=5, growth=4)
    while not rounds.finished:
        shares.append(rounds.next(left))
        left -= shares[-1]
    assert len(shares) == 75
    assert left == 0
    deviation = [math.sqrt(1 / (2 * float(share * MEASURING))) for share in shares]
    epsilon = [math.sqrt(8 * float(share * (1 - MEASURING))) for share in shares]
    assert deviation[0] == pytest.approx(6.666667, abs=1e-6)
    assert epsilon[0] == pytest.approx(0.1)
    assert (deviation[-1], epsilon[-1]) == pytest.approx((5.443311, 0.122474), abs=1e-6)

    left, shares = 1 - Fraction(9, 160), []
    rounds = AnnealedRounds(columns=5, growth=4)
    while not rounds.finished:
        shares.append(rounds.next(left))
        left -= shares[-1]
        rounds.anneal()
    assert len(shares) == 4
    assert left == 0
    last = float(shares[-1])
    assert math.sqrt(1 / (1.8 * last)) == pytest.approx(0.903047, abs=1e-6)
    assert math.sqrt(0.8 * last) == pytest.approx(0.738241, abs=1e-6)


def test_the_allowance_of_a_small_marginal_is_the_catalogue_s() -> None:
    """A 4 by 4 marginal at deviation 6.666667: 85.107686."""
    noise = terms(ZCDP(rho=1)).noise(Fraction(9, 800))
    assert 16 * mean_error(noise) == pytest.approx(85.107686, abs=1e-4)
    laplace = terms(PureDP(epsilon=1)).noise(Fraction(1, 100))
    assert mean_error(laplace) == pytest.approx(100, rel=1e-3)


def test_columns_are_measured_again_where_records_are_few_and_the_filter_holds_the_whole() -> None:
    """With 200 000 records a tenth is enough; with 2 000 columns get a third, and no more."""
    universe = Universe.of(a=range(6), b=range(4), c=range(2))
    shares = {}
    for records in (2_000, 200_000):
        rows = np.random.default_rng(3).integers(0, universe.shape, (records, 3))
        counts = np.zeros(universe.shape, dtype=np.int64)
        np.add.at(counts, tuple(rows.T), 1)
        made = AIM(
            workload=Workload.marginals(universe, 2),
            spend=ZCDP(rho=0.001),
            size=NoisyRecordCount(),
            randomness=Seeded(7),
        )
        _, spend = made.run(counts)
        plain = [e.instead_of if isinstance(e, Unprotected) else e for e in spend.ran]
        prices = [ZERO_CONCENTRATED.price(each) for each in plain]
        assert Fraction(999, 10**6) < sum(prices) <= Fraction(1, 1000)
        first = next(i for i, each in enumerate(spend.ran) if "Exponential" in repr(each))
        shares[records] = float(sum(prices[:first]) * 1000)
        assert first == (6 if records == 2_000 else 3)
    assert shares[200_000] == pytest.approx(1 / 10, rel=1e-3)
    assert shares[2_000] == pytest.approx(1 / 3, rel=1e-3)


def test_more_for_columns_follows_the_law_of_the_noise() -> None:
    """At twice the wanted error Gaussian noise needs four times the share, Laplace noise twice."""
    shares = ColumnShares(Fraction(1, 10), Fraction(1, 2), 0.02)
    assert float(shares.more(0.04, 4)) == pytest.approx(0.3, abs=1e-3)
    assert float(shares.more(0.04, 2)) == pytest.approx(0.1, abs=1e-3)
    assert shares.more(0.5, 4) == Fraction(2, 5)
    assert shares.more(0.021, 4) == 0
    assert shares.more(math.nan, 4) == 0
    assert ColumnShares.fixed(Fraction(1, 3)).more(0.9, 4) == 0


@pytest.mark.parametrize("cells", [1, 2_000_000])
@pytest.mark.parametrize("guess", [math.nan, math.inf, 2.0**32, 5.0])
def test_no_estimate_makes_a_score_wrap_around(cells: int, guess: float) -> None:
    """A wrapped sum would move by 2**64 with one record; and scores fit in 64 bits."""
    counts, estimate = np.zeros(cells, dtype=np.int64), np.full(cells, guess)
    for filled in (0, 1 << 40):
        counts[0] = filled
        first = whole_score(counts, estimate, 3.3, 64)
        counts[0] += 1
        assert abs(whole_score(counts, estimate, 3.3, 64) - first) <= 64 * 4096
        assert abs(first) < 1 << 63


def test_the_smallest_step_is_looked_at_and_not_the_whole_alone() -> None:
    """The whole spend draws noise that just fits; a quarter of it would not."""
    given = terms(PureDP(epsilon=Fraction(2, LARGEST_SCALE)))
    given.require_steps(1)
    with pytest.raises(InvalidParameter) as refused:
        given.require_steps(Fraction(1, 4))
    assert refused.value.code == "scale_out_of_range"
    terms(PureDP(epsilon=1e9)).require_steps(Fraction(1, 10**8))
    with pytest.raises(InvalidParameter) as refused:
        terms(PureDP(epsilon=1e9)).require_steps(Fraction(1, 100))
    assert refused.value.code == "noise_beyond_grid"


@pytest.mark.parametrize("kind", [PureDP, ZCDP])
@pytest.mark.parametrize("whole", [Fraction(1, 1009), Fraction(7, 568_886), 0.3, Fraction(1, 3)])
@pytest.mark.parametrize("parts", [7, 1013])
def test_shares_add_up_to_no_more_than_the_whole_whatever_its_fraction(
    kind: Any, whole: Number, parts: int
) -> None:
    """A filter rounds charges up; the last of many would be refused, once everything was paid."""
    spend = AdaptiveSpend(terms(kind(epsilon=whole) if kind is PureDP else kind(rho=whole)))
    counts = np.zeros(2, dtype=np.int64)
    for _ in range(5):
        spend.measured(counts, Fraction(1, parts))
    left = spend.share_left
    spend.selected([0, 1], left / 10, 64)
    spend.measured(counts, left * 9 / 10)
    assert 0 <= spend.share_left < Fraction(1, 10**9)
    accountant: Any = PURE if kind is PureDP else ZERO_CONCENTRATED
    assert sum(accountant.price(each) for each in spend.ran) <= Fraction(whole)
