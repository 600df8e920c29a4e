"""Models that look several times, from a curator's budget: as in memory, and paid for before."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import learn
from discreet.core.errors import DiscreetError
from discreet.core.source import BoundedRows, FitsRows
from discreet.curator.budget import as_written
from discreet.curator.fit import FitRequest
from discreet.noise import Noiseless, Seeded
from discreet.relational.execute.table_rows import TableRows

RNG = np.random.default_rng(3)
N = 1200
X = RNG.integers(-8, 9, (N, 3)) / 8 * [1, 2, 3] + [0, 1, 2]  # on the grid of their bounds
HOLES = np.where(RNG.uniform(size=X.shape) < 0.05, np.nan, X)
STATE = np.where(X[:, 0] + X[:, 1] > 1, "sick", "fit")
STATE[::10] = "gone"
COST = np.clip(np.round(X[:, 1] + X[:, 2], 3), -2, 8)
FRAME = pl.DataFrame(
    {
        **{f"x{n}": pl.Series(HOLES[:, n]).fill_nan(None) for n in range(3)},
        "state": [None if n % 50 == 1 else str(each) for n, each in enumerate(STATE)],
        "cost": [None if n % 40 == 3 else each for n, each in enumerate(COST.tolist())],
        "id": np.arange(N) // 4,
    }
)
COLUMNS: dict[str, Any] = {
    "x0": dp.Number(-1, 1),
    "x1": dp.Number(-1, 3),
    "x2": dp.Number(-1, 5),
    "state": dp.Category(["sick", "fit", "gone"]),
    "cost": dp.Number(-2, 8),
}
PURE, DELTA = dp.PureDP(epsilon=10), dp.ApproxDP(epsilon=3, delta=1e-5)
LABELLED = "SELECT x0, x1, x2, state FROM people"
NUMBERED = "SELECT x0, x1, x2, cost FROM people"
ALONE = "SELECT x0, x1, x2 FROM people"
TWO: dict[str, Any] = {"classes": ["sick", "fit"]}
MODELS: dict[str, tuple[Any, str, str | None]] = {
    "logistic": (lambda: learn.LogisticRegression(**TWO), LABELLED, "state"),
    "several": (learn.LogisticRegression, LABELLED, "state"),
    "support": (lambda: learn.LinearSVC(**TWO), LABELLED, "state"),
    "softmax": (learn.SoftmaxRegression, LABELLED, "state"),
    "tree": (learn.DecisionTreeClassifier, LABELLED, "state"),
    "forest": (lambda: learn.RandomForestClassifier(4, **TWO), LABELLED, "state"),
    "lasso": (lambda: learn.Lasso(steps=5), NUMBERED, "cost"),
    "groups": (lambda: learn.KMeans(3, rounds=3), ALONE, None),
}
every_model = pytest.mark.parametrize("which", MODELS)


def curator(unit: Any = None, frame: pl.DataFrame = FRAME, **more: Any) -> dp.Curator:
    people = dp.table(frame, unit=dp.Row() if unit is None else unit, columns=COLUMNS)
    more = {"budget": dp.ApproxDP(epsilon=100, delta=1e-3), "ledger": dp.ledger.Memory(), **more}
    return dp.Curator(people=people, **more)


def spend_of(which: str) -> Any:
    return DELTA if which == "softmax" else PURE


def unlike(one: Any, other: Any) -> list[str]:
    """Fitted attributes that differ."""
    names = [
        n for n in vars(one) if n.endswith("_") and n not in {"facts_", "features_", "guarantee_"}
    ]
    return [n for n in names if str(getattr(one, n)) != str(getattr(other, n))]


@every_model
def test_a_fit_is_the_one_in_memory_on_the_same_rows(which: str) -> None:
    made, text, target = MODELS[which]
    here = curator(randomness=Seeded(7)).fit(made(), text, target=target, spend=spend_of(which))
    bounds, target_bounds = ([-1, -1, -1], [1, 3, 5]), (-2, 8)
    given = {"spend": spend_of(which), "unit": dp.Row(), "bounds": bounds, "randomness": Seeded(7)}
    if target == "cost":
        given["target_bounds"] = target_bounds
    if target == "state":
        given["classes"] = here.classes_.tolist()
    memory = made().set_params(**given)
    y = None if target is None else FRAME[target].to_numpy()
    assert unlike(here, memory.fit(HOLES, y)) == []
    assert here.features_ == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(here.predict(X), memory.predict(X))


@every_model
def test_the_price_is_known_before_and_paid_once(which: str) -> None:
    made, text, target = MODELS[which]
    source, spend = curator(), spend_of(which)
    ahead = source.preview_fit(made(), text, target=target, spend=spend)
    assert source.spent == curator().spent
    assert ahead.groups == ()
    assert ahead.known_ahead
    assert str(ahead).startswith(str(ahead.query))
    first = source.fit(made(), text, target=target, spend=spend)
    left = source.remaining
    assert first.event_ == ahead.event
    assert first.guarantee_ == as_written(spend).per(dp.Row())
    again = source.fit(made(), text, target=target, spend=spend)
    assert again.to_json() == first.to_json()
    assert source.remaining == left != curator().remaining
    assert source.history()[0].query.endswith(
        "from people" if target is None else f"to predict {target}"
    )


@every_model
def test_rows_are_read_after_the_charge_and_once(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, text, target = MODELS[which]
    source, fresh, reads = curator(), curator().remaining, list[Any]()
    real = TableRows.bounded_rows

    def read(self: TableRows) -> BoundedRows:
        reads.append(source.remaining)
        return real(self)

    monkeypatch.setattr(TableRows, "bounded_rows", read)
    asked = {"target": target, "spend": spend_of(which)}
    source.preview_fit(made(), text, **asked)
    assert reads == []
    source.fit(made(), text, **asked)
    assert len(reads) == 1
    assert reads[0] != fresh


@every_model
@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_row_are_fitted_as_well(which: str, rows: int) -> None:
    made, text, target = MODELS[which]
    source = curator(frame=FRAME[2 : 2 + rows])
    source.fit(made(), text, target=target, spend=spend_of(which))


@pytest.mark.parametrize(
    ("unit", "moved"),
    [
        (dp.Row(), 1),
        (dp.Replace(dp.Row()), 2),
        (dp.Person("id", max_rows=3), 3),
        (dp.Replace(dp.Person("id", max_rows=3)), 6),
    ],
    ids=str,
)
def test_noise_is_for_all_rows_of_a_unit(unit: Any, moved: int) -> None:
    model = learn.RandomForestClassifier(4, max_depth=3, **TWO)
    ahead = curator(unit).preview_fit(model, LABELLED, target="state", spend=PURE)
    seen: list[Any] = []

    class Looking(learn.KMeans):
        def fit_rows(self, privacy: Any, columns: Any, rows: Any) -> Any:
            def read() -> BoundedRows:
                seen.append((privacy.rows_that_differ, rows()))
                found: BoundedRows = seen[0][1]
                return found

            return super().fit_rows(privacy, columns, read)

    curator(unit).fit(Looking(2), ALONE, spend=PURE)
    ((said, rows),) = seen
    assert said == moved
    kept = N if moved <= 2 else N * 3 // 4
    assert len(rows.features) == kept
    alone = curator().preview_fit(model, LABELLED, target="state", spend=PURE)
    noise = "noise of each leaf's number of rows"
    assert (ahead.known_ahead[noise] > alone.known_ahead[noise]) == (moved > 1)


def test_rows_of_other_classes_are_left_out_and_labels_are_places() -> None:
    source = curator()
    asked = FitRequest.of(source.context, learn.LogisticRegression(**TWO), LABELLED, "state")
    assert isinstance(asked.estimator, FitsRows)
    assert isinstance(asked.source, TableRows)
    rows = asked._rows()
    named = [(FRAME["state"] == each).sum() for each in ("fit", "sick")]
    assert rows.target is not None
    assert np.bincount(rows.target).tolist() == named
    assert len(rows.features) == sum(named)


def test_joined_rows_of_a_person_are_bounded() -> None:
    unit = dp.Person("id", max_rows=2)
    homes = pl.DataFrame({"id": np.arange(N // 4), "far": np.arange(N // 4) % 5})
    source = dp.Curator(
        people=dp.table(FRAME, unit=unit, columns=COLUMNS),
        homes=dp.table(homes, unit=unit, columns={"far": dp.Number(0, 4)}),
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
    )
    text = "SELECT p.x0, h.far FROM people AS p JOIN homes AS h ON p.id = h.id"
    asked = FitRequest.of(source.context, learn.KMeans(2), text, None)
    assert len(asked._rows().features) == asked.source.records * N // 4
    assert source.fit(learn.KMeans(2), text, spend=PURE).cluster_centers_.shape == (2, 2)


def test_a_part_fits_to_its_own_rows() -> None:
    parts = curator().partition("people", by="state", budget=dp.PureDP(epsilon=20))
    asked = FitRequest.of(parts["sick"].context, learn.KMeans(2), ALONE, None)
    assert len(asked._rows().features) == (FRAME["state"] == "sick").sum()


def test_declared_rows_that_no_memory_holds_are_refused_for_nothing() -> None:
    people = dp.table(FRAME, unit=dp.Row(), columns=COLUMNS, rows_at_most=2**28 + 1)
    source = dp.Curator(people=people, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory())
    for call in (source.fit, source.preview_fit):
        with pytest.raises(DiscreetError, match="too_many_numbers"):
            call(learn.KMeans(2), ALONE, spend=dp.PureDP(epsilon=1))
    source.preview_fit(learn.PCA(), ALONE, spend=dp.PureDP(epsilon=1))
    assert source.remaining == dp.PureDP(epsilon=9, unit=dp.Row())


@pytest.mark.parametrize(
    ("model", "text", "target", "spend", "code"),
    [
        (learn.LogisticRegression(C=-1), LABELLED, "state", PURE, "C"),
        (learn.LogisticRegression(classes=["well", "sick"]), LABELLED, "state", PURE, "classes"),
        (learn.SoftmaxRegression(), LABELLED, "state", PURE, "pure|Gaussian|delta"),
        (learn.Lasso(steps=0), NUMBERED, "cost", PURE, "steps"),
        (learn.Lasso(), NUMBERED, None, PURE, "fit_columns"),
        (learn.KMeans(0), ALONE, None, PURE, "n_clusters"),
        (learn.KMeans(2), NUMBERED, "cost", PURE, "fit_columns"),
        (learn.DecisionTreeClassifier(max_depth=40), LABELLED, "state", PURE, "too_many_leaves"),
        (learn.GridSearch, ALONE, None, PURE, "not_from_moments"),
    ],
)
def test_what_cannot_be_fitted_is_refused_for_nothing(
    model: Any, text: str, target: str | None, spend: Any, code: str
) -> None:
    source = curator()
    for call in (source.fit, source.preview_fit):
        with pytest.raises(DiscreetError, match=code):
            call(model, text, target=target, spend=spend)
    assert source.remaining == curator().remaining


@pytest.mark.parametrize(
    ("model", "text", "target", "told"),
    [
        (learn.Lasso(), NUMBERED, None, "Name it as the target"),
        (learn.Lasso(), NUMBERED, "cots", "Did you mean cost?"),
        (learn.Lasso(), "SELECT cost FROM people", "cost", "at least one feature"),
        (learn.KMeans(2), NUMBERED, "cost", "Leave the target out"),
        (learn.KMeans(2), "SELECT * FROM people", None, "Write them out"),
        (learn.KMeans(2), "SELECT x0 + 1, x1 FROM people", None, "Name what is computed"),
        (learn.KMeans(2), "SELECT x0, x0 FROM people", None, "each column once"),
        (learn.KMeans(2), "SELECT x0, state FROM people", None, "Got 'state'"),
        (learn.KMeans(2), "SELECT x0, x1 > 0 AS high FROM people", None, "Got 'high'"),
        (learn.KMeans, ALONE, None, r"parentheses behind it: KMeans\(\)"),
        (learn.KMeans(2), FRAME, None, r"for model.fit\(X, y\)"),
        (learn.LogisticRegression(), ALONE, "x1", "list of classes: what may be in x1"),
    ],
)
def test_refusals_of_fits_say_which_column_and_what_to_write(
    model: Any, text: Any, target: str | None, told: str
) -> None:
    source = curator()
    for call in (source.fit, source.preview_fit):
        with pytest.raises(DiscreetError, match=told):
            call(model, text, target=target, spend=PURE)


def test_days_are_no_classes_and_cost_nothing() -> None:
    first = np.datetime64("2024-01-01", "D")
    frame = {"x": np.arange(9.0), "day": first + np.arange(9)}
    columns: dict[str, Any] = {
        "x": dp.Number(0, 9),
        "day": dp.Dates(date(2024, 1, 1), date(2024, 1, 9)),
    }
    people = dp.table(pl.DataFrame(frame), unit=dp.Row(), columns=columns)
    source = dp.Curator(people=people, budget=PURE, ledger=dp.ledger.Memory())
    with pytest.raises(DiscreetError, match="Make such of the target in the SELECT"):
        source.fit(
            learn.DecisionTreeClassifier(), "SELECT x, day FROM people", target="day", spend=PURE
        )
    assert source.remaining == dp.PureDP(epsilon=10, unit=dp.Row())


def test_a_preview_says_what_is_known_of_the_target() -> None:
    source = curator()
    ahead = source.preview_fit(learn.LogisticRegression(), LABELLED, target="state", spend=PURE)
    assert f"{len(ahead.classes)} classes: {', '.join(ahead.classes)}" in str(ahead)
    ahead = source.preview_fit(learn.Lasso(), NUMBERED, target="cost", spend=PURE)
    assert "target within {:g} to {:g}".format(*ahead.target_bounds or ()) in str(ahead)
    assert "target" not in str(source.preview_fit(learn.KMeans(2), ALONE, spend=PURE))


def test_an_estimator_of_ones_own_is_handed_rows_only_where_measurements_are_allowed() -> None:
    class Own(learn.KMeans):
        pass

    allowed = {"filter": [], "group": [], "aggregate": ["x0", "x1", "x2"]}
    policy = dp.Policy(tables={"people": allowed}, max_spend={"epsilon": 20})
    source = curator(policy=policy, budget=dp.PureDP(epsilon=40))
    source.fit(learn.KMeans(2), ALONE, spend=PURE)
    for call in (source.fit, source.preview_fit):
        with pytest.raises(DiscreetError, match="policy_measurement"):
            call(Own(2), ALONE, spend=PURE)


def test_what_fails_after_the_charge_says_nothing() -> None:
    class Failing(learn.KMeans):
        def _fitted(self, privacy: Any, rows: Any, target: Any = None) -> None:
            raise ValueError(rows[0])

    source = curator()
    with pytest.raises(DiscreetError, match="engine_failed") as caught:
        source.fit(Failing(2), ALONE, spend=PURE)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert source.remaining != curator().remaining


@pytest.mark.parametrize("which", [each for each in MODELS if each not in {"tree", "forest"}])
def test_without_noise_a_model_finds_what_is_there(which: str) -> None:
    made, text, target = MODELS[which]
    quiet = curator(randomness=Noiseless()).fit(made(), text, target=target, spend=spend_of(which))
    if target == "state":
        among = np.isin(STATE, quiet.classes_)
        assert quiet.score(X[among], STATE[among]) > (0.8 if len(quiet.classes_) == 2 else 0.5)
    elif target == "cost":
        assert quiet.score(X, COST) > 0.1
    else:
        assert np.unique(quiet.predict(X)).size == 3


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("id", max_rows=2)])
@pytest.mark.parametrize("label", ["x0 > 0.5", "CASE WHEN x0 > 0.5 THEN 'high' ELSE 'low' END"])
def test_labels_may_be_computed(unit: Any, label: str) -> None:
    text = f"SELECT x1, x2, {label} AS side FROM people"
    made = curator(unit).fit(learn.LogisticRegression(), text, target="side", spend=PURE)
    assert len(made.classes_) == 2


@pytest.mark.parametrize("made", [learn.LogisticRegression, learn.GaussianNB])
def test_labels_that_no_model_is_kept_with_are_refused_before_the_charge(made: Any) -> None:
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    frame = FRAME[:100].with_columns(day=pl.Series([days[n % 2] for n in range(100)]))
    columns = {**COLUMNS, "day": dp.Category(days)}
    table = dp.table(frame, unit=dp.Row(), columns=columns)
    source = dp.Curator(people=table, budget=PURE, ledger=dp.ledger.Memory())
    before = source.remaining
    for call in (source.preview_fit, source.fit):
        with pytest.raises(DiscreetError, match="classes_missing"):
            call(made(), "SELECT x0, day FROM people", target="day", spend=PURE)
    assert source.remaining == before


def test_a_clip_may_be_any_number() -> None:
    half: Any = Fraction(1, 2)
    model = learn.SoftmaxRegression(clip=half, steps=2)
    curator().fit(model, LABELLED, target="state", spend=DELTA)


def test_a_delta_paid_in_rho_buys_what_has_a_price_there() -> None:
    """With many features the noise of least deviation has none."""
    names = [f"y{n}" for n in range(150)]
    frame = FRAME[:20].with_columns(**dict.fromkeys(names, pl.col("x0")))
    columns = {**COLUMNS, **dict.fromkeys(names, dp.Number(-1, 1))}
    table = dp.table(frame, unit=dp.Row(), columns=columns)
    text = f"SELECT {', '.join(names)}, state FROM people"
    for share in (None, 0.2):
        source = dp.Curator(people=table, budget=dp.ZCDP(rho=9), ledger=dp.ledger.Memory())
        model = learn.LogisticRegression(**TWO, centring=share)
        source.fit(model, text, target="state", spend=dp.ApproxDP(epsilon=1, delta=1e-3))
