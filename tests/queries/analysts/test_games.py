"""Both games: exact privacy of small instances, accuracy, and the twin with the wrong sign."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.core.errors import InvalidParameter, NotPrivate
from discreet.noise import SYSTEM, Seeded
from discreet.queries.analysts.equilibrium import SignedLaw
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.game import Tilts
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import Drawing, SampledGame
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.theory.analyst_games import expected_analyst_sum, expected_data_sum, sampled_data_sum
from tests.queries.analysts.small_games import (
    conjunctions,
    correlated,
    expected,
    expected_views,
    random_queries,
    sampled,
    sampled_views,
    shape_of,
    signed_law,
    tilts_of,
)

ORDERS = (1.05, 2.0, 8.0)


def renyi(first: np.ndarray, second: np.ndarray, order: float) -> float:
    """Rényi divergence for one unit of its order."""
    return math.log((first**order * second ** (1 - order)).sum()) / ((order - 1) * order)


def data_loss(game: SampledGame, queries: QuerySet, first: list[int], second: list[int]) -> float:
    laws = [
        np.array([chance for *_, chance in sampled_views(game, queries, np.array(counts))])
        for counts in (first, second)
    ]
    assert laws[0].sum() == pytest.approx(1)
    return max(renyi(laws[0], laws[1], order) for order in ORDERS)


@pytest.mark.parametrize(("analysts", "most"), [(2, 1), (1, 2), (2, 2)])
def test_hidden_queries_and_cells_together_cost_at_most_the_sum(analysts: int, most: int) -> None:
    """T = 3, n = 4, one draw of each in a round: all views."""
    rng = np.random.default_rng(analysts + 10 * most)
    shape = shape_of(2, analysts, most)
    protects = OneQuery() if most == 1 else OneAnalyst()
    bound = sampled_data_sum(rounds=3, batch=1, step=1, records=4)
    for s in range(1, analysts + 1):
        game = sampled(shape, 4, s, protects=protects)
        claimed = replace(game, randomness=SYSTEM).event.zcdp().rho
        # The sum takes squares of epsilons; what a pure event costs is a little less than that.
        assert 0.95 * bound <= claimed <= bound * (1 + 1e-6)
        for _ in range(2):
            found = data_loss(game, random_queries(shape, rng), [2, 2], [1, 3])
            assert found <= claimed * (1 + 1e-9)


def test_the_worst_instance_nearly_attains_the_sum() -> None:
    """One query that most cells satisfy by half, so that both signs stay equally likely."""
    shape = RoundShape(Universe.of(x=range(10)), 1, 1, levels=2)
    queries = QuerySet(shape, np.array([[2, 0] + [1] * 8], dtype=np.uint8))
    rest = [0] * 7
    pair = [1, 0, 3, *rest], [0, 1, 3, *rest]
    bound = sampled_data_sum(rounds=3, batch=1, step=1, records=4)
    assert 0.95 * bound <= data_loss(sampled(shape, 4, 1), queries, *pair) <= bound
    # A twin whose game has losses in [0, 2], priced as if they were halved.
    assert data_loss(sampled(shape, 4, 1, step_q=2), queries, *pair) > 2 * bound


@pytest.mark.parametrize("step", [1.0, 4.0])
def test_cells_of_the_sampled_game_keep_the_promise_to_analysts(step: float) -> None:
    """One query replaced: the exact delta of what is published, against the programme's."""
    rng = np.random.default_rng(3)
    shape = shape_of(2, 3, 1)
    game = sampled(shape, 4, 2, step_x=step, step_q=2)
    for _ in range(2):
        queries = random_queries(shape, rng)
        other = QuerySet(shape, np.concatenate([255 - queries.rows[:1], queries.rows[1:]]))
        laws = []
        for asked in (queries, other):
            published: dict[tuple[int, ...], float] = {}
            for _, drawn, chance in sampled_views(game, asked, np.array([3, 1])):
                published[drawn] = published.get(drawn, 0.0) + chance
            laws.append(np.array([published[key] for key in sorted(published)]))
        for epsilon in (0.01, 0.1, 0.5):
            exact = np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0).sum()
            assert exact <= game.delta(epsilon)


@pytest.mark.parametrize("most", [1, 2])
def test_cells_of_the_expected_game_cost_at_most_both_sums(most: int) -> None:
    rng = np.random.default_rng(most)
    shape = shape_of(2, 3, most)
    protects = OneQuery() if most == 1 else OneAnalyst()
    game = expected(shape, 4, 2, rounds=5, step_q=2, protects=protects)
    data = expected_data_sum(rounds=5, batch=1, step_x=1, step_q=2, records=4)
    analyst = expected_analyst_sum(rounds=5, batch=1, step=1, share=1 / 2)
    private = replace(game, randomness=SYSTEM)
    claimed, hidden = (event.zcdp().rho for event in (private.event, private.analysts.event))
    assert 0.95 * data <= claimed <= data * (1 + 1e-5)
    assert 0.95 * analyst <= hidden <= analyst * (1 + 1e-5)
    for _ in range(10):
        queries = random_queries(shape, rng)
        rows = queries.rows.copy()
        rows[:most] = 255 * rng.integers(0, 2, (most, 2))
        base = expected_views(game, queries, np.array([2, 2]))
        moved = expected_views(game, queries, np.array([1, 3]))
        asked = expected_views(game, QuerySet(shape, rows), np.array([2, 2]))
        assert base.sum() == pytest.approx(1)
        for order in ORDERS:
            assert renyi(base, moved, order) <= claimed * (1 + 1e-9)
            assert renyi(base, asked, order) <= hidden * (1 + 1e-9)


def test_an_expected_game_with_losses_twice_as_large_exceeds_the_price() -> None:
    """The twin of the data player's half; the honest game comes near its bound."""
    shape = RoundShape(Universe.of(x=range(2)), 1, 1, levels=1)
    queries = QuerySet(shape, np.array([[1, 0]], dtype=np.uint8))
    bound = expected_data_sum(rounds=4, batch=1, step_x=1, step_q=1, records=4)
    losses = []
    for step in (1, 2):
        game = expected(shape, 4, 1, rounds=4, step_x=step)
        laws = [expected_views(game, queries, np.array(counts)) for counts in ([2, 2], [1, 3])]
        losses.append(renyi(laws[0], laws[1], 2.0))
    assert 0.8 * bound < losses[0] <= bound
    assert losses[1] > 2 * bound


def test_fine_grids_and_large_batches_are_summed_in_double_precision() -> None:
    shape = RoundShape(Universe.of(x=range(2)), 3, 1, levels=65535)
    queries = QuerySet(shape, np.array([[65535, 1], [3, 65535], [7, 7]], dtype=np.uint16))
    game = sampled(shape, 10, 2, batch_q=300)
    tilts = tilts_of(game, queries, np.array([6, 4]), [0])
    net = tilts.distribution.draw(300, Seeded(4))
    assert game.batch_q * 65535 > 1 << 24
    gains = replace(game, randomness=Seeded(4)).query_player(tilts).move()
    assert gains.tolist() == (net @ queries.rows.astype(np.int64)).tolist()


@pytest.mark.parametrize(("width", "s"), [(1, 1), (1, 4), (1, 6), (3, 1), (3, 2)])
def test_draws_have_the_projected_law(width: int, s: int) -> None:
    """A chi-squared test; false alarms one in a million for each of five cases."""
    rng = np.random.default_rng(width)
    shape = shape_of(3, 6 // width, width)
    protects = OneQuery() if width == 1 else OneAnalyst()
    game = sampled(shape, 9, s, step_q=6, protects=protects)
    queries = random_queries(shape, rng)
    tilts = tilts_of(game, queries, np.array([5, 3, 1]), [1, 2, 2])
    law = signed_law(tilts)
    query, sign = tilts.distribution.signed_draws(20_000, Seeded(s))
    seen = np.bincount(query + 6 * (sign < 0), minlength=12)
    assert stats.chisquare(seen, 20_000 * law).pvalue > 1e-6
    assert tilts.distribution.net() == pytest.approx(law[:6] - law[6:])
    net = tilts.distribution.draw(500, SYSTEM)
    assert np.abs(net).sum() <= 500


@pytest.mark.parametrize("width", [1, 4])
def test_the_query_player_regrets_no_more_than_the_bound(width: int) -> None:
    """Against cells that follow no rule: entropy / step + step T / 8, over all capped laws."""
    rng = np.random.default_rng(5)
    shape = shape_of(8, 24 // width, width)
    protects = OneQuery() if width == 1 else OneAnalyst()
    for s, step in itertools.product((1, 3), (0.05, 0.5)):
        rounds = 60
        game = sampled(shape, 50, s, rounds=rounds, step_q=step, protects=protects)
        queries = random_queries(shape, rng)
        counts = rng.multinomial(50, np.ones(8) / 8)
        tilts = tilts_of(game, queries, counts, [])
        truth = queries.means(counts.astype(float))
        gained, total = 0.0, np.zeros(24)
        for cell in rng.integers(0, 4, rounds):
            gaps = truth - queries.rows[:, cell] / 255
            gained += 0.5 + float(tilts.distribution.net() @ gaps) / 2
            total += gaps
            tilts.learn(np.array([cell]))
        worst = np.sort(np.abs(total).reshape(-1, width).max(axis=1))[-s:].mean()
        regret = rounds / 2 + worst / 2 - gained
        assert regret <= game.entropy / step + step * rounds / 8


class Reversed(Tilts):
    """The twin of the printed update: it looks for queries that are answered well."""

    @property
    def distribution(self) -> SignedLaw:
        right = super().distribution
        return SignedLaw.project(-right.tilts, self.width, self.s)


class ReversedGame(SampledGame):
    def query_player(self, tilts: Tilts) -> Drawing:
        twin = Reversed(tilts.queries, tilts.sums, tilts.records, tilts.rate, tilts.width, tilts.s)
        return super().query_player(twin)


def data_limited(kind: type[SampledGame], queries: QuerySet, records: int, s: int) -> SampledGame:
    """The settings of H8: no promise to analysts, one draw a round, all of the data's budget."""
    cells = queries.shape.universe.size
    reach_q = math.sqrt(8 * math.log(2 * queries.shape.queries / s))
    rounds = int(math.sqrt(24 * 0.024356) * records / reach_q)
    return kind(
        shape=queries.shape,
        size=PublicCount(records),
        s=s,
        rounds=rounds,
        batch_x=1,
        batch_q=1,
        step_x=math.sqrt(8 * math.log(cells) / rounds),
        step_q=reach_q * math.sqrt(rounds) / rounds,
        protects=OneQuery(),
        promise=None,
    )


def test_the_game_learns_and_its_twin_with_the_reversed_sign_does_not() -> None:
    rng = np.random.default_rng(1)
    records, s = 4000, 8
    counts = correlated(records, 6, rng)
    queries = conjunctions(6)
    truth = queries.means(counts)
    even = np.abs(queries.means(np.ones(64)) - truth)
    errors = {}
    for kind in (SampledGame, ReversedGame):
        game = data_limited(kind, queries, records, s)
        assert game.event.zcdp().rho <= 0.02436
        errors[kind] = np.abs(queries.means(game.release(counts, queries).counts) - truth)
    right, twin = errors[SampledGame], errors[ReversedGame]
    assert np.sort(right)[-s] <= data_limited(SampledGame, queries, records, s).alpha(beta=1e-6)
    assert right.mean() < even.mean() / 2
    assert twin.mean() > 1.5 * even.mean()
    assert twin.max() > 3 * right.max()


def test_a_whole_analyst_is_protected_with_all_queries_accurate_but_for_few() -> None:
    rng = np.random.default_rng(2)
    records = 4000
    counts = correlated(records, 6, rng)
    picked = conjunctions(6).rows[rng.integers(0, 160, 400)]
    shape = RoundShape(Universe.of(**{f"b{i}": range(2) for i in range(6)}), 100, 4)
    queries = QuerySet(shape, picked)
    game = SampledGame(
        shape=shape,
        size=PublicCount(records),
        s=10,
        rounds=150,
        batch_x=4,
        batch_q=10,
        step_x=0.4,
        step_q=0.3,
        protects=OneAnalyst(),
        promise=None,
    )
    errors = np.abs(queries.means(game.release(counts, queries).counts) - queries.means(counts))
    by_analyst = np.sort(errors.reshape(100, 4).max(axis=1))
    assert by_analyst[-game.s] <= game.alpha(beta=1e-6)


def test_the_expected_game_runs_and_stays_within_its_bound() -> None:
    rng = np.random.default_rng(4)
    counts = correlated(4000, 6, rng)
    queries = conjunctions(6)
    game = ExpectedGame(
        shape=queries.shape,
        size=PublicCount(4000),
        s=8,
        rounds=150,
        batch_x=4,
        step_x=0.4,
        step_q=0.3,
        protects=OneQuery(),
    )
    out = game.release(counts, queries)
    errors = np.abs(queries.means(out.counts) - queries.means(counts))
    even = np.abs(queries.means(np.ones(64)) - queries.means(counts))
    assert np.sort(errors)[-game.s] <= game.alpha(beta=1e-6)
    assert errors.mean() < even.mean()
    assert len(out.points) == 600
    assert out.counts.sum() == pytest.approx(4000)
    asked = Workload.marginals(queries.shape.universe, 1)
    assert out.answers(asked).sum() == pytest.approx(6 * 4000)
    again = synopsis_from_dict(out.to_dict(), out.universe, out.event)
    assert (again.answers(asked) == out.answers(asked)).all()


PROMISED = {
    "batch_q": 100,
    "step_x": 0.01,
    "promise": dp.ApproxDP(epsilon=1, delta=1e-6),
    "randomness": SYSTEM,
}


def test_a_promise_is_checked_when_the_game_is_made() -> None:
    shape = shape_of(4, 100, 1)
    game = sampled(shape, 10, 50, **PROMISED)
    assert game.delta(1) <= 1e-6
    assert game.analysts.epsilon(delta=1e-6) == 1
    with pytest.raises(InvalidParameter) as refused:
        sampled(shape, 10, 50, **{**PROMISED, "step_x": 50})
    assert refused.value.code == "analyst_promise_broken"


def test_without_a_promise_nothing_is_claimed_for_analysts() -> None:
    game = sampled(shape_of(4, 100, 1), 10, 50, randomness=SYSTEM)
    assert not game.analysts.perfect
    with pytest.raises(NotPrivate):
        game.analysts.epsilon(delta=1e-6)


def test_seeded_games_claim_nothing() -> None:
    game = sampled(shape_of(4, 100, 1), 10, 50, **{**PROMISED, "randomness": Seeded(1)})
    with pytest.raises(NotPrivate):
        game.event.epsilon(delta=1e-6)
    with pytest.raises(NotPrivate):
        game.analysts.epsilon(delta=1e-6)


def test_several_records_of_a_person_cost_as_much_more() -> None:
    shape = shape_of(4, 10, 1)
    game = sampled(shape, 100, 5, randomness=SYSTEM)
    one, three = (replace(game, records=k).event.zcdp().rho for k in (1, 3))
    assert three == pytest.approx(9 * one, rel=1e-4)  # a little less: pure events cost so


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"s": 11}, "cap_unreachable"),
        ({"size": NoisyRecordCount()}, "game_needs_replacement"),
        ({"rounds": 1 << 50}, "game_too_long"),
        ({"step_q": 1000}, "game_too_long"),
        ({"shape": shape_of(4, 1 << 33, 1)}, "game_too_large"),
        ({"size": PublicCount(1 << 32)}, "records_too_many"),
        ({"rounds": 0}, "not_a_count"),
        ({"step_q": -1}, "not_positive"),
    ],
)
def test_refusals_come_before_data(change: dict[str, object], code: str) -> None:
    game = sampled(shape_of(4, 10, 1), 100, 5)
    with pytest.raises(InvalidParameter) as refused:
        replace(game, **change)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_queries_of_another_shape_are_refused() -> None:
    game = sampled(shape_of(4, 10, 1), 100, 5)
    other = random_queries(shape_of(4, 9, 1), np.random.default_rng(0))
    with pytest.raises(InvalidParameter) as refused:
        game.release(np.array([100, 0, 0, 0]), other)
    assert refused.value.code == "query_set_misfit"


def test_one_round_knows_no_data() -> None:
    game = sampled(shape_of(4, 10, 1), 100, 5, rounds=1, randomness=SYSTEM)
    assert game.event.epsilon(delta=0) == 0
