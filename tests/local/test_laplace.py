"""Noise that each person adds: the exact law, the device's check, and the mean.

Statistical tests fail wrongly with a chance below 1e-6 each.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from discreet import local
from discreet.core.errors import DiscreetError
from discreet.core.events.mechanisms import Pure
from discreet.local.chances import WHOLE
from discreet.local.client import Client, Refused
from tests.local import javascript
from tests.local.enumeration import law, worst_ratio
from tests.local.examples import collection
from tests.local.test_channels import at_most_exp

EPSILONS = (Fraction(1, 10), Fraction(1), math.log(3), Fraction(4), Fraction(32))


class CoarseLaplace(local.LaplaceMean):
    """A range so short that all coins of its client can be followed."""

    @property
    def _tail(self) -> int:
        return 1


def schema_of(question: local.LaplaceMean, **changes: Any) -> str:
    """The schema of a coarse or broken one, under the name of an honest one."""
    honest = local.LaplaceMean(epsilon=question.epsilon, domain=question.domain)
    written = {
        **json.loads(collection(honest).schema),
        "oracle": question.describe_randomiser() | changes,
    }
    return json.dumps(written)


def chances_of_noise(question: local.LaplaceMean) -> tuple[dict[int, int], int]:
    """The chance of every noise by its definition, and what all of them are over."""
    sizes = {0: 1}
    for place, digit in enumerate(question.digits):
        sizes = {
            size + (bit << place): chance * (digit if bit else WHOLE - digit)
            for size, chance in sizes.items()
            for bit in (0, 1)
        }
    low, unit, found = sizes, 1 << len(question.digits), {}
    for lead in range(question.coins + 1):
        tails = WHOLE - question.more if lead < question.coins else 1
        after = question.coins - lead - (lead < question.coins)
        led = question.more**lead * tails * WHOLE**after
        found.update({1 + size + lead * unit: led * chance for size, chance in low.items()})
    over = 2 * WHOLE ** (1 + len(question.digits) + question.coins)
    noise = {sign * size: question.noise * each for size, each in found.items() for sign in (1, -1)}
    return noise | {0: over - sum(noise.values())}, over


def told(question: local.LaplaceMean, value: int) -> tuple[list[int], int]:
    """The chance of every report, and what all of them are over."""
    noise, over = chances_of_noise(question)
    found = [0] * question.places
    for each, chance in noise.items():
        found[max(0, min(value + each + question.reach, question.places - 1))] += chance
    return found, over


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("domain", [2, 3, 5])
def test_the_client_has_the_law_that_is_computed(epsilon: Any, domain: int) -> None:
    question = CoarseLaplace(epsilon=epsilon, domain=min(domain, 2 if epsilon < 1 else 5))
    laws = []
    for value in range(question.size):
        laws.append(law(schema_of(question), value))
        found, over = told(question, value)
        assert laws[-1] == {
            json.dumps([place]): Fraction(chance, over) for place, chance in enumerate(found)
        }
    worst = worst_ratio(laws)
    assert at_most_exp(worst, Fraction(epsilon))
    assert math.log(worst) >= float(epsilon) * (1 - 1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("domain", [2, 7])
def test_no_ratio_passes_exp_epsilon(epsilon: Any, domain: int) -> None:
    """Over all reports: neighbours tell no more than a step, and the ends of the domain epsilon."""
    question = local.LaplaceMean(epsilon=epsilon, domain=domain)
    laws = [told(question, value)[0] for value in range(domain)]
    step = question.step
    for one, two in pairwise(laws):
        assert all(min(a, b) * WHOLE >= max(a, b) * step > 0 for a, b in zip(one, two, strict=True))
    steps = Fraction(WHOLE, step) ** (domain - 1)
    assert at_most_exp(steps, Fraction(epsilon))
    assert not at_most_exp(Fraction(WHOLE, step - 1) ** (domain - 1), Fraction(epsilon))
    worst = max(Fraction(a, b) for a, b in zip(laws[0], laws[-1], strict=True))
    assert worst <= steps
    assert math.log(worst) >= float(epsilon) * (1 - 1e-6)


class NoiseOfOneStep(CoarseLaplace):
    """The broken twin: noise as if any two values were one apart."""

    @property
    def _fall(self) -> Fraction:
        return Fraction(self.epsilon)


class StepRoundedDown(CoarseLaplace):
    """The broken twin: by less than 2**-64, which is too much."""

    @cached_property
    def step(self) -> int:
        return local.LaplaceMean(epsilon=self.epsilon, domain=self.domain).step - 1


@pytest.mark.parametrize(("broken", "domain"), [(NoiseOfOneStep, 3), (StepRoundedDown, 2)])
def test_broken_twins_are_caught(broken: type[local.LaplaceMean], domain: int) -> None:
    question = broken(epsilon=1, domain=domain)
    laws = [law(schema_of(question), value) for value in range(domain)]
    assert not at_most_exp(worst_ratio(laws), Fraction(1))
    assert refusals([schema_of(question)]) == [["local_schema_chances"]] * 2


@pytest.mark.parametrize(("epsilon", "domain"), [(Fraction(1, 10), 4), (1, 2), (4, 40), (32, 40)])
def test_the_noise_has_the_mean_and_the_deviation_that_are_stated(
    epsilon: Any, domain: int
) -> None:
    question = local.LaplaceMean(epsilon=epsilon, domain=domain)
    for value in (0, domain - 1):
        found, over = told(question, value)
        assert sum(found) == over
        places = [(place - question.reach - value, chance) for place, chance in enumerate(found)]
        bias = Fraction(sum(each * chance for each, chance in places), over)
        assert abs(bias) < math.exp(-45) * question.deviation
        variance = float(Fraction(sum(each**2 * chance for each, chance in places), over))
        assert variance == pytest.approx(question.deviation**2, rel=1e-9)
    fall = float(epsilon) / (domain - 1)
    ideal = math.sqrt(2 * math.exp(-fall)) / -math.expm1(-fall)
    assert question.deviation == pytest.approx(ideal, rel=1e-6)


@pytest.mark.parametrize("value", [0, 2])
def test_reports_drawn_together_have_the_law_of_the_client(value: int) -> None:
    question = local.LaplaceMean(epsilon=3, domain=3)
    found, over = told(question, value)
    expected = np.array([40_000 * float(Fraction(chance, over)) for chance in found])
    drawn = question.privatize_many(np.full(40_000, value)).columns["place"]
    counts = np.bincount(drawn, minlength=question.places)
    often = expected > 10
    pairs = [*zip(counts[often], expected[often], strict=True)]
    pairs.append((counts[~often].sum(), expected[~often].sum()))
    assert len(pairs) > 8
    statistic = sum((count - mean) ** 2 / mean for count, mean in pairs)
    assert statistic < chi2.isf(1e-10, len(pairs) - 1)


def test_every_coin_is_drawn_whatever_the_others_show() -> None:
    """As many words for small noise as for large."""
    drawn: list[int] = []

    class Counted(Client):
        def _bytes(self, count: int) -> bytes:
            drawn.append(count)
            return super()._bytes(count)

    question = local.LaplaceMean(epsilon=1, domain=1001)
    device = Counted(collection(question).schema)
    reports = {device._payload(500) for _ in range(100)}
    assert len(reports) > 50
    assert set(drawn) == {8 * (2 + len(question.digits) + question.coins)}


def refusals(schemas: list[str]) -> list[list[str]]:
    """What both clients say of schemas."""

    def outcome(schema: str) -> str:
        try:
            Client(schema)
        except Refused as refusal:
            return refusal.code
        return "taken"

    script = """
    const found = given.map((schema) => {
      try { new discreetLocal.Client(schema); return "taken"; } catch (error) { return error.code; }
    });
    process.stdout.write(JSON.stringify(found));
    """
    return [
        [outcome(each) for each in schemas],
        javascript.node(javascript.SOURCE + script, schemas),
    ]


SHAPES = [
    (1, 2),
    (1, 3),
    (Fraction(1, 10), 1001),
    (32, 1000),
    (4, 1 << 22),
    (Fraction(1, 1 << 25), 2),
]


@pytest.mark.parametrize(("epsilon", "domain"), SHAPES)
def test_chances_that_tell_more_than_epsilon_are_refused_on_the_device(
    epsilon: Any, domain: int
) -> None:
    """One step of 2**-64 is enough, wherever it is; so are noise too rare and too frequent."""
    question = local.LaplaceMean(epsilon=epsilon, domain=domain)
    short = domain >> len(question.digits)  # then no report lies beyond the domain
    bad: list[dict[str, Any]] = [{"size": domain + 1}, {"size": domain - 1}, {"coins": short}]
    bad += [{"digits": [*map(str, question.digits), str(1 << 63)]}, {"digits": ["1"] * 32}]
    for name in ("step", "noise", "more"):
        right = getattr(question, name)
        for wrong in (right - 1, 0, 1, WHOLE - 1, WHOLE, WHOLE + 1, -1):
            bad.append({name: str(wrong)})
    for place, right in enumerate(question.digits):
        for wrong in (right - 1, 0, WHOLE - 1, WHOLE):
            digits = [str(digit) for digit in question.digits]
            digits[place] = str(wrong)
            bad.append({"digits": digits})
    changed = [schema_of(question, **each) for each in bad]
    found = refusals([schema_of(question), *changed])
    assert found == [["taken", *["local_schema_chances"] * len(changed)]] * 2


def test_a_domain_beyond_what_is_asked_is_refused_on_the_device() -> None:
    document = json.loads(schema_of(local.LaplaceMean(epsilon=1, domain=9)))
    for domain in ({"size": 10}, {"text": True}, {"vector": 9}):
        found = refusals([json.dumps({**document, "domain": domain})])
        assert found == [["local_schema_chances"]] * 2


def test_the_mean_is_found_from_reports_of_devices() -> None:
    question = local.LaplaceMean(epsilon=2, domain=11)
    asked = collection(question)
    assert local.Collection.from_schema(asked.schema).schema == asked.schema
    device, collector = asked.client(), local.Collector(asked)
    values = [0, 3, 10, 10] * 500
    collector.take([device.privatize(value) for value in values])
    assert collector.rejected.total == 0
    found = question.mean(collector.tally)
    assert found.standard_error == question.deviation / len(values) ** 0.5
    assert abs(found.mean - np.mean(values)) < 6 * found.standard_error
    halves = [question.aggregate(question.privatize_many([each] * 10)) for each in (0, 10)]
    assert (halves[0] + halves[1]).people == 20
    with pytest.raises(DiscreetError, match="local_mean_only"):
        question.estimate(halves[0])


def test_reports_that_no_device_sends_are_left_out() -> None:
    question = local.LaplaceMean(epsilon=2, domain=11)
    bad = [-1, question.places, 1.0, "1", True, None, [1]]
    batch, left = question.batch([0, question.places - 1, *bad])
    assert left == len(bad)
    assert question.aggregate(batch).table.tolist() == [question.places - 1]
    wide = local.ReportBatch({"place": np.array([0, question.places], dtype=np.uint32)})
    assert question.aggregate(wide).people == 1


@pytest.mark.parametrize(
    ("domain", "epsilon", "code"),
    [
        (1, 1, "not_a_count"),
        (["no", "yes"], 1, "local_laplace_numbers"),
        (local.ANY_TEXT, 1, "local_laplace_numbers"),
        (100_000_000, 1, "local_laplace_range"),
        (2, 2**-30, "local_laplace_range"),
        (2, 33, "local_epsilon_range"),
    ],
)
def test_refusals(domain: Any, epsilon: Any, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        local.LaplaceMean(epsilon=epsilon, domain=domain)
    assert refusal.value.code == code


def test_any_number_of_a_person_is_told_as_one_of_the_domain() -> None:
    question = local.LaplaceMean(epsilon=1, domain=5)
    given = [np.nan, np.inf, -np.inf, -7, 2.4, 1e300]
    assert question.nearest(given).tolist() == [0, 4, 0, 0, 2, 4]
    assert question.event == Pure(epsilon=1)
    reports = local.LaplaceMean(epsilon=32, domain=5).privatize_many(np.full(500, 1e9))
    assert reports.columns["place"].max() < 5 + 2 * local.LaplaceMean(epsilon=32, domain=5).reach
