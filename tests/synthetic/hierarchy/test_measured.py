"""Levels as they were measured are kept beside whole counts, which are biased as their law says."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import discreet as dp
from discreet.core.arrays import Floats
from discreet.errors import InvalidParameter
from discreet.mechanisms.distributions.cut_bias import cut_bias
from discreet.mechanisms.distributions.distribution import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
)
from discreet.noise.randomness import Noiseless, Seeded
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.workload import Workload
from discreet.synthetic.full_histogram import FullHistogram, HistogramModel
from discreet.synthetic.hierarchy import noisy_levels
from discreet.synthetic.hierarchy.cell_table import CellTable
from discreet.synthetic.hierarchy.levels import Hierarchy, Level
from discreet.synthetic.hierarchy.tables import level_counts, measured_counts
from discreet.synthetic.hierarchy.topdown import TopDown, ToyDown
from discreet.synthetic.model import model_from_dict
from tests.synthetic.hierarchy.towns import COUNTRY, PLACES, given, levels, people


def test_the_bias_of_cutting_off_is_the_printed_one() -> None:
    fine = RoundedLaplace(scale=1, step=2**-24)
    for truth, printed in ((0, 0.5), (1, 0.1839397), (2, 0.0676676)):
        assert cut_bias(fine, truth) == pytest.approx(printed, abs=1e-7)
    assert cut_bias(fine, -3) == pytest.approx(3 + np.exp(-3) / 2, abs=1e-7)
    sigma = RoundedGaussian(sigma=1000, step=0.125)  # strides
    assert cut_bias(sigma) == pytest.approx(1000 / np.sqrt(2 * np.pi), rel=1e-7)
    for scale in (0.2, 1.0, 40.0):
        share = np.exp(-1 / scale)
        for truth in (0, 1, 7):
            exact = share ** (truth + 1) / (1 - share**2)
            assert cut_bias(DiscreteLaplaceDistribution(scale, 1), truth) == pytest.approx(exact)


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplaceDistribution(2.5, 1),
        DiscreteGaussianDistribution(2.5, 1),
        RoundedLaplace(2.5, 0.5),
        RoundedGaussian(0.3, 1),
    ],
)
def test_the_bias_is_the_mean_over_the_law(law: Distribution) -> None:
    places: Floats = np.arange(-400, 401, dtype=np.float64) * law.step
    mass = np.subtract(law.above(places - law.step), law.above(places))
    for truth in (-1.25, 0.0, 0.3, 1.0, 4.0):
        mean = float(np.maximum(0, truth + places) @ mass) - truth
        assert cut_bias(law, truth) == pytest.approx(mean, abs=1e-9)


def test_the_measured_levels_are_the_data_and_their_noise() -> None:
    """Without noise they are exact sums; with it, beside whole counts that differ."""
    counts = people(COUNTRY)
    exact = TopDown(**given(randomness=Noiseless())).release(counts)
    by_town = measured_counts(levels(), exact, "town")
    for number, town in enumerate(PLACES.attributes[0].values):
        told = by_town[town,]
        assert told.measured == told.released == counts[:, number].sum()
        assert told.bias == 0
    made = TopDown(**given(epsilon=0.2))
    noisy = made.release(counts)
    differing = set()
    for name, noise in zip(levels().names, made.noises, strict=True):
        assert noise is not None
        for key, told in measured_counts(levels(), noisy, name).items():
            assert told.released == level_counts(levels(), noisy, name)[key]
            assert told.bias == told.released - told.measured
            differing.add(told.bias != 0)
            scale = noise.scale(size=1, kind=int)
            share = np.exp(-1 / scale)
            assert told.if_empty == pytest.approx(6 * share / (1 - share**2))
            assert told.deviation == pytest.approx(np.sqrt(6 * 2 * share) / (1 - share))
    assert True in differing


def test_measured_levels_have_no_bias_and_whole_counts_have() -> None:
    """400 releases of an empty country; means within five standard errors, each wrong 6e-7."""
    empty, runs = np.zeros(PLACES.shape, dtype=np.int64), 400
    made = TopDown(**given(PLACES, epsilon=1, randomness=Seeded(5)))
    told = [measured_counts(levels(), made.release(empty), "town") for _ in range(runs)]
    for town in told[0]:
        own = [each[town].measured for each in told]
        assert abs(np.mean(own)) < 5 * told[0][town].deviation / np.sqrt(runs)
    whole = np.array([[each[town].released for town in each] for each in told])
    moved = np.array([[each[town].bias for town in each] for each in told])
    assert whole.mean() > 0.1  # too high; below that of one count by itself, since sums are shared
    assert whole.mean() < told[0]["t0",].if_empty
    error = moved.std() / np.sqrt(moved.size / 8)  # at most the eight towns of a run go together
    assert abs(moved.mean() - whole.mean()) < 5 * error


def test_measured_levels_are_kept_and_read_again() -> None:
    for data in (people(COUNTRY), np.zeros(COUNTRY.shape, dtype=np.int64)):
        released = TopDown(**given(epsilon=0.1)).release(data)
        plain = json.loads(json.dumps(released.to_dict()))
        again = synopsis_from_dict(plain, COUNTRY, released.event)
        assert isinstance(again, CellTable)
        for name in levels().names:
            kept = measured_counts(levels(), again, name)
            assert kept == measured_counts(levels(), released, name)
        wrong: tuple[object, ...] = (
            "levels",
            [3],
            [{"counts": plain["levels"][0]["counts"]}],
            [{"law": {}}],
        )
        for broken in wrong:
            with pytest.raises(InvalidParameter, match="not_plain"):
                synopsis_from_dict({**plain, "levels": broken}, COUNTRY, released.event)
        del plain["levels"]  # as earlier versions wrote it
        old = synopsis_from_dict(plain, COUNTRY, released.event)
        assert level_counts(levels(), old, "town") == level_counts(levels(), released, "town")
        with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
            measured_counts(levels(), old, "town")


def test_levels_that_were_not_measured_or_are_too_large_are_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, *others = levels().levels
    unmeasured = Hierarchy((Level("nation", share=Fraction(0)), *others))
    counts = people(COUNTRY)
    with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
        measured_counts(
            unmeasured, TopDown(**given(hierarchy=unmeasured)).release(counts), "nation"
        )
    monkeypatch.setattr(noisy_levels, "MOST_CELLS", 24)
    released = TopDown(**given()).release(counts)
    assert [each is None for each in released.levels] == [False, False, False, True]
    assert measured_counts(levels(), released, first.name)
    with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
        measured_counts(levels(), released, "town")
    with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
        measured_counts(levels(), ToyDown(**given()).release(counts), "town")


def test_a_curator_s_release_shows_them_too() -> None:
    rows = {"town": np.array(["t1", "t1", "t6", "t0"] * 5)}
    columns = {"town": dp.Category(list(PLACES.attributes[0].values))}
    people_ = dp.table(rows, unit=dp.Row(), columns=columns, snapshot="1")
    curator = dp.Curator(people=people_, budget=dp.PureDP(epsilon=100), ledger=dp.ledger.Memory())
    universe = curator.universe("people", "town")
    workload = dp.queries.Workload.marginal(universe, ["town"])
    released = curator.synopsis(
        workload, mechanism=partial(TopDown, hierarchy=levels()), spend=dp.PureDP(epsilon=100)
    )
    assert measured_counts(levels(), released, "town")["t1",].measured == 10
    (column,) = released.table("town").answers
    assert "(cut off by itself, by " in column.note


def test_a_full_histogram_keeps_its_noisy_counts() -> None:
    made = FullHistogram(
        workload=Workload.marginal(COUNTRY, ["town"]),
        spend=dp.PureDP(epsilon=1),
        size=NoisyRecordCount(),
    )
    model = made.release(np.zeros(COUNTRY.shape, dtype=np.int64))
    assert model.measured is not None
    assert model.measured.counts.shape == (1, COUNTRY.size)
    assert (model.measured.counts < 0).any()
    expected = np.exp(-1) / (1 - np.exp(-2))  # geometric noise of scale one
    assert f"too high by {expected:.3g} on average" in model.biased
    again = model_from_dict(json.loads(json.dumps(model.to_dict())), COUNTRY, model.event)
    assert isinstance(again, HistogramModel)
    assert again.measured is not None
    assert np.array_equal(again.measured.counts, model.measured.counts)
    assert again.measured.law == model.measured.law
    plain = dict(model.to_dict())
    del plain["measured"]  # as earlier versions wrote it
    assert "too high on average" in model_from_dict(plain, COUNTRY, model.event).biased  # type: ignore[attr-defined]
