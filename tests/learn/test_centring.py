"""Where rows lie within their bounds: what it costs, what one row may move, what it is good for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import discreet as dp
from discreet import learn
from discreet.audit import LearnedEvents, audit, outcome, repeated
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.learn.box import Box
from discreet.learn.centring import Centre, Centring, _inside, _sums
from discreet.learn.privacy import Privacy
from discreet.noise import Noiseless

FEATURES = 3
UNITS = st.one_of(
    st.floats(-1, 1),
    st.sampled_from([-1.0, -0.5, -0.25, 0.0, 1 / 64, 0.5, np.nextafter(0.5, 1), 1.0]),
)
ROW = arrays(np.float64, FEATURES, elements=UNITS)
KINDS = [
    (learn.LogisticRegression, dp.PureDP(epsilon=1)),
    (learn.LogisticRegression, dp.ApproxDP(epsilon=1, delta=1e-6)),
    (learn.LogisticRegression, dp.ZCDP(rho=0.5)),
    (learn.LinearSVC, dp.PureDP(epsilon=1)),
    (learn.SoftmaxRegression, dp.ApproxDP(epsilon=1, delta=1e-6)),
    (learn.SoftmaxRegression, dp.ZCDP(rho=0.5)),
]


def with_one(rows: Floats) -> Floats:
    return np.hstack([rows, np.ones((len(rows), 1))])


def corner(rows: int, seed: int = 0) -> tuple[Floats, Any]:
    """Rows that crowd at one end of [0, 100], and labels that the small differences decide."""
    rng = np.random.default_rng(seed)
    x = rng.exponential(2, (rows, FEATURES))
    return x, (x @ [1, -1, 1] + rng.logistic(size=rows) / 4 > 2).astype(int)


def model(kind: Any = learn.LogisticRegression, spend: Any = None, **more: Any) -> Any:
    usual = {"spend": spend or dp.PureDP(epsilon=1), "unit": dp.Row(), "bounds": (0, 100)}
    return kind(**{**usual, "classes": [0, 1], **more})


@given(
    arrays(np.float64, st.tuples(st.integers(0, 5), st.just(FEATURES)), elements=UNITS), ROW, ROW
)
def test_one_row_moves_every_sum_by_at_most_one(rows: Floats, row: Floats, middle: Floats) -> None:
    fewer, more = with_one(rows), with_one(np.vstack([rows, row]))
    for added in (_sums(more) - _sums(fewer), _inside(more, middle) - _inside(fewer, middle)):
        assert (abs(added) <= 1 << 36).all()


def test_shares_are_those_of_numbers_within_each_width() -> None:
    rows = np.array([[0.5, 0.2, -1.0], [0.01, 0.0, 0.25]])
    share = np.array([(abs(rows) <= width).mean(axis=1) for width in 2.0 ** -np.arange(1, 7)])
    found = _inside(with_one(rows), np.zeros(3)) * 2.0**-36
    assert found.astype(float) == pytest.approx((2 * share - 1).sum(axis=1))


@pytest.mark.parametrize(("kind", "spend"), KINDS)
@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
def test_centring_and_coefficients_cost_the_spend_together(
    kind: Any, spend: Any, classes: list[int]
) -> None:
    x, y = corner(40)
    event = model(kind, spend, classes=classes).fit(x, y).event_
    match spend:
        case dp.PureDP(epsilon=epsilon):
            assert 0.999 * epsilon < event.epsilon(delta=0) <= epsilon
        case dp.ApproxDP(epsilon=epsilon, delta=delta):
            assert 0.5 * epsilon < event.epsilon(delta=delta) <= epsilon
        case dp.ZCDP(rho=rho):
            assert 0.5 * rho < event.zcdp().rho <= rho


def test_without_centring_bounds_are_as_declared_and_cost_nothing() -> None:
    x, y = corner(40)
    plain = model(centring=None).fit(x, y)
    assert (plain.bounds_ == [[0] * 3, [100] * 3]).all()
    assert (
        plain.event_
        == learn.ObjectivePerturbation(
            loss=learn.LogisticLoss(),
            rows=learn.Cube(4),
            ridge=1,
            privacy=Privacy.from_spend_and_unit(dp.PureDP(epsilon=1), dp.Row()),
        ).event
    )


def test_rows_in_a_corner_are_found_and_learnt_from() -> None:
    """The narrower bounds are missed, or learning is no better, with probability below 1e-6."""
    x, y = corner(4000)
    centred, plain = model().fit(x, y), model(centring=None).fit(x, y)
    low, high = centred.bounds_
    assert (low >= 0).all()
    assert (high < 40).all()
    assert centred.score(x, y) > plain.score(x, y) + 0.05


def test_where_noise_is_too_large_to_tell_bounds_stay() -> None:
    """With ten rows noise is three thousand times what it may be; thirty fits, all of them stay."""
    x, y = corner(10)
    for _ in range(30):
        found = model(spend=dp.PureDP(epsilon=0.01)).fit(x, y).bounds_
        assert (found == [[0] * 3, [100] * 3]).all()


def test_without_noise_the_middle_is_the_mean_and_the_width_holds_nine_of_ten() -> None:
    rows = np.random.default_rng(0).normal([-0.8, 0.2, 0.5], 0.05, (4000, FEATURES))
    privacy = Privacy(dp.PureDP(epsilon=100), dp.Row(), Noiseless())
    centre = Centring(privacy, FEATURES).find_centre(with_one(rows))
    assert centre.middle == pytest.approx(rows.mean(axis=0), abs=1e-3)
    assert centre.width == 1.5 / 8


def test_rows_beyond_the_width_are_cut() -> None:
    centre = Centre(np.array([0.5, -0.5]), 0.25)
    moved = centre.centre_rows(np.array([[0.625, 1.0, 1.0], [-1.0, -0.5, 1.0]]))
    assert moved.tolist() == [[0.5, 1.0, 1.0], [-1.0, 0.0, 1.0]]


def test_predictions_cut_rows_where_fitting_did() -> None:
    x, y = corner(4000)
    fitted = model(spend=dp.PureDP(epsilon=10)).fit(x, y)
    far = np.array([[90.0, 0, 0]])
    assert fitted.decision_function(far) == fitted.decision_function(fitted.bounds_[1:] * [1, 0, 0])


def test_models_written_before_there_was_centring_still_predict(tmp_path: Path) -> None:
    x, y = corner(100)
    plain = model(centring=None).fit(x, y)
    written = json.loads(plain.to_json())
    del written["parameters"]["centring"], written["fitted"]["bounds_"]
    (tmp_path / "old.json").write_text(json.dumps(written))
    old = learn.load(tmp_path / "old.json")
    assert (old.predict(x) == plain.predict(x)).all()


@pytest.mark.parametrize("share", [0, 1, -0.5, float("nan"), "much"])
def test_a_share_that_is_none_is_refused(share: Any) -> None:
    with pytest.raises(InvalidParameter):
        model(centring=share).fit(*corner(10))


class FreeOfCharge(Centring):
    """A twin whose noise is for what the rest of the spend was meant for: ten times too small."""

    @property
    def _noise(self) -> Any:
        assert isinstance(self.privacy.spend, dp.PureDP)
        spend = dp.PureDP(epsilon=10 * float(self.privacy.spend.epsilon))
        return Centring(Privacy(spend, self.privacy.unit), self.features)._noise


@pytest.mark.audit
def test_a_centre_keeps_its_claim_and_a_twin_with_too_little_noise_does_not() -> None:
    """A claim that is true is refuted with probability 1e-6; the honest audit refutes over 1.2."""
    few = with_one(np.full((1, 1), 0.25))
    pair = few, np.vstack([few, with_one(np.ones((1, 1)))])

    def finding(kind: Any, claim: float) -> Any:
        made = kind(Privacy(dp.PureDP(epsilon=claim), dp.Row()), 1)

        def release(rows: Floats) -> tuple[int, ...]:
            found = made.find_centre(rows)
            return (*np.floor(6 * found.middle).astype(int).tolist(), int(64 * found.width))

        events = LearnedEvents(outcome)
        return audit(
            repeated(release),
            *pair,
            epsilon=claim,
            delta=0,
            events=events,
            trials=4000,
            confidence=1 - 1e-6,
        )

    honest = finding(Centring, 8)
    assert honest.passes
    assert honest.lower_bound > 1.2
    assert not finding(FreeOfCharge, 2).passes


@pytest.mark.parametrize(
    "bounds", [(1, 1 + 2.0**-52), (1234567.1, 1234567.2), (-3.1, -3.1 + 1e-12)]
)
def test_close_bounds_far_from_zero_move_no_sum_by_more_than_one(bounds: Any) -> None:
    """Their middle is rounded, and an end was two units away from it."""
    units = Box.of(bounds, 1).units_and_one(np.array([[bounds[0]], [bounds[1]], [np.inf]]))
    for row in units:
        assert np.abs(_sums(row[None])).max() <= 2**36


def test_close_bounds_have_finite_coefficients() -> None:
    low, high = 1.0, 1 + 2.0**-52
    given: dict[str, Any] = {"bounds": (low, high), "classes": [0, 1], "unit": dp.Row()}
    model = learn.LogisticRegression(spend=dp.PureDP(epsilon=50), **given)
    model.fit(np.full((3000, 1), low), np.arange(3000) % 2)
    assert np.isfinite(model.decision_function([[low], [high]])).all()
    model.to_json()


@pytest.mark.parametrize("spend", [spend for _, spend in KINDS[:3]])
def test_a_share_of_next_to_nothing_is_refused_in_words(spend: Any) -> None:
    model = learn.LogisticRegression(
        spend=spend, unit=dp.Row(), bounds=(0, 1), classes=[0, 1], centring=1e-300
    )
    with pytest.raises(InvalidParameter, match="noise_beyond_grid"):
        model.fit(np.array([[0.5], [0.6]]), [0, 1])
