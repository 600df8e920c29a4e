"""PrivBayes: sensitivities on all small data sets, networks, prices, and what it hides."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter
from discreet.events import Composed, Repeated
from discreet.noise.randomness import Noiseless, Seeded
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.bayesian_network import BayesianNetwork
from discreet.synthetic.model import model_from_dict
from discreet.synthetic.mutual_information import (
    STEPS,
    added,
    exchanged,
    exchanged_binary,
    in_steps,
    score,
)
from discreet.synthetic.privbayes import PrivBayes
from tests.queries.mechanism_rows import COME_OR_GO, EXCHANGED, PURE, RECORDS, RHO, Row, check
from tests.queries.transcripts import Tape, taped

CUBE = Universe.of(a=range(2), b=range(2), c=range(3), d=range(2))
SMALL = Universe.of(a=range(2), b=range(3), c=range(2))


def information(table: NDArray[np.int64]) -> float:
    """The textbook's n I, in nats."""
    n = table.sum()
    if n == 0:
        return 0.0
    p = table / n
    both = np.outer(p.sum(axis=1), p.sum(axis=0))
    inside = p > 0
    return float(n * (p[inside] * np.log(p[inside] / both[inside])).sum())


def tables(shape: tuple[int, int], records: int) -> list[NDArray[np.int64]]:
    """All tables of so many records."""
    cells = math.prod(shape)
    return [
        np.bincount(places, minlength=cells).reshape(shape)
        for places in combinations_with_replacement(range(cells), records)
    ]


def test_scores_are_the_textbooks() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        table = rng.poisson(3, (3, 4))
        assert score(table) / STEPS == pytest.approx(information(table), abs=1 / STEPS)
        assert score(table, 1000) == score(table)
    deep = rng.poisson(3, (3, 2, 2))
    assert score(deep) == score(deep.reshape(3, 4))


def test_known_values() -> None:
    """In bits, for a thousand records: 0.0114078 and 0.0208170."""
    assert exchanged_binary(1000) / 1000 / math.log(2) == pytest.approx(0.0114078, abs=5e-8)
    assert exchanged(1000) / 1000 / math.log(2) == pytest.approx(0.0208170, abs=5e-8)


@pytest.mark.parametrize(("shape", "binary"), [((2, 2), True), ((2, 3), True), ((3, 3), False)])
def test_one_exchanged_record_moves_information_within_the_bound(
    shape: tuple[int, int],
    binary: bool,  # noqa: FBT001
) -> None:
    """Every table of up to five records, every record, every other place; nearly met."""
    most = 0.0
    for records in range(1, 6 if shape != (3, 3) else 5):
        bound = (exchanged_binary if binary else exchanged)(records)
        for table in tables(shape, records):
            here = information(table)
            for gone, come in product(np.argwhere(table > 0), np.ndindex(shape)):
                other = table.copy()
                other[tuple(gone)] -= 1
                other[come] += 1
                moved = abs(information(other) - here)
                assert moved <= bound + 1e-9
                most = max(most, moved / bound if bound else 0.0)
    assert most > 0.95


@pytest.mark.parametrize("reach", [1, 3, 6])
def test_one_more_record_moves_scores_within_the_bound_whatever_their_number(reach: int) -> None:
    """Also where there are more records than the public end; the bound is met exactly at it."""
    most, allowed = 0.0, in_steps(added(reach), 1)
    for records in range(7):
        for table in tables((2, 3), records):
            here = score(table, reach)
            for come in np.ndindex(2, 3):
                other = table.copy()
                other[come] += 1
                most = max(most, abs(score(other, reach) - here))
    assert most <= allowed
    assert most >= allowed - 5


def test_several_records_move_scores_by_as_much_each() -> None:
    """Three that come at once, each with values of its own, need more than one of them alone."""
    moved = score(np.eye(3, dtype=np.int64), 6) - score(np.zeros((3, 3), dtype=np.int64), 6)
    assert in_steps(added(6), 1) < moved <= in_steps(added(6), 3)
    assert in_steps(1.0, 3) == 3 * STEPS + 3


def given(universe: Universe = CUBE, epsilon: float = 1.0, **others: Any) -> dict[str, Any]:
    return {
        "workload": Workload.marginal(universe, universe.names[:1]),
        "spend": dp.PureDP(epsilon=epsilon),
        "size": NoisyRecordCount(),
        **others,
    }


def dependent(seed: int = 0, records: int = 2000) -> NDArray[np.int64]:
    """A copy of a, a noisy copy of b, and a coin."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, records)
    c = np.where(rng.random(records) < 0.8, a, 2)
    table = np.zeros(CUBE.shape, dtype=np.int64)
    np.add.at(table, (a, a, c, rng.integers(0, 2, records)), 1)
    return table


def test_a_copy_is_linked_and_no_attribute_depends_on_a_later_one() -> None:
    made = PrivBayes(**given(epsilon=1000, degree=1))
    model = made.release(dependent())
    by_place = {each.place: each for each in model.conditionals}
    assert by_place[1].parents == (0,) or by_place[0].parents == (1,)
    seen: set[int] = set()
    for each in model.conditionals:
        assert set(each.parents) <= seen
        seen.add(each.place)
    assert seen == {0, 1, 2, 3}
    assert np.allclose(model.marginal(["a", "b"]), dependent().sum(axis=(2, 3)), atol=5)


@pytest.mark.parametrize("size", [NoisyRecordCount(), PublicCount(2000)])
def test_without_noise_its_tables_are_the_datas(size: RecordCount) -> None:
    made = PrivBayes(**given(randomness=Noiseless(), degree=3, size=size))
    model, data = made.release(dependent()), dependent()
    assert model.total == 2000
    assert np.allclose(model.marginal(CUBE.names), data)
    assert np.allclose(model.marginal(["c", "a"]), data.sum(axis=(1, 3)).T)


def test_rows_have_the_marginals_of_the_network() -> None:
    model = PrivBayes(**given(epsilon=2)).release(dependent())
    rows = model.sample(40_000, randomness=Seeded(3))
    table = np.zeros(CUBE.shape)
    np.add.at(table, tuple(rows.T), 1)
    wanted = model.marginal(CUBE.names) * (40_000 / model.total)
    assert (np.abs(table - wanted) < 6 * np.sqrt(wanted + 1)).all()
    assert len(model.sample()) == round(model.total)


def test_a_kept_network_is_the_same() -> None:
    model = PrivBayes(**given()).release(dependent())
    again = model_from_dict(dict(model.to_dict()), CUBE, model.event)
    assert isinstance(again, BayesianNetwork)
    assert np.array_equal(again.marginal(CUBE.names), model.marginal(CUBE.names))
    one, other = (each.sample(50, randomness=Seeded(1)) for each in (again, model))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("size", [NoisyRecordCount(), PublicCount(1)])
def test_columns_of_one_value_and_empty_tables_are_synthesised(size: RecordCount) -> None:
    universe = Universe.of(a=[0], b=range(3), c=["x"])
    for counts in (np.zeros((1, 3, 1), dtype=np.int64), np.array([[[0], [1], [0]]])):
        model = PrivBayes(**given(universe, size=size)).release(counts)
        rows = model.sample(5)
        assert rows.shape == (5, 3)
        assert (rows[:, [0, 2]] == 0).all()
        assert model.marginal(["b"]).sum() == pytest.approx(model.total)


def test_a_damaged_network_is_refused() -> None:
    model = PrivBayes(**given()).release(dependent())
    plain = dict(model.to_dict())
    entries = plain["conditionals"]
    assert isinstance(entries, list)
    for wrong in (entries[::-1], entries[:-1], [*entries, entries[0]], "none"):
        with pytest.raises(InvalidParameter, match="synopsis_not_plain"):
            model_from_dict({**plain, "conditionals": wrong}, CUBE, model.event)


@pytest.mark.parametrize(
    "universe", [Universe.of(a=range(3)), Universe.of(a=range(3), b=range(2)), SMALL, CUBE]
)
@pytest.mark.parametrize(
    "spend", [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.1), dp.ApproxDP(epsilon=1, delta=1e-6)]
)
def test_the_price_is_that_of_what_ran_and_within_the_spend(
    universe: Universe, spend: Guarantee
) -> None:
    made = PrivBayes(**given(universe, spend=spend))
    tape = Tape(np.random.default_rng(1))
    with taped(tape):
        made.release(np.full(universe.shape, 5))
    ran = [str(step.paid) for step in tape.rewind()]
    assert sorted(ran) == sorted(map(str, flat(made.event)))
    match spend:
        case dp.ZCDP():
            assert made.event.zcdp().rho <= 0.1 * (1 + 1e-9)
        case _:
            assert made.event.epsilon(delta=float(getattr(spend, "delta", 0))) <= 1 + 1e-9


def flat(event: Event) -> list[Event]:
    """The parts of a composition, each as often as it counts."""
    if isinstance(event, Composed):
        return [part for each in event.parts for part in flat(each)]
    if isinstance(event, Repeated):
        return flat(event.event) * event.times
    return [event]


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("relation", [COME_OR_GO, EXCHANGED])
@pytest.mark.parametrize("spend", [PURE, RHO], ids=["PureDP", "ZCDP"])
def test_all_records_of_a_person_are_hidden_for_the_price(
    spend: Guarantee, relation: str, records: int
) -> None:
    counts = np.array([9, 7, 5, 8, 6, 10, 7, 9, 6, 6, 8, 7])

    def build(paid: Guarantee, size: RecordCount, most: int) -> PrivBayes:
        return PrivBayes(**given(SMALL, spend=paid, size=size, records=most))

    noise = "DiscreteLaplace" if spend is PURE else "DiscreteGaussian"
    row = Row("PrivBayes", "", build, {noise: 0.99}, spend, counts=counts)
    check(row, relation, records)


class Unpaid(PrivBayes):
    """A twin that chooses without noise, and charges for its tables alone."""

    def selector(self, moved: int) -> Any:
        class Best:
            event = dp.events.Nothing()

            def release(self, scores: NDArray[np.float64]) -> int:
                return int(np.argmax(scores))

        return Best()


def audited(mechanism: PrivBayes, here: NDArray[np.int64], there: NDArray[np.int64]) -> Finding:
    def release(counts: NDArray[np.int64]) -> object:
        return mechanism.release(counts).conditionals[1].place

    return audit(
        repeated(release),
        here,
        there,
        epsilon=1,
        delta=0,
        events=LearnedEvents(outcome),
        trials=600,
        confidence=1 - 1e-6,
    )


@pytest.mark.audit
def test_the_claim_stands_and_that_of_a_twin_whose_choices_are_free_does_not() -> None:
    """One record decides whether b or c tells more about a."""
    here = np.zeros((2, 3, 2), dtype=np.int64)
    here[0, 0, 0] = here[1, 1, 1] = 5
    there = here.copy()
    there[0, 0, 0], there[0, 0, 1] = 4, 1
    here[0, 0, 0], here[0, 1, 0] = 4, 1
    size = PublicCount(10)
    assert audited(PrivBayes(**given(SMALL, size=size)), here, there).passes
    assert not audited(Unpaid(**given(SMALL, size=size)), here, there).passes
