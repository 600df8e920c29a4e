"""One program, asked of a curator here and of one at a service: the same shapes, types and errors.

Noise differs; everything else must not. Each program returns what is public about its answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.client import RemoteCurator
from discreet.core.errors import DiscreetError
from discreet.curator.session import Session
from discreet.queries import Workload
from discreet.release import Release
from tests.client.programs import BY_AGE, BY_WARD, COUNT, OLD, UNIVERSE, at_service, here
from tests.server.running_service import RunningService

pytestmark = pytest.mark.xdist_group("server")
BUDGET = dp.PureDP(epsilon=200)
AGES = "SELECT age, 3 * age AS old FROM visits"
Curators = tuple[Session, RemoteCurator]


@pytest.fixture(scope="module")
def curators(
    running_service: RunningService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Curators]:
    local = here(tmp_path_factory.mktemp("here"), BUDGET)
    yield local, at_service(running_service.analyst(BUDGET))
    local.context.database.close()
    local.ledger.close()


def shape(release: Release) -> dict[str, Any]:
    """All of a release but its numbers and its name."""
    frame = release.to_polars()
    return {
        "type": type(release),
        "columns": release.columns,
        "keys": release.keys,
        "schema": dict(frame.schema),
        "pandas": list(map(str, release.to_pandas().dtypes)),
        "arrow": release.to_arrow().schema,
        "query": release.query,
        "guarantee": release.guarantee,
        "event": release.event,
        "confidence": release.confidence,
        "statement": {
            name: sorted(fact) if name == "left_out" else fact  # noisy numbers
            for name, fact in release.statement.items()
            if name != "budget_is_a_share"  # of the whole, where it is the service's
        },
        "intervals": [type(answer.interval) for answer in release.answers],
        "notes": [answer.note for answer in release.answers],
        "left_out": None if release.left_out is None else shape(release.left_out),
    }


def same(curators: Curators, program: Callable[[Any], Any]) -> Any:
    local, remote = (program(curator) for curator in curators)
    assert local == remote
    return remote


def test_a_question_has_the_same_columns_types_price_and_statement(curators: Curators) -> None:
    told = same(curators, lambda c: shape(c.sql(BY_WARD, spend=dp.PureDP(epsilon=0.5))))
    assert told["columns"][:4] == ("ward", "n", "n_lower", "n_upper")


def test_an_accuracy_is_bought_at_the_same_price(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        wanted = {"accuracy": {"n": dp.Within(30, confidence=0.9)}, "at_most": dp.PureDP(epsilon=5)}
        ahead = curator.preview(COUNT, **wanted)
        before = float(curator.remaining.epsilon)
        told = curator.sql(COUNT, **wanted)
        paid = round(before - float(curator.remaining.epsilon), 9)
        return shape(told), round(float(ahead.price.epsilon), 9), paid

    _, price, paid = same(curators, program)
    assert price == paid


def test_a_preview_is_the_same_value(curators: Curators) -> None:
    spend = dp.PureDP(epsilon=0.25)
    told = same(curators, lambda c: c.preview(BY_WARD, spend=spend, confidence=0.9))
    assert told["n"].half_width > 0
    same(curators, lambda c: str(c.preview(BY_WARD, spend=spend)))


def test_what_limits_left_out_comes_along(curators: Curators) -> None:
    wanted = dp.LeftOut(share=0.2, rows_at_most=5)
    spend = dp.PureDP(epsilon=1)
    told = same(curators, lambda c: shape(c.sql(COUNT, spend=spend, left_out=wanted)))
    assert told["left_out"] is not None


def test_a_batch_has_the_same_answers_by_name(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        asked = {"total": COUNT, "by_ward": BY_WARD}
        batch = curator.batch(asked, spend=dp.PureDP(epsilon=1), importance={"total": 2})
        parts = (batch.guarantee, batch.event, type(batch), list(batch.unprocessed))
        return {name: shape(each) for name, each in batch.items()}, parts

    same(curators, program)


def test_a_frame_asks_for_the_same(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        frame = curator.frame("visits").filter(dp.col("age") > 20).group_by("ward")
        return shape(frame.agg(n=dp.count()).release(spend=dp.PureDP(epsilon=0.5)))

    same(curators, program)


def test_a_synopsis_is_made_and_answers_freely(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        universe = curator.universe(*UNIVERSE, **OLD)
        workload = Workload.marginals(universe, 1)
        spend = dp.PureDP(epsilon=1)
        make = dp.queries.MarginalMechanism
        ahead = curator.preview(workload, mechanism=make, spend=spend)
        made = curator.synopsis(workload, mechanism=make, spend=spend)
        left = curator.remaining
        tables = [shape(made.table("ward")), shape(made.table("old"))]
        free = len(made.answers(workload)), curator.remaining == left
        return universe, str(ahead), ahead, type(made), made.query, made.rmse, tables, free

    universe, *_ = same(curators, program)
    assert universe.names == ("ward", "old")


def test_mechanisms_and_marginals_of_ones_choice(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        universe = curator.universe("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
        workload = Workload.union(
            Workload.marginal(universe, []), Workload.marginal(universe, ["ward"])
        )
        sized = partial(dp.queries.MWEM, rounds=2, size=dp.queries.NoisyRecordCount())
        made = [
            curator.preview(workload, mechanism=make, spend=dp.PureDP(epsilon=1))
            for make in (dp.queries.best_mechanism, dp.queries.MatrixMechanism, sized)
        ]
        return universe, made

    same(curators, program)


MODELS: dict[str, tuple[Callable[[], Any], str, str | None]] = {
    "linear": (lambda: learn.LinearRegression(target_bounds=(0, 90)), AGES, "age"),
    "ridge": (lambda: learn.Ridge(alpha=0.5, bounds=np.array([[0], [300]])), AGES, "age"),
    "naive bayes": (learn.GaussianNB, BY_AGE, "ward"),
    "of two classes": (lambda: learn.GaussianNB(classes=["surgery", "medicine"]), BY_AGE, "ward"),
    "pca": (lambda: learn.PCA(1, bounds=([0, 0], (90, 300))), AGES, None),
    "scaler": (learn.StandardScaler, AGES, None),
    "imputer": (learn.SimpleImputer, AGES, None),
    "logistic": (lambda: learn.LogisticRegression(C=2), BY_AGE, "ward"),
    "not centred": (lambda: learn.LogisticRegression(centring=None), BY_AGE, "ward"),
    "support": (lambda: learn.LinearSVC(classes=["surgery", "medicine"]), BY_AGE, "ward"),
    "as declared": (lambda: learn.LogisticRegression(centring=None), BY_AGE, "ward"),
    "lasso": (lambda: learn.Lasso(radius=0.5, steps=3, target_bounds=(0, 90)), AGES, "age"),
    "groups": (lambda: learn.KMeans(2, rounds=2), AGES, None),
    "tree": (lambda: learn.DecisionTreeClassifier(max_depth=2), BY_AGE, "ward"),
    "forest": (lambda: learn.RandomForestClassifier(3, max_depth=2), BY_AGE, "ward"),
}


@pytest.mark.parametrize(("model", "text", "target"), MODELS.values(), ids=MODELS)
def test_models_are_fitted_and_previewed_alike(
    curators: Curators, model: Callable[[], Any], text: str, target: str | None
) -> None:
    def program(curator: Any) -> Any:
        asked: dict[str, Any] = {"target": target, "spend": dp.PureDP(epsilon=2)}
        before = curator.remaining
        ahead = curator.preview_fit(model(), text, **asked)
        assert curator.remaining == before
        given = model()
        made = curator.fit(given, text, **asked)
        left = curator.remaining
        again = curator.fit(model(), text, **asked)
        assert made is given
        assert again.to_json() == made.to_json()
        assert curator.remaining == left
        document = json.loads(made.to_json())
        fitted = {name: np.shape(getattr(made, name)) for name in document["fitted"]}  # noisy
        public = [document[name] for name in ("form", "model", "features", "parameters")]
        facts = {name: fact for name, fact in made.facts_.items() if name != "budget_is_a_share"}
        used = made.transform([[30.0, 60.0]]) if target is None else made.predict([[30.0]])
        return (
            ahead,
            str(ahead),
            public,
            fitted,
            facts,
            np.shape(used),
            made.guarantee_,
            made.event_,
        )

    ahead, *_ = same(curators, program)
    assert ahead.price == dp.PureDP(epsilon=2, unit=ahead.price.unit)


def test_a_conversation_goes_on_and_is_resumed(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        make = partial(dp.queries.private_gap_weights, about=500, updates=3)
        talk = curator.converse(
            curator.universe(*UNIVERSE, **OLD),
            mechanism=make,
            spend=dp.PureDP(epsilon=20),
            questions=10,
        )
        one = talk.ask("ward", ["medicine", "surgery"])
        many = talk.ask_all([{"old": True}, {"ward": slice(0, 2)}])
        by_ward = Workload.marginal(talk.universe, ["ward"])
        rest = talk.ask_all(by_ward)
        again = curator.resume(talk.id)
        told = {
            "replies": [(type(r), r.within, r.confidence, r.number) for r in (one, *many, *rest)],
            "guarantee": talk.guarantee,
            "event": talk.event,
            "asked": (talk.questions_asked, again.questions_asked),
            "estimate": shape(again.synopsis.table("ward")),
            "universe": again.universe.attributes,
            "next": again.ask({"old": False}).number,
            "left": again.updates_left <= 3,
        }
        again.close()
        return told

    told = same(curators, program)
    assert (told["asked"], told["next"]) == ((6, 6), 7)


def test_bounds_are_estimated(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        found = curator.bounds("visits", "age", spend=dp.PureDP(epsilon=30))
        return found.column, found.high, found.needed, found.guarantee, found.number().high

    same(curators, program)


def test_history_account_and_unit_tell_the_same(
    running_service: RunningService, tmp_path: Path
) -> None:
    def program(curator: Any) -> Any:
        curator.sql(COUNT, spend=dp.PureDP(epsilon=0.1))
        curator.sql(COUNT, spend=dp.PureDP(epsilon=0.1))
        curator.batch({"a": COUNT}, spend=dp.PureDP(epsilon=0.2))
        asked = [(each.number, each.query, each.price, each.ended) for each in curator.history()]
        amounts = [round(float(each.epsilon), 9) for each in (curator.spent, curator.remaining)]
        return asked, curator.budget, curator.remaining.unit, curator.unit, amounts

    budget = dp.PureDP(epsilon=1)
    local = here(tmp_path, budget)
    told = program(at_service(running_service.analyst(budget)))
    assert told == program(local)
    assert [price for _, _, price, _ in told[0]] == ["epsilon 0.1", "epsilon 0.2"]
    local.ledger.close()


def test_a_synthetic_table_is_asked_for_with_the_same_objects(curators: Curators) -> None:
    def program(curator: Any) -> Any:
        made = curator.synthesize(
            "visits",
            columns=["ward", "age"],
            mechanism=dp.synthetic.MST,
            bins=dp.synthetic.PrivateBins(4),
            spend=dp.PureDP(epsilon=1),
        )
        return [made.query, list(made.sample(9)), sorted(made.budget_split), made.guarantee]

    same(curators, program)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "table": lambda c: c.sql("SELECT COUNT(*) AS n FROM visit", spend=dp.PureDP(epsilon=1)),
    "syntax": lambda c: c.sql("SELEC 1", spend=dp.PureDP(epsilon=1)),
    "price": lambda c: c.sql(COUNT),
    "number": lambda c: c.sql(COUNT, spend=0.5),
    "notion": lambda c: c.sql(COUNT, spend=dp.ApproxDP(epsilon=1, delta=1e-6)),
    "accuracy": lambda c: c.preview(COUNT, accuracy={"m": dp.Within(5)}),
    "accuracies": lambda c: c.sql(COUNT, accuracy=5),
    "too much": lambda c: c.sql(COUNT, accuracy=dp.Within(5), at_most=dp.PureDP(epsilon=0.01)),
    "budget": lambda c: c.sql(COUNT, spend=dp.PureDP(epsilon=1000)),
    "batch": lambda c: c.batch({"bad": "SELECT nope FROM visits"}, spend=dp.PureDP(epsilon=1)),
    "batch names": lambda c: c.batch([COUNT], spend=dp.PureDP(epsilon=1)),
    "universe": lambda c: c.universe("visits", "nope"),
    "universe of nothing": lambda c: c.universe("visits"),
    "universe of a word": lambda c: c.universe("visit"),
    "model": lambda c: c.fit(learn.LogisticRegression(), AGES, spend=dp.PureDP(epsilon=1)),
    "model's target": lambda c: c.fit(learn.PCA(), AGES, target="age", spend=dp.PureDP(epsilon=1)),
    "model's bounds": lambda c: c.fit(
        learn.Ridge(bounds=([0, 0], [1, 1])), AGES, target="age", spend=dp.PureDP(epsilon=1)
    ),
    "target's bounds": lambda c: c.preview_fit(
        learn.Ridge(target_bounds=(1, 2, 3)), AGES, target="age", spend=dp.PureDP(epsilon=1)
    ),
    "model's classes": lambda c: c.preview_fit(
        learn.GaussianNB(classes=["nowhere", "surgery"]),
        BY_AGE,
        target="ward",
        spend=dp.PureDP(epsilon=1),
    ),
    "components": lambda c: c.fit(learn.PCA(9), AGES, spend=dp.PureDP(epsilon=1)),
    "model's price": lambda c: c.fit(learn.PCA(), AGES, spend=dp.PureDP(epsilon=1000)),
    "model's spend": lambda c: c.fit(learn.PCA(), AGES, spend=1),
    "model's notion": lambda c: c.preview_fit(learn.PCA(), AGES, spend=dp.ZCDP(rho=1)),
    "paid before": lambda c: c.sql(COUNT, spend=dp.PureDP(epsilon=1), paid_before="reuse"),
}


@pytest.mark.parametrize("bad", REFUSED.values(), ids=REFUSED)
def test_refusals_are_the_same_errors(curators: Curators, bad: Callable[[Any], Any]) -> None:
    found = []
    for curator in curators:
        with pytest.raises(DiscreetError) as caught:
            bad(curator)
        error = caught.value
        found.append((type(error), error.code, error.expectation))
    assert found[0] == found[1]


def test_what_was_never_opened_is_unknown(curators: Curators) -> None:
    for curator in curators:
        with pytest.raises(DiscreetError) as caught:
            curator.resume("0" * 32)
        assert caught.value.code == "conversation_unknown"
