"""Bins that are paid for: a fixed number of them, whatever the data, and a price that adds up."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.accounting.zcdp import ZERO_CONCENTRATED
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
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.noise.randomness import Noiseless
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.families import Prefixes
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.full_histogram import FullHistogram
from discreet.synthetic.grouped_model import GroupedModel, stored_model
from discreet.synthetic.private_groups import BinGrouping, PrivateGroups

Cells = NDArray[np.int64]

UNIVERSE = Universe.of(x=range(13), s=range(2))
WORKLOAD = Workload.marginals(UNIVERSE, 2)
BINNED = partial(
    PrivateGroups,
    workload=WORKLOAD,
    mechanism=FullHistogram,
    groupings=(BinGrouping("x", 4, missing=True),),
)
COUNTS = np.stack([np.arange(13) * 10, np.arange(13)], axis=1)


@given(st.lists(st.integers(-50, 10**6), min_size=3, max_size=40), st.data())
def test_there_are_always_as_many_bins_as_promised(noisy: list[int], data: st.DataObject) -> None:
    groups = data.draw(st.integers(1, len(noisy) - 1))
    found = BinGrouping("x", groups, missing=False).chosen(np.array(noisy, float), 3.0)
    assert found.groups == groups
    assert (np.diff(found.group) >= 0).all()
    assert set(found.group) == set(range(groups))
    assert np.allclose(np.bincount(found.group, weights=found.share), 1)


def test_missing_values_stay_by_themselves() -> None:
    found = BinGrouping("x", 2, missing=True).chosen(np.array([1.0, 1, 1, 9]), 0.0)
    assert found.group.tolist()[-1] == 2
    assert found.group.max() == 2


def test_without_noise_bins_hold_about_equally_many_and_no_count_is_lost() -> None:
    made = BINNED(spend=PureDP(epsilon=1), randomness=Noiseless())
    model = made.release(COUNTS)
    bins = np.bincount(model.grouped["x"].group[:-1], weights=COUNTS.sum(axis=1)[:-1])
    assert bins.min() > 0.5 * bins.max()
    assert model.marginal(["s"]) == pytest.approx(COUNTS.sum(axis=0))
    assert model.marginal(["x"]).sum() == pytest.approx(COUNTS.sum())
    assert model.marginal(["s", "x"]).shape == (2, 13)
    rows = model.sample(2000)
    assert rows.shape == (2000, 2)
    shares = np.bincount(rows[:, 0], minlength=13) / 2000
    assert np.abs(shares - model.marginal(["x"]) / model.total).max() < 0.05


def test_a_grouped_model_is_the_same_after_it_was_stored() -> None:
    model = BINNED(spend=PureDP(epsilon=1)).release(COUNTS)
    again = stored_model(dict(model.to_dict()), UNIVERSE, model.event)
    assert isinstance(again, GroupedModel)
    assert (again.marginal(["x", "s"]) == model.marginal(["x", "s"])).all()


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("size", [NoisyRecordCount(), PublicCount(858)])
def test_the_price_is_that_of_the_bins_and_of_the_mechanism(
    size: NoisyRecordCount | PublicCount, records: int
) -> None:
    made = BINNED(spend=ZCDP(rho=1), size=size, records=records, share=Fraction(1, 4))
    assert ZERO_CONCENTRATED.price(made.noise.event) <= Fraction(1, 4)
    assert ZERO_CONCENTRATED.price(made.inner.event) <= Fraction(3, 4)
    assert made.event == made.noise.event + made.inner.event
    assert made.budget_split["bins"] == 0.25
    assert sum(made.budget_split.values()) == pytest.approx(1)
    # Noise for one column, all of a unit's records in one cell.
    assert made.noise.sensitivity == pytest.approx(records * size.changed_cells)


def test_two_columns_of_bins_share_the_noise() -> None:
    both = (BinGrouping("x", 4, missing=True), BinGrouping("y", 3, missing=False))
    universe = Universe.of(x=range(13), y=range(7))
    made = PrivateGroups(
        workload=Workload.marginals(universe, 2),
        mechanism=FullHistogram,
        groupings=both,
        spend=PureDP(epsilon=1),
    )
    assert made.noise.sensitivity == 2
    gaussian = PrivateGroups(
        workload=Workload.marginals(universe, 2),
        mechanism=FullHistogram,
        groupings=both,
        spend=ApproxDP(epsilon=0.1, delta=1e-6),
    )
    assert float(gaussian.noise.sensitivity) == pytest.approx(2**0.5)


def test_what_cannot_be_grouped_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"parameter_out_of_range.*'x'"):
        PrivateGroups(
            workload=WORKLOAD,
            mechanism=FullHistogram,
            groupings=(BinGrouping("x", 13, missing=False),),
            spend=PureDP(epsilon=1),
        )
    ranges = Workload.of(UNIVERSE, {"x": Prefixes(13)})
    with pytest.raises(InvalidParameter, match="workload_misfit"):
        PrivateGroups(
            workload=ranges,
            mechanism=FullHistogram,
            groupings=(BinGrouping("x", 4, missing=True),),
            spend=PureDP(epsilon=1),
        )


@dataclass(frozen=True)
class ExactBins(PrivateGroups):
    """A twin that chooses bins by exact counts; its claim is the same."""

    def chosen(self, counts: Cells) -> tuple[int, ...]:
        exactly = counts.sum(axis=1).astype(np.float64)
        return tuple(self.groupings[0].chosen(exactly, 0.0).group.tolist())


def bins_of(made: PrivateGroups, counts: Cells) -> tuple[int, ...]:
    if isinstance(made, ExactBins):
        return made.chosen(counts)
    return tuple(made.release(counts).grouped["x"].group.tolist())


def test_bins_from_exact_counts_are_caught() -> None:
    """A true claim is refuted with probability at most 1e-6."""
    terms: dict[str, Any] = {
        "workload": Workload.marginals(Universe.of(x=range(4), s=range(2)), 2),
        "mechanism": FullHistogram,
        "groupings": (BinGrouping("x", 2, missing=False),),
        "spend": PureDP(epsilon=1),
    }
    first = np.array([[3, 0], [0, 0], [3, 0], [0, 0]])
    second = np.array([[4, 0], [0, 0], [3, 0], [0, 0]])

    def auditor(made: PrivateGroups) -> Finding:
        return audit(
            repeated(lambda counts: bins_of(made, counts)),
            first,
            second,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=400,
            confidence=1 - 1e-6,
        )

    check_pair(
        BrokenTwin("bins", PrivateGroups(**terms), ExactBins(**terms), "exact counts"), auditor
    )
