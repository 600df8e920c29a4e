"""Everything that is written into identities and stored forms.

``digests.json`` holds it as of the first release, and is not written again after that. To see what
a version writes::

    python -m tests.curator.golden.digests FILE

Texts that are short stand as they are; those of questions as their SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dp
from discreet import events
from discreet.core.events import versioned
from discreet.core.events.tuned import PoissonRuns, TruncatedNegativeBinomial
from discreet.core.guarantee import ApproxZCDP, GaussianDP, RenyiDP
from discreet.core.unit import Edge, Node
from discreet.curator.budget import PrivacyBudget, unit_text
from discreet.curator.rounds.analyst_spending import unit_to_dict
from discreet.curator.sql import planned_sql
from discreet.curator.synopsis.fingerprint import fingerprint_of, request_fingerprint
from discreet.curator.synopsis.mechanism import GIVEN
from discreet.mechanisms import AboveThreshold, NumericSparse, Scores, Sparse
from discreet.mechanisms.distributions.distribution import distribution_from_dict
from discreet.mechanisms.sparse_vector.plain import mechanism_to_dict
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.matrix import product, strategy, union
from discreet.queries.matrix.reconstruction import LeastSquares, NonNegative
from discreet.queries.mwem import mwem
from discreet.queries.mwem import rounds as mwem_rounds
from discreet.queries.online import updaters
from discreet.queries.online.multiplicative_updaters import GapUpdater, MultiplicativeUpdater
from discreet.queries.online.stored_construction import construction_to_dict
from discreet.queries.workload import families
from discreet.queries.workload.stored_form import product_to_dict
from discreet.queries.workload.workload import Product
from discreet.relational.identity.identity import canonical_text, identity
from discreet.relational.planning.stored_allocation import allocated
from discreet.relational.types.expression import canonical
from discreet.release.guarantee import guarantee_to_dict
from tests.curator.golden import hospital
from tests.relational import test_identity
from tests.relational.expressions import cases
from tests.relational.expressions.engine import translated
from tests.relational.frontends import hospital as frontends

KEPT = "digests.json"
SPENDS: dict[str, Any] = {
    "pure": dp.PureDP(epsilon=Fraction(1, 3)),
    "pure for a row": dp.PureDP(epsilon=0.5, unit=dp.Row()),
    "approximate": dp.ApproxDP(epsilon=1, delta=1e-6),
    "concentrated": dp.ZCDP(rho=Fraction(1, 2)),
    "both": ApproxZCDP(rho=1, delta=1e-6),
    "renyi": RenyiDP(alpha=2, epsilon=1),
    "gaussian": GaussianDP(mu=0.5),
}
UNITS: dict[str, Any] = {
    "row": dp.Row(),
    "edge": Edge(),
    "node": Node(),
    "person": dp.Person("id", max_rows=3, max_groups=2, max_rows_per_group=2),
    "reached": dp.Person("id", max_rows=3, via="orders.customer"),
    "named": dp.Person("id", max_rows=3, of="patients"),
    "replaced": dp.Replace(dp.Person("id", max_rows=3)),
    "replaced row": dp.Replace(dp.Row()),
}
BUDGETS: dict[str, Any] = {
    "pure": dp.PureDP(epsilon=3),
    "pairs": dp.ApproxDP(epsilon=3, delta=1e-6),
    "by rho": dp.ApproxDP(epsilon=3, delta=1e-6, by=dp.ZCDP),
    "by rho and delta": dp.ApproxDP(epsilon=3, delta=1e-6, by=ApproxZCDP),
    "rho": dp.ZCDP(rho=1),
    "rho and delta": ApproxZCDP(rho=1, delta=1e-6),
    "renyi": RenyiDP(alpha=8, epsilon=1),
}
TUNED = TruncatedNegativeBinomial(eta=1, gamma=Fraction(1, 10))
EVENTS: dict[str, Any] = {
    "sum": events.Laplace(epsilon=0.5) * 3 + events.Gaussian(noise_multiplier=2),
    "sampled": events.Gaussian(noise_multiplier=2).subsample(rate=Fraction(1, 10)),
    "fixed": events.Gaussian(noise_multiplier=2).subsample(size=3, of=10),
    "tuned": events.Tuned(events.Pure(epsilon=1), TUNED),
    "poisson": events.Tuned(events.Pure(epsilon=1), PoissonRuns(mean=3)),
}


def found() -> dict[str, dict[str, Any]]:
    """Everything, by sort and name."""
    return {
        "questions": dict(_questions()),
        "expressions": {
            text: _digest(canonical_text(made := translated(text)), canonical(made))
            for text in (*cases.EXACT, *cases.NEARLY)
        },
        "spends": {
            name: [canonical_text(spend), guarantee_to_dict(spend), fingerprint_of(spend)]
            for name, spend in SPENDS.items()
        },
        "units": {
            name: [canonical_text(unit), unit_text(unit), guarantee_to_dict(_one(unit))]
            for name, unit in UNITS.items()
        },
        "budgets": {name: _terms(budget) for name, budget in BUDGETS.items()},
        "identity": {
            "plain": identity(
                "door", {"a": (1, 2.5, None), "b": {"x": datetime(2024, 1, 2)}, "c": True}
            ),
        },
        "events": {name: json.loads(each.to_json()) for name, each in EVENTS.items()},
        "event fields": dict(_events()),
        "mechanisms": {
            name: request_fingerprint(make, given=GIVEN) for name, make in _makes().items()
        },
        "parts": {name: fingerprint_of(part) for name, part in _parts().items()},
        "public": {
            name: fingerprint_of(getattr(dp.queries, name))
            for name in dp.queries.__all__
            if callable(getattr(dp.queries, name))
        },
        "watches": {name: mechanism_to_dict(each) for name, each in _watches().items()},
        "conversations": {name: _online(each) for name, each in _updaters().items()},
        "products": {"all": product_to_dict(_product())},
        "rounds": {"query": unit_to_dict(OneQuery()), "analyst": unit_to_dict(OneAnalyst())},
        "laws": {
            name: distribution_from_dict({"law": name, **given, "step": 1.0}).to_dict()
            for name, given in (
                ("rounded_laplace", {"scale": 2.0}),
                ("discrete_laplace", {"scale": 2.0}),
                ("rounded_gaussian", {"sigma": 2.0}),
                ("discrete_gaussian", {"sigma": 2.0}),
            )
        },
        "policy": {"digest": hospital.POLICY.digest},
    }


def _questions() -> Iterator[tuple[str, list[str]]]:
    questions = test_identity.questions.__wrapped__()  # type: ignore[attr-defined]
    for number, query in enumerate(questions):
        yield f"every part {number}", _written(query, dp.PureDP(epsilon=1))
    made = frontends.curator()
    for number, text in enumerate(test_identity.ASKED):
        spend = dp.ApproxDP(epsilon=2, delta=1e-6)
        _, planned = planned_sql(made.context, text, spend)
        yield f"split {number}", [_digest(json.dumps(allocated(planned)))]


def _events() -> Iterator[tuple[str, list[Any]]]:
    """The version and the names of all that is written, for every kind of this package."""
    for kind, made in sorted(versioned._KINDS.items()):
        if made.__module__.startswith(("discreet.", "elsewhere")):
            names = (versioned._ARGUMENTS.get(item.name, item.name) for item in fields(made))
            yield kind, [made.version, *sorted(names)]


def _written(query: Any, spend: Any) -> list[str]:
    return [
        _digest(canonical_text(query)),
        identity("sql", {"question": query, "spend": spend, "rows": (("visits", 9),)}),
    ]


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _one(unit: Any) -> Any:
    return dp.PureDP(epsilon=1, unit=unit)


def _terms(budget: Any) -> list[Any]:
    terms = PrivacyBudget(budget, dp.Row()).terms
    return [terms.unit, terms.budget, terms.filter]


def _makes() -> dict[str, Any]:
    q = dp.queries
    return {
        **{name: make for name, (_, make, _) in hospital.made().items()},
        "rounds": partial(
            q.MWEM, rounds=3, each=mwem_rounds.QueryRound(), iterate=mwem.AverageIterate()
        ),
        "selected": partial(q.MWEM, rounds=3, selection=dp.mechanisms.PermuteAndFlip, passes=2),
        "started": partial(q.MWEM, rounds=3, start=np.ones(4)),
        "planned": partial(q.best_mechanism, about=900, within=0.5),
        "at most": partial(q.MatrixMechanism, reconstruction=NonNegative(iterations=9)),
        "split": partial(q.PrivTree, part=Fraction(1, 3), depth=4, threshold=2),
        "drawn": partial(q.BoostingForQueries, sample=9, rounds=3),
    }


def _parts() -> dict[str, Any]:
    q = dp.queries
    some = strategy.identity(3)
    both = product.ProductStrategy((some, strategy.total(2)))
    universe = q.Universe.of(a=range(3), b=("x", "y"))
    return {
        "families": tuple(_product().families),
        "universe": universe,
        "workload": q.Workload.marginals(universe, 1),
        "strategy": some,
        "product": both,
        "union": union.UnionStrategy((both, both), (1, 2)),
        "sizes": (q.NoisyRecordCount(), q.PublicCount(7)),
        "reconstructions": (LeastSquares(), NonNegative()),
        "iterates": (mwem.LastIterate(), mwem.AverageIterate()),
        "rounds": (mwem_rounds.QueryRound(), mwem_rounds.MarginalRound()),
        "updaters": tuple(_updaters().values()),
        "scores": tuple(Scores),
        "queries": (q.Weights(np.ones(3)),),
        "plain": {"a": {1, 2}, "b": [None, True, b"x", 0.5, Fraction(1, 3), date(2024, 1, 2)]},
    }


def _product() -> Product:
    listed = families.Listed([[1.0, 0.0], [1.0, 1.0]])
    sized = (families.Each(2), families.All(3), families.Prefixes(4), families.Ranges(5))
    return Product((*sized, listed), 2.0)


def _watches() -> dict[str, Any]:
    fixed: dict[str, Any] = {"threshold": 10, "sensitivity": Fraction(1, 2)}
    return {
        "above": AboveThreshold(epsilon=0.5, **fixed),
        "monotonic": AboveThreshold(epsilon=0.5, scores=tuple(Scores)[1], **fixed),
        "sparse": Sparse.pure(epsilon=1, cutoff=3, **fixed),
        "approximate": Sparse.approximate(epsilon=1, delta=1e-6, cutoff=3, **fixed),
        "numeric": NumericSparse(epsilon=1, cutoff=3, **fixed),
    }


def _updaters() -> dict[str, Any]:
    return {
        "multiplicative": MultiplicativeUpdater(4, 0.1),
        "started": MultiplicativeUpdater(4, 0.1, np.full(4, 0.25)),
        "gap": GapUpdater(4, 0.1),
        "median": updaters.MedianUpdater(np.full((2, 4), 0.25), 0.1),
        "perceptron": updaters.PerceptronUpdater(4, 0.1, 100, 400.0),
    }


def _online(updater: Any) -> list[Any]:
    made = dp.queries.OnlineConstruction(
        updater=updater,
        spend=dp.PureDP(epsilon=9),
        size=dp.queries.PublicCount(100),
        threshold=Fraction(1, 8),
        cutoff=4,
        records=1,
    )
    return [construction_to_dict(made), dict(made.terms)]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(found(), indent=1, default=list), encoding="utf-8")
