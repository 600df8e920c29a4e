"""What is asked: some 300 questions by every verb, of small invented tables.

``texts.sql`` holds the questions in SQL, one to a line; they are asked of tables with few rows, of
every type and with every kind of unit. The others are asked of a hospital.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import discreet as dp
from discreet import learn, synthetic
from discreet.mechanisms import AboveThreshold, Sparse
from discreet.noise.randomness import Seeded
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.online.pmw import private_gap_weights
from tests.curator.golden import hospital
from tests.curator.streams import wards

Ask = Callable[[Any], Any]
"""Asks a session; what comes back is written by ``answers.written``."""

TEXTS = (Path(__file__).parent / "texts.sql").read_text(encoding="utf-8").splitlines()
PURE, PAIR = dp.PureDP(epsilon=20), dp.ApproxDP(epsilon=20, delta=1e-5)
LEFT_OUT = dp.LeftOut(share=0.1, rows_at_most=1200)
MIDDLE = "SELECT MEDIAN(cost) AS m FROM visits"
COLUMNS = "SELECT cost, age FROM visits"
KINDS = "SELECT ward, cost, age FROM visits"
SPENT: dict[str, Any] = {
    "pure": dp.PureDP(epsilon=1),
    "pair": dp.ApproxDP(epsilon=1, delta=1e-6),
    "concentrated": dp.ZCDP(rho=0.1),
}
FITTED: dict[str, tuple[Any, str, str | None]] = {
    "linear": (learn.LinearRegression(), COLUMNS, "age"),
    "ridge": (learn.Ridge(), COLUMNS, "age"),
    "bayes": (learn.GaussianNB(), KINDS, "ward"),
    "components": (learn.PCA(1), COLUMNS, None),
    "scaled": (learn.StandardScaler(), COLUMNS, None),
    "logistic": (learn.LogisticRegression(), "SELECT cost, age, urgent FROM visits", "urgent"),
    "means": (learn.KMeans(2), COLUMNS, None),
    "tree": (learn.DecisionTreeClassifier(), KINDS, "ward"),
}
SYNTHESISED: dict[str, Any] = {
    "as it chooses": None,
    "AIM": synthetic.AIM,
    "MST": synthetic.MST,
    "PrivBayes": synthetic.PrivBayes,
    "independent": synthetic.IndependentMarginals,
}


def by_sql() -> dict[str, Ask]:
    """Asked of the tables of ``tests.fuzz.corpus``."""
    return {text: partial(_sql, text, PAIR) for text in TEXTS}


def by_other_verbs() -> dict[str, Ask]:
    """Asked of the hospital."""
    return {
        **{f"sql {name}": partial(_sql, *asked) for name, asked in hospital.ASKED.items()},
        **{f"sql {name}": partial(_sql, hospital.COUNT, spend) for name, spend in SPENT.items()},
        "sql left out": lambda s: s.sql(MIDDLE, spend=PAIR, left_out=LEFT_OUT),
        "sql accurate": lambda s: s.sql(hospital.DEAR, accuracy=hospital.WANTED),
        "sql refused": lambda s: s.sql("SELECT note FROM visits", spend=PAIR),
        "frame": lambda s: (
            s.frame("visits")
            .filter(dp.col("age") > 30)
            .group_by("ward")
            .agg(n=dp.count())
            .release(spend=PURE)
        ),
        "preview": lambda s: s.preview(hospital.COUNT, spend=PURE),
        "explained": lambda s: s.explain(hospital.COUNT, spend=PURE),
        "batch": lambda s: s.batch(hospital.TOGETHER, spend=PURE),
        "batch paired": lambda s: s.batch(hospital.PAIRED, spend=PAIR),
        "batch left out": lambda s: s.batch(hospital.TOGETHER, spend=PAIR, left_out=LEFT_OUT),
        "bounds": lambda s: s.bounds("visits", "cost", spend=PURE),
        "limits": lambda s: s.learn_limits(dp.RowsPer("visits", "ward"), spend=PURE),
        **{f"synopsis {name}": partial(_synopsis, *made) for name, made in hospital.made().items()},
        **{f"fit {name}": partial(_fit, *made) for name, made in FITTED.items()},
        **{f"synthesis {name}": partial(_synthesis, made) for name, made in SYNTHESISED.items()},
        **{f"watch {name}": partial(_watch, made) for name, made in WATCHED.items()},
        "conversation": _conversation,
        "round for a query": partial(_round, OneQuery()),
        "round for an analyst": partial(_round, OneAnalyst()),
        "child": lambda s: s.child("team", budget=PAIR).sql(hospital.COUNT, spend=SPENT["pure"]),
        "part": lambda s: s.partition("visits", by="ward", budget=PURE, k=2)["B"].sql(
            hospital.INSIDE, spend=SPENT["pure"]
        ),
    }


WATCHED: dict[str, Any] = {  # Their noise has no seed, and is too small to matter.
    "above": partial(AboveThreshold, epsilon=20),
    "sparse": partial(Sparse.pure, epsilon=30, cutoff=3),
}


def stream(seeded: Any) -> list[Any]:
    """Every tick of a stream of forty events."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        wards.write(folder / "visits.jsonl", wards.visits(40))
        more = {"ledger": dp.ledger.Memory(), "randomness": seeded}
        with wards.curator(folder, **more) as owner:
            opened = wards.stream(owner, folder, spend=dp.PureDP(epsilon=1), state=None)
            return [tick.to_dict() for tick in opened]


def _sql(text: str, spend: Any, session: Any) -> Any:
    return session.sql(text, spend=spend)


def _synopsis(about: Any, mechanism: Any, spend: Any, session: Any) -> Any:
    workload = about(session)
    made = session.synopsis(workload, mechanism=mechanism, spend=spend)
    return {"answers": made.answers(workload), "statement": str(made.statement)}


def _fit(estimator: Any, text: str, target: str | None, session: Any) -> Any:
    fitted = session.fit(estimator, text, target=target, spend=PAIR)
    found = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    return {**found, "text": str(fitted)}


def _synthesis(mechanism: Any, session: Any) -> Any:
    columns = ["ward", "age", "urgent"]
    made = session.synthesize("visits", columns=columns, mechanism=mechanism, bins=8, spend=PAIR)
    rows = made.sample(40, randomness=Seeded(1))
    return {"rows": str(rows), "statement": str(made.statement)}


def _watch(make: Any, session: Any) -> Any:
    mechanism = make(threshold=600, sensitivity=3)
    watch = session.open(mechanism, spend=dp.PureDP(epsilon=50))
    return [str(watch.ask(hospital.NOBODY)), str(watch.ask(hospital.EVERYBODY))]


def _conversation(session: Any) -> Any:
    talk = session.converse(
        hospital.universe(session),
        mechanism=partial(private_gap_weights, about=1200, updates=6),
        spend=dp.PureDP(epsilon=50),
        questions=60,
    )
    return [talk.ask("ward", ward) for ward in hospital.WARDS]


def _round(protects: Any, session: Any) -> Any:
    made = session.round(
        hospital.universe(session),
        analysts=["ann", "bob"],
        queries_each=3,
        spend=hospital.TWO,
        protects=protects,
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
    )
    made.submit("ann", hospital.SUBMITTED)
    made.submit("bob", [{"ward": "A"}])
    return hospital.sums(made.close())
