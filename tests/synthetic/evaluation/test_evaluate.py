"""Evaluation in one call: metrics that tell good tables from bad, and whether they are private."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import (
    BrokenTwin,
    Finding,
    LearnedEvents,
    audit,
    check_pair,
    outcome,
    repeated,
)
from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import Noiseless, Seeded
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.encoding.constraints import Between, Impossible
from discreet.synthetic.encoding.declared import column_of
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.evaluation.evaluate import evaluate
from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation
from discreet.synthetic.evaluation.marginal_error import marginal_sets, total_variations
from discreet.synthetic.evaluation.private_distances import MarginalDistances, PrivateEvaluation
from discreet.synthetic.evaluation.reference_tables import (
    independent_columns,
    k_anonymised,
    subsample,
)
from discreet.synthetic.full_histogram import FullHistogram
from discreet.synthetic.independent_marginals import IndependentMarginals
from discreet.synthetic.synthesizer import Synthesizer
from tests.synthetic.invented import DECLARED, visits

COLUMNS = {name: DECLARED[name] for name in ("sex", "age", "ill")}
REAL = visits(1500)


def compared(synthetic: Any, **terms: Any) -> NonPrivateEvaluation:
    """With the same split of real rows every time: by chance a test part of 450 is a hard one."""
    found = evaluate(REAL, synthetic, columns=COLUMNS, bins=8, randomness=Seeded(1), **terms)
    assert isinstance(found, NonPrivateEvaluation)
    return found


def shuffled(seed: int = 1) -> dict[str, list[Any]]:
    numbers = np.random.default_rng(seed)
    return {name: [column[i] for i in numbers.permutation(1500)] for name, column in REAL.items()}


def test_the_real_table_itself_is_perfect_and_independent_columns_are_not() -> None:
    same = compared(REAL, target="ill")
    assert same.scores.marginals == {1: 0, 2: 0, 3: 0}
    assert abs(same.scores.discriminator - 0.5) < 0.1  # type: ignore[operator]
    apart = compared(shuffled(), target="ill")
    assert apart.scores.marginals[1] == 0
    assert apart.scores.marginals[2] > 0.05
    assert apart.scores.classifier.synthetic < same.scores.classifier.synthetic - 0.1  # type: ignore[union-attr]
    assert same.scores.classifier.real > same.scores.classifier.majority + 0.1  # type: ignore[union-attr]


def test_references_lie_where_they_should() -> None:
    found = compared(shuffled())
    few, apart, coarse = (found.references[name].marginals for name in found.references)
    assert list(found.references) == ["40 % subsample", "independent columns", "25-anonymous"]
    assert few[3] < apart[3]
    assert apart[1] == 0
    assert coarse[3] > 0


def test_constraints_that_a_table_breaks_are_counted() -> None:
    rule = Impossible({"ill": [True], "age": Between(high=48)})
    found = compared(REAL, constraints=[rule])
    broken = sum(i and a < 48 for i, a in zip(REAL["ill"], REAL["age"], strict=True))
    assert sum(found.scores.violations.values()) == broken


def test_rare_values_are_listed_with_both_counts() -> None:
    table = dict(REAL)
    table["sex"] = ["m" if i < 10 else "f" for i in range(1500)]
    found = evaluate(table, {**table, "sex": ["f"] * 1500}, columns={"sex": COLUMNS["sex"]})
    assert isinstance(found, NonPrivateEvaluation)
    (rare,) = found.rare
    assert (rare.column, rare.value, rare.real, rare.synthetic) == ("sex", "m", 10, 0)


def test_a_workload_is_compared_query_by_query() -> None:
    encoding = TableEncoding({n: column_of(n, c, bins=8) for n, c in COLUMNS.items()})
    workload = Workload.marginals(encoding.universe, 2)
    assert compared(REAL, workload=workload).scores.workload == 0
    assert compared(shuffled(), workload=workload).scores.workload > 0  # type: ignore[operator]


def test_it_is_marked_as_not_private_wherever_it_shows() -> None:
    found = compared(shuffled())
    assert found.private is False
    assert str(found).startswith("NOT PRIVATE")
    assert json.loads(found.to_json())["evaluation"]["private"] is False


def test_the_report_has_the_warning_pictures_and_no_outside_parts(tmp_path: Path) -> None:
    found = compared(shuffled(), target="ill")
    found.save_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.count("<figure") == 1 + len(COLUMNS)
    assert "NOT PRIVATE" in text
    assert "25-anonymous" in text
    for outside in ("<script", "<link", "src=", "@import"):
        assert outside not in text


def test_a_release_brings_its_own_columns() -> None:
    made = Synthesizer(
        columns=COLUMNS,
        unit=dp.Row(),
        spend=dp.PureDP(epsilon=5),
        mechanism=IndependentMarginals,
        bins=8,
    ).fit(REAL)
    found = evaluate(REAL, made.release_, ways=[1])
    assert isinstance(found, NonPrivateEvaluation)
    assert 0 < found.scores.marginals[1] < 0.1
    with pytest.raises(InvalidParameter, match="columns_missing"):
        evaluate(REAL, REAL)


def test_reference_tables_are_what_they_are_called() -> None:
    numbers = np.random.default_rng(0)
    codes = numbers.integers(0, 8, (1000, 3))
    assert len(subsample(codes)) == 400
    mixed = independent_columns(codes)
    assert (np.sort(mixed, axis=0) == np.sort(codes, axis=0)).all()
    coarse = k_anonymised(codes, (8, 8, 8), k=300)
    assert coarse.shape == codes.shape
    constant = np.zeros((50, 2), np.int64)
    assert (k_anonymised(constant, (2, 2)) == 0).all()


def test_wide_tables_are_compared_on_marginals_chosen_by_their_shape_alone() -> None:
    sets = marginal_sets((3,) * 40, 3)
    assert 1000 < len(sets) <= 2000
    assert len(marginal_sets((3,) * 5, 3)) == 10
    assert marginal_sets((1 << 12, 1 << 12), 2) == []
    codes = np.zeros((5, 40), np.int64)
    assert (total_variations(codes, codes, (3,) * 40, sets) == 0).all()


# With a price ---------------------------------------------------------------------------------


def test_with_a_price_it_is_private_and_near_the_truth() -> None:
    truth = compared(shuffled()).scores.marginals
    found = evaluate(
        REAL, shuffled(), columns=COLUMNS, bins=8, spend=dp.PureDP(epsilon=1), unit=dp.Row()
    )
    assert isinstance(found, PrivateEvaluation)
    assert found.private
    assert found.guarantee == dp.PureDP(epsilon=1).per(dp.Row())
    assert found.event.epsilon(delta=0) <= 1
    for ways, (value, half) in found.distances.items():
        assert abs(value - truth[ways]) < 3 * half  # half-widths at 95 %: e**-9 of Laplace noise
    assert "of all rows" in str(found)


def test_with_a_price_there_must_be_a_unit_and_test_mode_is_marked() -> None:
    terms: dict[str, Any] = {"columns": COLUMNS, "spend": dp.PureDP(epsilon=1)}
    with pytest.raises(InvalidParameter, match="not_a_unit"):
        evaluate(REAL, REAL, **terms)
    found = evaluate(REAL, REAL, unit=dp.Row(), randomness=Seeded(0), **terms)
    assert not found.private
    with pytest.raises(InvalidParameter, match="evaluation_empty"):
        evaluate(REAL, {name: [] for name in REAL}, unit=dp.Row(), **terms)


UNIVERSE = Universe.of(a=range(3), b=range(2), c=range(2))


def distances(**terms: Any) -> MarginalDistances:
    numbers = np.random.default_rng(3)
    codes = np.stack([numbers.integers(0, s, 30) for s in UNIVERSE.shape], axis=1)
    return MarginalDistances(
        universe=UNIVERSE,
        synthetic=codes,
        ways=(1, 2, 3),
        **({"spend": dp.PureDP(epsilon=1)} | terms),
    )


@pytest.mark.parametrize(("size", "moved"), [(NoisyRecordCount(), 1), (PublicCount(20), 2)])
def test_one_unit_moves_each_sum_by_no_more_than_its_noise_is_for(size: Any, moved: int) -> None:
    quiet = distances(randomness=Noiseless(), size=size, records=2)
    numbers = np.random.default_rng(5)
    worst = dict.fromkeys(quiet.ways, 0)
    for _ in range(300):
        rows = np.stack([numbers.integers(0, s, 60) for s in UNIVERSE.shape], axis=1)
        other = rows[2:]
        if moved == 2:
            other = np.concatenate([other, np.repeat(other[:1], 2, axis=0)])
        before = quiet.release(CodedRecords(UNIVERSE, rows, dp.Row()))
        after = quiet.release(CodedRecords(UNIVERSE, other, dp.Row()))
        worst = {k: max(worst[k], abs(after[k] - before[k])) for k in before}
    for ways, sets in quiet.sets.items():
        assert quiet.noises[ways].sensitivity == 2 * moved * len(sets)
        assert worst[ways] <= quiet.noises[ways].sensitivity
    assert worst[1] > 0


class Exact(MarginalDistances):
    """A twin that forgets the noise."""

    def release(self, counts: Any) -> dict[int, int]:
        return distances(randomness=Noiseless()).release(counts)


def test_distances_without_noise_are_caught() -> None:
    """A true claim is refuted with probability at most 1e-6."""
    numbers = np.random.default_rng(5)
    rows = np.stack([numbers.integers(0, s, 20) for s in UNIVERSE.shape], axis=1)
    sound = distances()
    broken = Exact(
        universe=UNIVERSE, synthetic=sound.synthetic, ways=(1, 2, 3), spend=dp.PureDP(epsilon=1)
    )

    def auditor(made: MarginalDistances) -> Finding:
        return audit(
            repeated(lambda rows: made.release(CodedRecords(UNIVERSE, rows, dp.Row()))[3]),
            rows,
            rows[1:],
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=300,
            confidence=1 - 1e-6,
        )

    check_pair(BrokenTwin("distances", sound, broken, "no noise"), auditor)


# The negative control -------------------------------------------------------------------------


class RowSubset:
    """A synthesiser that hands out four in ten rows as they are, and claims a privacy it lacks."""

    def sample(self, codes: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
        return subsample(codes)


def test_a_row_subset_scores_well_and_fails_the_audit() -> None:
    """Useful is not private. A true claim is refuted with probability at most 1e-6."""
    encoding = TableEncoding({n: column_of(n, c, bins=8) for n, c in COLUMNS.items()})
    codes = encoding.encode(REAL)
    few = RowSubset().sample(codes)
    shape = encoding.universe.shape
    sets = marginal_sets(shape, 3)
    good = total_variations(codes, few, shape, sets).mean()
    poor = total_variations(codes, independent_columns(codes), shape, sets).mean()
    assert good < poor / 2

    strange = np.array([[2, 8, 2]])  # the one row with everything missing
    crowd = codes[:20]
    with_one, without = np.concatenate([crowd, strange]), np.concatenate([crowd, crowd[:1]])

    def shows(make: Any, rows: Any) -> bool:
        return bool((make(rows) == strange).all(axis=1).any())

    def modelled(rows: Any) -> Any:
        mechanism = FullHistogram(
            workload=Workload.marginals(encoding.universe, 3),
            spend=dp.PureDP(epsilon=1),
            size=PublicCount(21),
        )
        counts = CodedRecords(encoding.universe, rows, dp.Replace(dp.Row()))
        return mechanism.release(counts).sample(8)

    def auditor(make: Any) -> Finding:
        return audit(
            repeated(partial(shows, make)),
            with_one,
            without,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=600,
            confidence=1 - 1e-6,
        )

    check_pair(BrokenTwin("row subset", modelled, RowSubset().sample, "real rows"), auditor)


def test_a_target_that_is_misspelt_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidParameter) as refused:
        compared(REAL, target="Il")
    assert refused.value.remedy == "Did you mean ill?"


def test_tables_of_other_sizes_are_told_apart_from_bad_ones() -> None:
    few = {name: column[:100] for name, column in REAL.items()}
    told = [
        str(evaluate(REAL, table, columns=COLUMNS, spend=dp.PureDP(epsilon=1), unit=dp.Row()))
        for table in (few, REAL)
    ]
    assert "without a number" in told[0]
    assert "without a number" not in told[1]
