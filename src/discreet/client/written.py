"""What a curator's arguments are as JSON: prices, accuracies, universes, mechanisms, conditions.

Arguments are read by what they have, not by their class, since their classes lie above this
package. What the service does not offer is refused here, before anything is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import partial
from itertools import product
from typing import Any, Protocol

from discreet.client import loaded
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.written import numbers


class ColumnError(Protocol):
    """An error that is wanted: ``dp.Within``."""

    @property
    def error(self) -> float | str:
        """At most this."""

    @property
    def confidence(self) -> float:
        """With this chance."""

    @property
    def rows_at_least(self) -> int | None:
        """A public lower bound of each group."""


class WantedRest(Protocol):
    """What limits left out: ``dp.LeftOut``."""

    @property
    def share(self) -> float:
        """Of the price."""

    @property
    def rows_at_most(self) -> int | None:
        """Of one person."""

    @property
    def groups_at_most(self) -> int | None:
        """Of one person."""


class BeforeWord(Protocol):
    """``dp.Reuse()`` or ``dp.PayAgain()``."""

    @property
    def word(self) -> str:
        """What it is called in requests."""


Accuracy = Mapping[str, ColumnError] | ColumnError | None
Conditions = Mapping[str, object]


def text_of(asked: object) -> object:
    """The SQL text of a question, or of a frame."""
    sql = getattr(asked, "sql", None)
    return sql() if callable(sql) else asked


def require_not_given(**arguments: object) -> None:
    """Refuse by name what a curator takes and the service does not offer."""
    for name, value in arguments.items():
        if value is not None:
            raise not_offered(
                expectation=f"a request without {name}=, which is for whoever has the tables",
                received=type(value).__name__,
                remedy=f"Leave {name}= out, or ask the owner.",
            )


def sql_to_json(
    text: Any,
    *,
    spend: Guarantee | None,
    accuracy: Accuracy,
    confidence: float,
    rows_at_least: int | None,
    at_most: Guarantee | None,
    left_out: WantedRest | None,
) -> dict[str, Any]:
    """A question in SQL, and its terms."""
    return {
        "kind": "sql",
        "sql": text_of(text),
        "confidence": confidence,
        **spend_to_json(spend),
        **drop_none_values(
            accuracy=accuracy_to_json(accuracy),
            rows_at_least=rows_at_least,
            at_most=None if at_most is None else spend_to_json(at_most),
            left_out=left_out_to_json(left_out),
        ),
    }


def synopsis_to_json(
    workload: Any, mechanism: Callable[..., Any], spend: Guarantee | None
) -> dict[str, Any]:
    """A workload of marginals, and what is to make its synopsis."""
    if not hasattr(workload, "products"):
        raise InvalidParameter(
            code="workload_misfit",
            expectation="a workload over a universe of this curator",
            received=type(workload).__name__,
            remedy='Write Workload.marginals(curator.universe("visits", "ward", "sex"), 2).',
        )
    return {
        "kind": "synopsis",
        "universe": universe_to_json(workload.universe),
        "marginals": marginals_of(workload),
        **synopsis_mechanism(mechanism),
        **spend_to_json(spend),
    }


def spend_to_json(spend: object) -> dict[str, float]:
    """The numbers of a price; nothing where none is stated."""
    if spend is None:
        return {}
    if not isinstance(spend, Guarantee):
        number = isinstance(spend, int | float) and not isinstance(spend, bool)
        raise InvalidParameter(
            code="not_a_spend",
            expectation="a spend such as PureDP(epsilon=0.5)",
            received=spend if number else type(spend).__name__,
            remedy=f"Write spend=dp.PureDP(epsilon={spend if number else 0.5}).",
        )
    stated = {name: float(value) for name, value in numbers(spend).items()}
    if not set(stated) <= {"epsilon", "delta", "rho"} or {"rho", "delta"} <= set(stated):
        raise not_offered(
            expectation="a spend in epsilon, epsilon and delta, or rho",
            received=type(spend).__name__,
            remedy="Write spend=dp.PureDP(epsilon=0.5), or dp.ZCDP(rho=0.1).",
        )
    return stated


def accuracy_to_json(wanted: Accuracy) -> Any:
    """The error wanted of each column."""
    if wanted is None:
        return None
    if isinstance(wanted, Mapping):
        return {str(name): accuracy_to_json(each) for name, each in wanted.items()}
    if not hasattr(wanted, "error"):
        raise InvalidParameter(
            code="accuracy_columns",
            expectation="dp.Within, or dp.Within for each column",
            received=type(wanted).__name__,
            remedy="Write accuracy={'n': dp.Within(5)}.",
        )
    return drop_none_values(
        within=wanted.error, confidence=wanted.confidence, rows_at_least=wanted.rows_at_least
    )


def left_out_to_json(wanted: WantedRest | None) -> dict[str, Any] | None:
    """What is wanted of what limits left out."""
    if wanted is None:
        return None
    return drop_none_values(
        share=wanted.share,
        rows_at_most=wanted.rows_at_most,
        groups_at_most=wanted.groups_at_most,
    )


def before_to_json(wanted: BeforeWord | None) -> str | None:
    """What to do about what was paid for on another snapshot."""
    if wanted is None:
        return None
    word = getattr(wanted, "word", None)
    if word not in ("reuse", "pay_again"):
        raise InvalidParameter(
            code="not_paid_before",
            expectation="dp.Reuse() or dp.PayAgain()",
            received=type(wanted).__name__,
            remedy="Write paid_before=dp.Reuse().",
        )
    return str(word)


def drop_none_values(**parts: Any) -> dict[str, Any]:
    """A JSON object of what is not None."""
    return {name: value for name, value in parts.items() if value is not None}


def universe_to_json(universe: Any) -> dict[str, Any]:
    """A universe by the questions that it came from."""
    questions = getattr(universe, "questions", None)
    if not questions:
        raise InvalidParameter(
            code="universe_not_counted",
            expectation="a universe that says how its attributes are read from the tables",
            received=type(universe).__name__,
            remedy='Make it with curator.universe("adult", "sex", age="FLOOR(age / 10)").',
        )
    return {"questions": list(questions)}


def marginals_of(workload: Any) -> list[list[str]]:
    """The attributes of each marginal of a workload; other workloads are not offered."""
    kinds = loaded.families()
    found = []
    for each in workload.products:
        if each.weight != 1 or not all(
            isinstance(family, kinds.Each | kinds.All) for family in each.families
        ):
            raise not_offered(
                expectation="a workload of marginals, each of weight one",
                received=type(workload).__name__,
                remedy="Write Workload.marginals(universe, 2), or a union of Workload.marginal.",
            )
        found.append([workload.universe.names[place] for place in each.kept_places])
    return found


def synopsis_mechanism(make: Callable[..., Any]) -> dict[str, Any]:
    """What makes a synopsis, by its word."""
    queries = loaded.mechanisms()
    words = {
        queries.best_mechanism: "best",
        queries.MarginalMechanism: "marginals",
        queries.MatrixMechanism: "matrix",
    }
    maker, options = _opened(make)
    if maker is queries.MWEM and set(options) <= {"rounds", "size"} and "rounds" in options:
        return {"mechanism": "mwem", "rounds": options["rounds"]}
    if maker not in words or options:
        raise not_offered(
            expectation="best_mechanism, MarginalMechanism, MatrixMechanism, or MWEM with rounds",
            received=getattr(maker, "__name__", type(maker).__name__),
            remedy="Write mechanism=dp.queries.best_mechanism.",
        )
    return {"mechanism": words[maker]}


def conversation_mechanism(make: Callable[..., Any]) -> dict[str, Any]:
    """The options of what makes a conversation."""
    maker, options = _opened(make)
    if maker is not loaded.mechanisms().private_gap_weights or not set(options) <= {
        "about",
        "updates",
    }:
        raise not_offered(
            expectation="functools.partial(dp.queries.private_gap_weights, about=..., updates=...)",
            received=getattr(maker, "__name__", type(maker).__name__),
            remedy="Write mechanism=partial(dp.queries.private_gap_weights, about=10_000).",
        )
    return options


def conditions_to_json(questions: Any, universe: Any = None) -> list[dict[str, Any]]:
    """Questions about counts as conditions on attributes, of a list or a workload of marginals."""
    if hasattr(questions, "products"):
        return [_plain(each, None) for each in _cells(questions)]
    alone = isinstance(questions, Mapping | str) or not isinstance(questions, Iterable)
    return [_plain(each, universe) for each in ([questions] if alone else questions)]


def _cells(workload: Any) -> list[Conditions]:
    """The conditions of every query of a workload, in its order."""
    found: list[Conditions] = []
    for names in marginals_of(workload):
        places = [workload.universe.place(name) for name in names]
        values = [workload.universe.attributes[place].values for place in places]
        found += [dict(zip(names, cell, strict=True)) for cell in product(*values)]
    return found


def _plain(conditions: object, universe: Any) -> dict[str, Any]:
    if not isinstance(conditions, Mapping):
        raise InvalidParameter(
            code="query_misfit",
            expectation="conditions on attributes; the service takes no other linear queries",
            received=type(conditions).__name__,
            remedy='Write ask({"sex": "f", "age": [3, 4]}).',
        )
    return {str(name): _value(value, name, universe) for name, value in conditions.items()}


def _value(value: object, name: object, universe: Any) -> Any:
    if isinstance(value, slice):
        if universe is None:
            raise not_offered(
                expectation="values of an attribute", received="slice", remedy="List them."
            )
        chosen = universe.attributes[universe.place(name)].values[value]
        return [_value(each, name, universe) for each in chosen]
    if isinstance(value, list | tuple | set | frozenset | range):
        return [_value(each, name, universe) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    item = getattr(value, "item", None)  # of NumPy
    return item() if callable(item) else value


def _opened(make: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    if isinstance(make, partial) and not make.args:
        return make.func, dict(make.keywords)
    return make, {}


def not_offered(*, expectation: str, received: object, remedy: str) -> InvalidParameter:
    """What a curator can do and the service does not offer."""
    return InvalidParameter(
        code="not_offered", expectation=expectation, received=received, remedy=remedy
    )
