"""A question asked again, with a larger spend, is answered better by both answers together."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
from discreet.release import (
    Estimate,
    LinearFormula,
    NoisyMeasure,
    Release,
    ReleasedColumn,
    combine,
    combine_columns,
    combine_releases,
)
from tests.release.examples import (
    COUNTS,
    POSITIVE,
    SUMS,
    count_column,
    counts,
    draws,
    estimate,
    made,
    mean_column,
    misses,
    quantile_column,
    wards,
)

SHARP = DiscreteLaplaceDistribution(scale=1, step=1)


def test_the_better_answer_weighs_more_and_both_beat_each() -> None:
    old, new = estimate(110, distribution=COUNTS), estimate(100, distribution=SHARP, release="r2")
    both = combine(old, new)
    assert 100 < both.value < 105
    assert both.std < min(old.std, new.std)
    assert both.std**-2 == pytest.approx(old.std**-2 + new.std**-2)
    assert both.value == pytest.approx(combine(new, old).value)


def test_the_interval_of_both_holds_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    old, new = estimate(0, distribution=COUNTS), estimate(0, distribution=SHARP, release="r2")
    both = combine(old, new)
    (_, one, _), (_, two, _) = both.terms
    noise = one * draws(COUNTS, 100_000, rng) + two * draws(SHARP, 100_000, rng)
    assert misses(np.abs(noise) <= both.half_width()) < 4


def test_what_is_known_exactly_wins_and_ranges_meet() -> None:
    exact = Estimate(100, within=(0, 200))
    both = combine(exact, Estimate(90, estimate(90).terms, (50, 300)))
    assert (both.value, both.half_width(), both.within) == (100, 0, (50, 200))


def test_dependent_estimates_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="estimates_not_independent"):
        combine(estimate(1), estimate(1) + estimate(2, 1))
    with pytest.raises(InvalidParameter, match="estimates_not_independent"):
        combine_columns(count_column(counts((1,))), count_column(counts((2,))), confidence=0.95)


def second() -> Release:
    """The question of ``wards`` again, with less noise."""
    n = counts((120, 80, 6), release="r2", distribution=SHARP)
    s = NoisyMeasure("r2", "s", SUMS, (-245.0, 300.5, -70.0))
    answers = (count_column(n), mean_column(s, n), quantile_column((42, 43, 44)))
    return made(answers, {"ward": ("A", "B", None)}, id="r2")


def count_in(release: Release, ward: str | None) -> Estimate:
    number = release.cell("n", ward=ward)
    assert isinstance(number, Estimate)
    return number


def test_releases_combine_row_by_row_whatever_their_order() -> None:
    both = combine_releases(wards(), second())
    turned = combine_releases(wards(), second().take([2, 0, 1]))
    assert turned.keys == {"ward": (None, "A", "B")}
    assert both.id == "r2"
    for ward in ("A", "B", None):
        better = combine(count_in(wards(), ward), count_in(second(), ward))
        assert count_in(both, ward) == count_in(turned, ward) == better
    assert both["median"].values == (42, 43, 44)


def test_a_combined_release_knows_the_draws_it_came_from() -> None:
    both = combine_releases(wards(), second())
    again = Release.from_json(both.to_json())
    assert again == both
    weight = count_in(both, "A").terms[0][1]
    rest = count_in(again, "A") - weight * count_in(wards(), "A")
    assert {atom.release for atom, _, _ in rest.terms} == {"r2"}


def test_combined_means_are_shorter() -> None:
    lengths = []
    for release in (wards(), second(), combine_releases(wards(), second())):
        low, high = release.cell("age", ward="A").interval()
        lengths.append(high - low)
    assert lengths[2] < min(lengths[:2])


def test_single_numbers_combine_too() -> None:
    one = made([count_column(counts((10,)))])
    two = made([count_column(counts((12,), release="r2"))], id="r2")
    assert float(combine_releases(one, two)) == 11


def test_other_questions_are_refused() -> None:
    n = counts((1, 2, 3), release="r2")
    others = (
        made([count_column(n)], {"ward": ("A", "B", "C")}, id="r2"),
        made([count_column(n)], {"site": ("A", "B", None)}, id="r2"),
    )
    for other in others:
        with pytest.raises(Mismatch, match="answers_differ"):
            combine_releases(wards(), other)
    shifted = ReleasedColumn.quotient(
        "age",
        LinearFormula(((1, n),)),
        LinearFormula(((1, n),), within=POSITIVE),
        offset=50.0,
        confidence=0.95,
    )
    with pytest.raises(Mismatch, match="answers_differ"):
        combine_columns(wards()["age"], shifted, confidence=0.95)
