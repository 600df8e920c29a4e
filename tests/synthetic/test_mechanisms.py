"""AIM, MST and their relatives: what they cost, what they learn, what they refuse for free."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.accounting.pure import PURE
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Unprotected
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.noise.randomness import SYSTEM, Noiseless, Seeded
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.adaptive_spend import HEAVIEST, AdaptiveSpend, SpendTerms
from discreet.synthetic.aim import AIM
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.full_histogram import FullHistogram
from discreet.synthetic.graphical.estimation import Estimator
from discreet.synthetic.independent_marginals import IndependentMarginals
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.mst import MST
from discreet.synthetic.mwem_pgm import MWEMPGM
from discreet.synthetic.progress import FitProgress
from discreet.synthetic.structural_zeros import StructuralZeros
from discreet.synthetic.workload_marginals import candidates, workload_marginals
from tests.synthetic.brute_force import RowTable, chained_rows

UNIVERSE = Universe.of(a=range(3), b=range(4), c=range(2), d=range(5))
PAIRS = Workload.marginals(UNIVERSE, 2)
ROWS = chained_rows(UNIVERSE, 4000, 1)
KINDS: list[tuple[Any, dict[str, Any]]] = [
    (AIM, {}),
    (MST, {}),
    (MWEMPGM, {"rounds": 4}),
    (IndependentMarginals, {}),
    (FullHistogram, {}),
]
ADAPTIVE = KINDS[:4]
given_to_all = {"workload": PAIRS, "size": NoisyRecordCount()}


def made(kind: Any, spend: Any = None, **options: Any) -> Any:
    return kind(**{**given_to_all, "spend": spend or ZCDP(rho=2), **options})


def table() -> RowTable:
    return RowTable(UNIVERSE, ROWS)


def priced(ran: AdaptiveSpend, accountant: Any) -> Any:
    plain = [each.instead_of if isinstance(each, Unprotected) else each for each in ran.ran]
    return sum(accountant.price(each) for each in plain)


@pytest.mark.parametrize(("kind", "options"), ADAPTIVE)
@pytest.mark.parametrize(
    ("spend", "claim", "accountant"),
    [
        (ZCDP(rho=0.5), events.Concentrated(rho=0.5), ZERO_CONCENTRATED),
        (PureDP(epsilon=1.5), events.Pure(epsilon=1.5), PURE),
    ],
)
def test_what_ran_costs_the_whole_spend_and_never_more(
    kind: Any, options: Any, spend: Any, claim: Any, accountant: Any
) -> None:
    mechanism = made(kind, spend, **options)
    assert mechanism.event == claim
    _, ran = mechanism.run(table())
    limit = accountant.price(claim)
    assert limit * (1 - Fraction(1, 10**6)) < priced(ran, accountant) <= limit


@pytest.mark.parametrize("kind", [AIM, MST])
def test_every_selection_is_among_the_events_that_ran(kind: Any) -> None:
    model, ran = made(kind).run(table())
    selections = [each for each in ran.ran if isinstance(each, events.Exponential)]
    measured_later = len(model.measured) - 4
    assert len(selections) == measured_later > 0


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_models_are_near_the_data_and_their_rows_near_the_models(kind: Any, options: Any) -> None:
    model = made(kind, ZCDP(rho=5), **options).release(table())
    assert isinstance(model, SyntheticModel)
    assert model.total == pytest.approx(4000, abs=60)
    near = 0.6 if kind is IndependentMarginals else 0.06
    rows = model.sample(4000)
    for names in combinations("abcd", 2):
        exactly = table().counts(names)
        assert np.abs(model.marginal(names) - exactly).sum() / 8000 < near
        counted = RowTable(UNIVERSE, rows).counts(names)
        assert np.abs(counted - model.marginal(names) * 4000 / model.total).sum() / 8000 < 0.06
    assert model.sample().shape == (round(model.total), 4)


def test_a_public_number_of_records_is_taken_as_it_is() -> None:
    for kind, options in KINDS:
        model = made(kind, size=PublicCount(4000), **options).release(table())
        assert model.total == 4000


def test_without_noise_the_tree_is_the_chain_that_made_the_rows() -> None:
    model, _ = made(MST, randomness=Noiseless()).run(table())
    pairs = {each.places for each in model.measured if len(each.places) == 2}
    assert pairs in ({(0, 1), (1, 2), (2, 3)}, {(0, 1), (1, 2), (1, 3)})


def test_a_large_budget_finds_the_maximum_spanning_tree_of_distances_from_independence() -> None:
    model, _ = made(MST, ZCDP(rho=1e3)).run(table())
    pairs = {each.places for each in model.measured if len(each.places) == 2}
    scores = {}
    for pair in combinations(range(4), 2):
        exactly = table().counts([UNIVERSE.names[place] for place in pair])
        apart = np.outer(exactly.sum(1), exactly.sum(0)) / 4000
        scores[pair] = np.abs(exactly - apart).sum()
    best = max(
        (tree for tree in combinations(scores, 3) if len({p for e in tree for p in e}) == 4),
        key=lambda tree: sum(scores[pair] for pair in tree),
    )
    assert pairs == set(best)


def test_only_marginals_are_counted_so_universes_may_have_1e20_cells() -> None:
    universe = Universe.of(**{f"x{i}": range(10) for i in range(20)})
    rows = np.random.default_rng(1).integers(0, 10, (500, 20))
    source = RowTable(universe, rows)
    work = Workload.union(*(Workload.marginal(universe, [f"x{i}", f"x{i + 1}"]) for i in range(19)))
    for kind in (AIM, MST):
        model = kind(workload=work, spend=ZCDP(rho=1), size=NoisyRecordCount()).release(source)
        assert model.sample(10).shape == (10, 20)
    assert universe.size == 10**20
    assert max(len(names) for names in source.asked) == 2


def test_marginals_with_the_target_weigh_more_and_the_others_stay() -> None:
    asked = workload_marginals(Workload.marginals(UNIVERSE, 3), "d")
    assert set(asked) == {(0, 1, 3), (0, 2, 3), (1, 2, 3)}
    plain, aimed = (made(AIM, target=target)._candidates for target in (None, "d"))
    assert plain.keys() == aimed.keys()
    assert max(aimed.values()) == HEAVIEST  # a selection's sensitivity follows the heaviest offered
    for one, other in combinations((each for each in aimed if len(each) == 2), 2):
        if (3 in one) > (3 in other):
            assert aimed[one] == 4 * aimed[other]
    with pytest.raises(InvalidParameter, match="target_not_asked"):
        made(AIM, workload=Workload.marginal(UNIVERSE, ["a", "b"]), target="d")


def test_selections_with_a_target_pay_for_the_heaviest(monkeypatch: pytest.MonkeyPatch) -> None:
    paid = []
    selected = AdaptiveSpend.selected

    def watched(spend: AdaptiveSpend, scores: Any, share: Any, heaviest: int) -> int:
        paid.append(heaviest)
        return selected(spend, scores, share, heaviest)

    monkeypatch.setattr(AdaptiveSpend, "selected", watched)
    made(AIM, target="d").run(table())
    assert paid[0] == HEAVIEST


def test_weights_of_candidates_count_what_they_share_with_the_workload() -> None:
    asked: dict[tuple[int, ...], float] = {(0, 1): 1.0, (1, 2): 3.0}
    weights = candidates(asked)
    # Shares: (0,) 1, (1,) 4, (2,) 3, (0, 1) 5, (1, 2) 7; the largest becomes 64.
    assert weights == {(0,): 9, (1,): 37, (2,): 27, (0, 1): 46, (1, 2): 64}


def test_trees_never_grow_beyond_their_limit() -> None:
    seen: list[FitProgress] = []
    model, _ = made(AIM, ZCDP(rho=50), max_size=30, progress=seen.append).run(table())
    assert model.tree.size <= 30
    assert [each.step for each in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].spent == pytest.approx(1)
    assert seen[-1].seconds_left == pytest.approx(0, abs=1)


@pytest.mark.parametrize(
    ("kind", "options", "code"),
    [
        (AIM, {"max_size": 10}, "junction_tree_too_large"),
        (MST, {"max_size": 20}, "junction_tree_too_large"),
        (MWEMPGM, {"rounds": 3, "max_size": 14}, "junction_tree_too_large"),
        (MST, {"workload": Workload.marginals(Universe.of(a=range(3)), 1)}, "too_few_attributes"),
        (AIM, {"size": 100}, "size_not_a_count"),
        (AIM, {"records": 0}, "not_a_count"),
        (AIM, {"workload": "all pairs"}, "not_a_workload"),
    ],
)
def test_what_cannot_run_is_refused_before_any_data(kind: Any, options: Any, code: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        made(kind, **options)
    assert refusal.value.code == code


def test_a_pair_that_is_too_large_is_named_with_its_size() -> None:
    with pytest.raises(InvalidParameter, match=r"45 cells, of which 20 are the clique of b, d"):
        made(MST, max_size=24)


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_impossible_combinations_never_appear(kind: Any, options: Any) -> None:
    possible = np.ones((3, 4), dtype=bool)
    possible[1, :3] = False
    zeros = [StructuralZeros(("a", "b"), possible)]
    model = made(kind, zeros=zeros, **options).release(table())
    rows = model.sample(3000)
    assert not ((rows[:, 0] == 1) & (rows[:, 1] < 3)).any()
    np.testing.assert_array_equal(model.marginal(["a", "b"])[1, :3], 0)


def test_zeros_that_exclude_each_other_are_refused_on_declarations_alone() -> None:
    first = StructuralZeros(("a",), np.array([True, False, False]))
    second = StructuralZeros(("a", "b"), np.array([[False] * 4, [True] * 4, [True] * 4]))
    with pytest.raises(InvalidParameter, match="constraints_infeasible"):
        made(AIM, zeros=[first, second])
    with pytest.raises(InvalidParameter, match="zeros_misfit"):
        made(AIM, zeros=[StructuralZeros(("a",), np.array([True, False]))])


@pytest.mark.parametrize("rows", [np.zeros((0, 4), dtype=np.int64), np.zeros((5, 4), dtype=int)])
@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_empty_tables_and_constant_columns_are_no_special_case(
    kind: Any, options: Any, rows: Any
) -> None:
    model = made(kind, **options).release(RowTable(UNIVERSE, rows))
    assert model.total >= 1
    assert model.sample(7).shape == (7, 4)


def test_columns_of_one_value_are_learnt_and_sampled() -> None:
    universe = Universe.of(a=["only"], b=range(3))
    work = Workload.marginals(universe, 2)
    for kind, options in KINDS:
        model = made(kind, workload=work, **options).release(
            RowTable(universe, np.zeros((50, 2), dtype=int))
        )
        assert (model.sample(9)[:, 0] == 0).all()


def test_seeded_runs_repeat_and_are_marked_as_not_private() -> None:
    first = made(AIM, randomness=Seeded(3)).release(table())
    second = made(AIM, randomness=Seeded(3)).release(table())
    np.testing.assert_array_equal(first.marginal(["a", "d"]), second.marginal(["a", "d"]))
    assert isinstance(first.event, Unprotected)


def test_an_approximate_spend_is_kept_at_its_own_delta() -> None:
    mechanism = made(AIM, ApproxDP(epsilon=1, delta=1e-6), randomness=SYSTEM)
    assert mechanism.event.epsilon(delta=1e-6) <= 1


@pytest.mark.parametrize(("kind", "options"), ADAPTIVE)
def test_public_rows_are_a_start_that_costs_nothing(kind: Any, options: Any) -> None:
    """With next to no budget, what was never measured is as the public rows have it."""
    public = chained_rows(UNIVERSE, 4000, 9)
    spend = ZCDP(rho=1e-3)
    with_start = made(kind, spend, public=public, **options)
    assert with_start.event == made(kind, spend, **options).event
    exactly = table().counts(["a", "b"])
    near = np.abs(with_start.release(table()).marginal(["a", "b"]) - exactly).sum() / 8000
    without = made(IndependentMarginals, ZCDP(rho=100)).release(table()).marginal(["a", "b"])
    assert near < np.abs(without - exactly).sum() / 8000


@pytest.mark.parametrize(
    "rows", [np.zeros((3, 2), dtype=int), np.full((3, 4), 9), np.zeros((3, 4)), np.full((1, 4), -1)]
)
def test_public_rows_that_do_not_fit_are_refused(rows: Any) -> None:
    with pytest.raises(InvalidParameter, match="public_rows_misfit"):
        made(AIM, public=rows)


def test_a_batch_of_marginals_keeps_the_tree_within_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of two marginals fits by itself, and both together need not: 32 columns take four."""
    universe = Universe.of(**{f"c{place}": range(3) for place in range(32)})
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, (500, 1))
    rows = np.where(rng.random((500, 32)) < 0.6, base, rng.integers(0, 3, (500, 32)))
    sizes: list[int] = []
    grow = ModelInProgress._grow

    def growing(self: ModelInProgress) -> None:
        grow(self)
        sizes.append(self.tree.size)

    monkeypatch.setattr(ModelInProgress, "_grow", growing)
    made = AIM(
        workload=Workload.marginals(universe, 2),
        spend=ZCDP(rho=1),
        size=NoisyRecordCount(),
        max_size=400,
        estimator=Estimator(iterations=2),
        randomness=Seeded(3),
    )
    made.release(RowTable(universe, rows))
    assert max(sizes) <= 400
    assert max(sizes) > 350


@pytest.mark.parametrize(("kind", "more"), KINDS, ids=lambda each: getattr(each, "__name__", ""))
@pytest.mark.parametrize("spend", [ZCDP(rho=0.002), PureDP(epsilon=3)], ids=["rho", "epsilon"])
def test_no_step_is_smaller_than_what_was_looked_at_before(
    kind: Any, more: dict[str, Any], spend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[Fraction] = []
    noise, selection = SpendTerms.noise, SpendTerms.selection

    def noisy(self: SpendTerms, share: Any) -> Any:
        shares.append(Fraction(share))
        return noise(self, share)

    def selecting(self: SpendTerms, share: Any, heaviest: int) -> Any:
        shares.append(Fraction(share))
        assert heaviest <= HEAVIEST
        return selection(self, share, heaviest)

    made = kind(**given_to_all, spend=spend, estimator=Estimator(iterations=2), **more)
    monkeypatch.setattr(SpendTerms, "noise", noisy)
    monkeypatch.setattr(SpendTerms, "selection", selecting)
    made.release(RowTable(UNIVERSE, ROWS[:200]))
    assert made._least_share <= min(shares)
