"""Plans come from public quantities, predict errors, and say why."""

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM, Seeded
from discreet.queries.matrix import product
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.p_identity import p_identity
from discreet.queries.matrix.strategy import Strategy
from discreet.queries.planning.option import Basis
from discreet.queries.planning.plan import best_mechanism, plan
from discreet.queries.planning.surrogate import rmse, surrogate
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.families import Each, Listed, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

PEOPLE = Universe.of(age=range(7), school=range(6), ward=range(5), job=range(3), rich=range(2))
TWO_WAY = Workload.marginals(PEOPLE, 2)
THREE_WAY = Workload.marginals(PEOPLE, 3)


def test_invented_data_add_up_and_are_always_the_same() -> None:
    first, again = surrogate(PEOPLE, 12_345), surrogate(PEOPLE, 12_345)
    assert first.sum() == 12_345
    assert first.min() >= 0
    assert (first == again).all()


def test_invented_data_are_skewed_and_correlated() -> None:
    table = surrogate(PEOPLE, 100_000).reshape(PEOPLE.shape)
    age_by_ward = table.sum(axis=(1, 3, 4)) / 100_000
    product = np.outer(age_by_ward.sum(axis=1), age_by_ward.sum(axis=0))
    assert np.abs(age_by_ward - product).sum() > 0.05
    assert age_by_ward.max() > 2 / age_by_ward.size


def test_little_budget_and_many_marginals_go_to_mwem() -> None:
    found = plan(THREE_WAY, spend=dp.PureDP(epsilon=0.05), about=20_000)
    assert found.chosen.name == "MWEM"
    assert found.chosen.predicted.basis is Basis.TRIAL


def test_much_budget_goes_to_a_mechanism_whose_error_does_not_depend_on_data() -> None:
    found = plan(TWO_WAY, spend=dp.PureDP(epsilon=10), about=20_000)
    assert found.chosen.predicted.basis is Basis.COMPUTED


def test_ranges_go_to_the_matrix_mechanism() -> None:
    line = Universe.of(x=range(32))
    found = plan(Workload.of(line, {"x": Ranges(32)}), spend=dp.PureDP(epsilon=1))
    assert found.chosen.name == "matrix mechanism"
    assert found.chosen.predicted.error < found.ranked[-1].predicted.error / 4


def test_ranking_is_by_error_and_everything_is_explained() -> None:
    found = plan(TWO_WAY, spend=dp.PureDP(epsilon=1), about=20_000)
    computed = [r.predicted.error for r in found.ranked if r.predicted.basis is Basis.COMPUTED]
    assert computed == sorted(computed)
    told = found.explain()
    assert str(found) == told
    assert all(each.name in told for each in found.ranked)
    assert all(name in told and reason in told for name, reason in found.unfit)
    assert found.why in told


def test_computed_errors_are_what_happens() -> None:
    # The mean of 2 * 137 independent-ish squares: off by a third with probability < 1e-6.
    counts = surrogate(PEOPLE, 20_000)
    found = plan(TWO_WAY, spend=dp.ZCDP(rho=0.1), about=20_000)
    for each in found.ranked:
        if each.predicted.basis is Basis.COMPUTED:
            mechanism = found.request.make_mechanism(each.option.build(found.request), SYSTEM)
            seen = [rmse(mechanism.release(counts), TWO_WAY, counts) for _ in range(20)]
            assert np.sqrt(np.mean(np.square(seen))) == pytest.approx(
                each.predicted.error, rel=0.33
            ), each.name


def test_without_a_guess_of_the_number_of_records_mwem_is_left_out_with_the_reason() -> None:
    found = plan(TWO_WAY, spend=dp.PureDP(epsilon=1))
    reasons = dict(found.unfit)
    assert "about=" in reasons["MWEM"]


def test_a_public_number_of_records_needs_no_guess() -> None:
    found = plan(TWO_WAY, spend=dp.PureDP(epsilon=1), size=PublicCount(20_000))
    assert "MWEM" in [each.name for each in found.ranked]


def test_the_same_request_is_planned_the_same_way_twice() -> None:
    one, two = (plan(TWO_WAY, spend=dp.PureDP(epsilon=0.3), about=5_000) for _ in range(2))
    assert [r.predicted for r in one.ranked] == [r.predicted for r in two.ranked]


def test_a_wanted_error_that_several_reach_goes_to_the_fastest() -> None:
    found = plan(TWO_WAY, spend=dp.PureDP(epsilon=1), about=20_000, within=10_000)
    assert found.reaches
    fastest = min(each.predicted.seconds for each in found.ranked)
    assert found.chosen.predicted.seconds <= fastest + 0.1
    equally = [r for r in found.ranked if r.predicted.seconds <= fastest + 0.04]
    assert found.chosen.predicted.error == min(each.predicted.error for each in equally)
    unreachable = plan(TWO_WAY, spend=dp.PureDP(epsilon=1), about=20_000, within=1e-3)
    assert not unreachable.reaches
    assert "beyond" in unreachable.why


def test_a_universe_of_a_billion_cells_is_planned_without_being_written_down() -> None:
    wide = Universe.of(**{f"a{i}": range(2) for i in range(30)})
    found = plan(Workload.marginals(wide, 2), spend=dp.ZCDP(rho=0.5), about=10_000)
    assert "MWEM" in dict(found.unfit)
    assert found.chosen.predicted.error > 0


def test_a_workload_that_nothing_can_answer_is_refused_with_all_reasons() -> None:
    wide = Universe.of(**{f"a{i}": range(4) for i in range(20)})
    everything = Workload.of(wide, {name: Prefixes(4) for name in wide.names})
    with pytest.raises(InvalidParameter) as refused:
        plan(everything, spend=dp.PureDP(epsilon=1), about=1000)
    assert refused.value.code == "no_mechanism_fits"


def test_weights_beyond_one_are_left_to_the_matrix_mechanism() -> None:
    line = Universe.of(x=range(4))
    heavy = Workload.of(line, {"x": Listed([[2.0, 0.0, -1.0, 0.5]])})
    found = plan(heavy, spend=dp.PureDP(epsilon=1), about=100)
    assert found.chosen.name == "matrix mechanism"
    assert "independent noise" in dict(found.unfit)


def test_different_kinds_of_questions_go_to_a_union_of_strategies() -> None:
    table = Universe.of(age=range(32), ward=range(5), sex=range(2))
    mixed = Workload.of(table, {"age": Ranges(32)}, {"ward": Each(5), "sex": Each(2)})
    found = plan(mixed, spend=dp.PureDP(epsilon=1))
    assert found.chosen.name == "union of strategies"


def test_the_best_mechanism_is_the_planned_one_without_a_second_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches = []
    searched = p_identity

    def counted(gram: np.ndarray) -> Strategy:
        searches.append(len(gram))
        return searched(gram)

    monkeypatch.setattr(product, "p_identity", counted)
    line = Workload.of(Universe.of(x=range(23)), {"x": Prefixes(23)})
    source = Seeded(3)
    made = best_mechanism(line, dp.PureDP(epsilon=1), randomness=source)
    assert isinstance(made, MatrixMechanism)
    assert made.randomness is source
    assert searches == [23]
