"""Mean vectors from devices: the exact law of reports, their errors, and what is no number.

Statistical tests fail wrongly with a chance below 1e-6 each, by normal tails at six errors.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtr
from scipy.stats import chi2

from discreet import local
from discreet.core.errors import DiscreetError
from discreet.core.events.mechanisms import Pure
from discreet.local import client as device
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.client import Client, Refused
from discreet.local.directions import DEVIATION, byte_values, directions
from discreet.local.unit_vectors import PrivUnit, order_sums
from discreet.local.vectors import VectorMean, VectorRandomiser
from tests.local import javascript
from tests.local.enumeration import Followed, law, worst_ratio
from tests.local.examples import collection
from tests.local.test_channels import at_most_exp

EPSILONS = (Fraction(1, 10), Fraction(1), math.log(3), Fraction(4))


class CoarseMean(VectorMean):
    """Steps that are few enough to be followed one by one."""

    @property
    def steps(self) -> int:
        return 3


class CoarseUnit(PrivUnit):
    """The same, with five directions, two of them near."""

    _shape = (5, 2)

    @property
    def steps(self) -> int:
        return 3


def schema_of(randomiser: VectorRandomiser) -> str:
    """The schema of a coarse or broken one, under the name of an honest one."""
    honest = VectorMean(epsilon=randomiser.epsilon, dimensions=randomiser.dimensions)
    written = {**json.loads(collection(honest).schema), "oracle": randomiser.describe_randomiser()}
    return json.dumps(written)


def laws(randomiser: VectorRandomiser) -> dict[tuple[int, ...], dict[str, Fraction]]:
    """The law of every vector of steps."""
    reach = range(-randomiser.steps, randomiser.steps + 1)
    schema = schema_of(randomiser)
    return {
        vector: law(schema, list(vector))  # type: ignore[arg-type]
        for vector in product(reach, repeat=randomiser.dimensions)
    }


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", [CoarseMean, CoarseUnit])
def test_no_ratio_passes_exp_epsilon(
    kind: type[VectorRandomiser], epsilon: Fraction | float
) -> None:
    worst = worst_ratio(list(laws(kind(epsilon=epsilon, dimensions=2)).values()))
    assert at_most_exp(worst, Fraction(epsilon))
    assert math.log(worst) >= float(epsilon) * (1 - 1e-9) - 1e-9


def test_the_report_of_a_coordinate_is_unbiased_exactly() -> None:
    question = CoarseMean(epsilon=1, dimensions=2)
    scale = Fraction(WHOLE, 2 * question.keep - WHOLE) * 2
    for vector, told in laws(question).items():
        assert sum(told.values()) == 1
        mean = [Fraction(0), Fraction(0)]
        for report, chance in told.items():
            ((place, bit),) = json.loads(report)
            mean[place] += chance * scale * (2 * bit - 1)
        assert mean == [Fraction(step, 3) for step in vector]


def by_threshold(self: Client, oracle: dict[str, Any], steps: list[int]) -> list[int]:
    """The broken twin: a cap of fixed height, whose size depends on the vector."""
    seed = self._uniform(1 << 32)
    places = range(oracle["directions"])
    near = [place for place in places if device._score(seed, place, steps) > 1000]
    far = [place for place in places if place not in near]
    named = (near or far) if self._coin(oracle["keep"]) else (far or near)
    return [seed, named[self._uniform(len(named))]]


def test_a_cap_of_another_size_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(device._KINDS, "directions", by_threshold)
    found = list(laws(CoarseUnit(epsilon=1, dimensions=2)).values())
    keys = set().union(*found)
    worst = max(
        (max(each.get(key, 0) for each in found) or 1)
        / (min(each.get(key, Fraction(0)) for each in found) or Fraction(1, 1 << 64))
        for key in keys
    )
    assert not at_most_exp(Fraction(worst), Fraction(1))


class EvenOdds(CoarseUnit):
    """The broken twin: chances as if the cap were half of all directions."""

    @property
    def keep(self) -> int:
        return largest_chance(Fraction(self.epsilon))


def test_chances_that_forget_the_size_of_the_cap_are_caught() -> None:
    worst = worst_ratio(list(laws(EvenOdds(epsilon=1, dimensions=2)).values()))
    assert not at_most_exp(worst, Fraction(1))


@pytest.mark.parametrize(
    ("epsilon", "printed"), [(1, 633.004), (2, 161.668), (4, 43.5321), (8, 13.2913)]
)
def test_many_directions_have_the_error_of_the_catalogue(epsilon: int, printed: float) -> None:
    """The error of normal directions for 100 coordinates, to which ours falls as they grow."""
    question = PrivUnit(epsilon=epsilon, dimensions=100)
    errors = [100 / question._pull(n, question._best_cap(n)) ** 2 for n in (256, 1024, 2048)]
    assert errors[0] > errors[1] > errors[2] > printed
    assert errors[2] == pytest.approx(printed, rel=0.02)
    best = max(range(1, 64), key=lambda near: question._pull(64, near))
    assert question._best_cap(64) == best
    assert question.variance < printed * 1.07


def test_order_sums_are_those_of_normal_samples() -> None:
    draws = -np.sort(-np.random.default_rng(0).normal(size=(100_000, 9)), axis=1)[:, :4]
    first, second = order_sums(9, 4)
    for found, sums in ((first, draws.sum(axis=1)), (second, (draws**2).sum(axis=1))):
        assert abs(sums.mean() - found) < 6 * sums.std() / math.sqrt(100_000)
    assert order_sums(6, 6) == pytest.approx((0, 6), abs=1e-9)


def test_directions_are_nearly_normal() -> None:
    values = byte_values().astype(np.float64)
    second, fourth, sixth = ((values**power).mean() for power in (2, 4, 6))
    assert 4 * second == pytest.approx(DEVIATION**2, rel=1e-15)
    assert abs(fourth / second**2 - 3) < 1e-3
    assert abs(sixth / second**3 - 15 * fourth / second**2 + 30) < 1e-3
    made = directions(np.arange(60_000), np.arange(60_000) % 7, 3) / DEVIATION
    errors = math.sqrt(60_000)
    assert np.abs(made.mean(axis=0)).max() < 6 / errors
    assert np.abs((made.T @ made) / 60_000 - np.eye(3)).max() < 6 * math.sqrt(2) / errors


@pytest.mark.parametrize("epsilon", [0.1, 1, 2, 4, 6, 8])
def test_the_bias_along_one_coordinate_is_below_a_thousandth(epsilon: float) -> None:
    """From the exact law of a coordinate, whose difference from the normal one shows most there."""
    question = PrivUnit(epsilon=epsilon, dimensions=4)
    most = int(byte_values().max())
    law_of_one = np.zeros(2 * most + 1)
    np.add.at(law_of_one, byte_values() + most, 1 / 256)
    pair = np.convolve(law_of_one, law_of_one)
    chances = np.convolve(pair, pair)
    assert chances.sum() == pytest.approx(1)
    above = np.clip(chances[::-1].cumsum()[::-1] - chances / 2, 0, 1)
    values = np.arange(-4 * most, 4 * most + 1) / DEVIATION
    many, near = question.directions, question.near
    found = many * float((values * chances * bdtr(near - 1, many - 1, above)).sum())
    assert found == pytest.approx(order_sums(many, near)[0], rel=1e-3)


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize(
    "vector",
    [(1.0, 0, 0, 0), (0.5, -0.5, 0.5, 0.5), (0, -0.3, 0.2, 0), (0, 0, 0, 0), (9, -9, 9, 9)],
)
def test_unit_vectors_are_unbiased_and_err_as_stated(
    vector: tuple[float, ...], epsilon: int
) -> None:
    people = 12_000
    truth = np.clip(np.array(vector), -1, 1)
    truth = truth / max(1.0, float(np.linalg.norm(truth)))
    question = PrivUnit(epsilon=epsilon, dimensions=4)
    batch = question.privatize_many(np.tile(vector, (people, 1)))
    found = question.mean(question.aggregate(batch))
    assert np.abs((found.mean - truth) / found.standard_errors).max() < 6
    seeds, places = (batch.columns[name].astype(np.int64) for name in ("seed", "direction"))
    reports = directions(seeds, places, 4) * question.scale / DEVIATION
    squares = ((reports - truth) ** 2).sum(axis=1)
    length = float(truth @ truth)
    if length == pytest.approx(1):
        assert abs(squares.mean() - question.variance) < 6 * squares.std() / math.sqrt(people)
    spread = float((found.standard_errors**2).sum()) * people
    assert spread == pytest.approx(squares.mean(), rel=0.02)


def ranks(question: PrivUnit, steps: list[int], reports: list[tuple[int, int]]) -> list[int]:
    """Which place a named direction has among those of its seed."""
    found = []
    for seed, named in reports:
        scores = [device._score(seed, place, steps) for place in range(question.directions)]
        order = sorted(range(question.directions), key=lambda k: (-scores[k], k))
        found.append(order.index(named))
    return found


def test_clients_and_reports_drawn_together_have_one_law() -> None:
    """Ranks of a vector of length 1: both have the chances that follow from ``keep``."""
    question = PrivUnit(epsilon=2, dimensions=2)
    steps, people = [1 << 20, 0], 600
    asked = collection(question)
    single = [json.loads(asked.client().privatize([1, 0]))["report"] for _ in range(people)]
    batch = question.privatize_many(np.tile([1.0, 0.0], (people, 1)))
    together = list(
        zip(batch.columns["seed"].tolist(), batch.columns["direction"].tolist(), strict=True)
    )
    edges = [0, question.near // 2, question.near, (question.near + 64) // 2, 64]
    chances = np.diff(edges) * np.repeat(
        [question.keep / WHOLE / question.near, (1 - question.keep / WHOLE) / (64 - question.near)],
        2,
    )
    for reports in (single, together):
        counts = np.histogram(ranks(question, steps, reports), bins=edges)[0]
        statistic = float(((counts - people * chances) ** 2 / (people * chances)).sum())
        assert statistic < chi2.isf(1e-7, 3)


def test_vectors_by_one_coordinate() -> None:
    question = VectorMean(epsilon=1, dimensions=10)
    generator = np.random.default_rng(5)
    centre = np.linspace(-0.9, 0.9, 10)
    rows = centre + generator.uniform(-0.1, 0.1, (100_000, 10))
    found = question.mean(question.aggregate(question.privatize_many(rows)))
    gaps = (found.mean - np.clip(rows, -1, 1).mean(axis=0)) / found.standard_errors
    assert np.abs(gaps).max() < 6
    assert (found.standard_errors.mean() ** 2) * 100_000 == pytest.approx(46.83, rel=0.05)
    assert question.event == Pure(epsilon=1)
    for bad in (np.zeros((3, 2)), np.zeros(10)):
        with pytest.raises(DiscreetError, match="local_vectors"):
            question.privatize_many(bad)
    with pytest.raises(DiscreetError, match="local_dimensions"):
        VectorMean(epsilon=1, dimensions=1 << 17)


ODD = [0.25, math.nan, math.inf, -math.inf, 1e300, -7, None, "1", True, 2**-21]


@pytest.mark.parametrize("kind", [VectorMean, PrivUnit])
def test_no_number_of_a_person_is_refused(kind: type[VectorRandomiser]) -> None:
    """A refusal would tell it: NaN and what is no number count as 0, others are clamped."""
    question = kind(epsilon=1, dimensions=len(ODD))
    one = 1 << 20
    expected = [one // 4, 0, one, -one, one, -one, 0, 0, 0, 1]
    asked = collection(question)
    assert Followed(asked.schema, (), None)._index(ODD) == expected
    numbers = [math.nan if isinstance(each, str | bool) or each is None else each for each in ODD]
    assert question.stepped([numbers]).tolist() == [expected]
    reports = [asked.client().privatize(ODD)]
    script = f"""
    const odd = [0.25, NaN, Infinity, -Infinity, 1e300, -7, null, "1", true, 2 ** -21];
    const client = new discreetLocal.Client(given);
    process.stdout.write(JSON.stringify([client.index(odd), client.privatize(odd)]));
    {"" if kind is PrivUnit else "client.privatize(new Float64Array(10));"}
    """
    steps, report = javascript.node(javascript.SOURCE + script, asked.schema)
    assert steps == expected
    collector = local.Collector(asked)
    assert collector.take([*reports, report]) == 2
    assert question.mean(collector.tally).mean.shape == (10,)
    with pytest.raises(DiscreetError, match="local_no_shares"):
        collector.estimate()


@pytest.mark.parametrize("wrong", [[1.0], [1.0] * 3, "ab", 1, None])
def test_another_number_of_coordinates_is_refused_by_both_clients(wrong: Any) -> None:
    schema = collection(VectorMean(epsilon=1, dimensions=2)).schema
    with pytest.raises(Refused, match="local_value_outside"):
        Client(schema).privatize(wrong)
    script = """
    let code = "none";
    try { new discreetLocal.Client(given[0]).privatize(given[1]); }
    catch (error) { code = error.code; }
    process.stdout.write(JSON.stringify(code));
    """
    assert javascript.node(javascript.SOURCE + script, [schema, wrong]) == "local_value_outside"


@pytest.mark.parametrize("kind", [VectorMean, PrivUnit])
def test_schemas_of_vectors_are_made_again_and_never_memoised(
    kind: type[VectorRandomiser],
) -> None:
    asked = collection(kind(epsilon=1, dimensions=7))
    assert local.Collection.from_schema(asked.schema).schema == asked.schema
    with pytest.raises(DiscreetError, match="local_vector_memory"):
        collection(kind(epsilon=1, dimensions=7), memoised=True)
    document = json.loads(asked.schema)
    document["domain"] = {"vector": 8}
    with pytest.raises(DiscreetError, match="local_schema_unreadable"):
        local.Collection.from_schema(json.dumps(document))


def test_bad_reports_are_counted_and_left_out() -> None:
    for question, good, bad in (
        (VectorMean(epsilon=1, dimensions=3), [2, 1], ([3, 1], [0, 2], [0], [-1, 0], [True, 0])),
        (PrivUnit(epsilon=1, dimensions=3), [5, 63], ([5, 64], [1 << 32, 0], [0.5, 1], "x")),
    ):
        assert question.read_report_columns(good) is not None
        assert [question.read_report_columns(each) for each in bad] == [None] * len(bad)
        batch, rejected = question.batch([good, *bad])
        assert (batch.people, rejected) == (1, len(bad))
        assert question.aggregate(batch).people == 1
