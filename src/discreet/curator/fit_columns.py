"""Which columns of a SELECT a model reads, within which bounds, and which classes: public facts.

Source: contract, "Columns". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.source import TargetKind
from discreet.core.spelling import did_you_mean
from discreet.relational.execute.bounded_columns import (
    BoundedColumns,
    Bounds,
    ColumnTotals,
    Translate,
)
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.sql.statement import parse

_NOT_LISTED = frozenset({"key_not_declared", "keys_not_finite", "keys_not_known"})
"""Codes by which keys are refused whose values no public list has."""


def sql_text(asked: Asked) -> str:
    """The SELECT whose rows are fitted to, as text."""
    text: object = text_of(asked)
    if isinstance(text, str):
        return text
    raise InvalidParameter(
        code="sql_syntax",
        expectation="a SELECT from a table of the curator",
        received=type(text).__name__,
        remedy='Write curator.fit(model, "SELECT age, cost FROM visits", target="cost", ...). Rows '
        "that are in memory and in no table are for model.fit(X, y).",
    )


def features_of(text: str, target: str | None, kind: TargetKind) -> list[str]:
    """The columns of a SELECT without the target, by their names."""
    parsed: Any = parse(text)
    names = list(getattr(parsed, "named_selects", ()))
    _require_names(names, len(getattr(parsed, "selects", names)))
    if kind is TargetKind.NONE:
        if target is not None:
            raise _refused(
                expectation="no target, since this model predicts no column",
                received=target,
                remedy="Leave the target out; it may be a feature, as a column of the SELECT.",
            )
        return names
    if target is None:
        raise _refused(
            expectation="the column that is to be predicted",
            received=None,
            remedy=f"Name it as the target, {_one_of(names)}.",
        )
    if target not in names:
        raise _refused(
            expectation=f"a target among the columns of the SELECT: {', '.join(names)}",
            received=target,
            remedy=did_you_mean(target, names, "Name it in the SELECT too, beside the features."),
        )
    if len(names) == 1:
        raise _refused(
            expectation="at least one feature beside the target",
            received=names,
            remedy=f"Name features in the SELECT too: SELECT age, {target} FROM visits.",
        )
    return [name for name in names if name != target]


def _require_names(names: list[str], columns: int) -> None:
    """Refuse columns that have no name of their own."""
    if "*" in names:
        raise _refused(
            expectation="columns by their names",
            received="*",
            remedy="Write them out: SELECT age, cost FROM visits.",
        )
    if not names or "" in names or len(names) < columns:
        raise _refused(
            expectation="a SELECT of columns that each have a name",
            received=names,
            remedy="Name what is computed: SELECT age / 10 AS decade, cost FROM visits.",
        )
    if len(set(names)) < len(names):
        raise _refused(
            expectation="each column once",
            received=names,
            remedy="Leave the second out, or rename it by AS.",
        )


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _refused(*, expectation: str, received: object, remedy: str) -> InvalidParameter:
    return InvalidParameter(
        code="fit_columns", expectation=expectation, received=received, remedy=remedy
    )


def clearer(
    error: DiscreetError,
    text: str,
    columns: Sequence[str],
    label: str | None,
    translate: Translate,
) -> DiscreetError:
    """The refusal of a question for sums in words of fits: which column, and what to write."""
    if label is not None and error.code in _NOT_LISTED:
        return InvalidParameter(
            code="classes_missing",
            expectation=f"a public list of classes: what may be in {label}",
            remedy=f'Declare it with the table: columns={{"{label}": dp.Category(["no", "yes"])}}, '
            f'in a project file {label} = {{ kind = "category", values = ["no", "yes"] }}; or make '
            "classes in the SELECT: CASE WHEN days > 7 THEN 'long' ELSE 'short' END AS stay.",
        )
    if error.code != "fit_not_numbers":
        return error
    wrong = [each for each in columns if not _a_number(text, each, translate)]
    first = next(iter(wrong), "returned")
    return InvalidParameter(
        code="fit_not_numbers",
        expectation="numbers in the columns that are fitted",
        received=", ".join(wrong),
        remedy="Leave out what is none, or make numbers in the SELECT: of a truth value "
        f"CASE WHEN {first} THEN 1 ELSE 0 END AS {first}, "
        f"of a category CASE WHEN {first} = 'A' THEN 1 ELSE 0 END AS {first}_a.",
    )


def _a_number(text: str, column: str, translate: Translate) -> bool:
    try:
        made = ColumnTotals.of(text, [column], translate)
        made.translated(translate, made.write_question_for_sums(needed=None, label=None))
    except DiscreetError as error:
        return error.code != "fit_not_numbers"
    return True


def classes_of(estimator: Any, columns: BoundedColumns) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The classes in order, those of the estimator or all that were declared, and their places."""
    places = {label: place for place, label in enumerate(columns.labels) if label is not None}
    given = list(places) if estimator.classes is None else list(estimator.classes)
    wanted: list[Any] = [each.item() if isinstance(each, np.generic) else each for each in given]
    if len(set(wanted)) < 2 or not set(wanted) <= set(places):
        raise InvalidParameter(
            code="classes_missing",
            expectation="at least two classes, each among the declared values of the target",
            received=len(set(wanted)),
            remedy="Declare the target as dp.Category([...]), or name some of its values: "
            'classes=["yes", "no"].',
        )
    other = {
        type(each).__name__ for each in wanted if not isinstance(each, bool | int | float | str)
    }
    if other:
        raise InvalidParameter(
            code="classes_missing",
            expectation="classes that are texts, numbers or truth values",
            received=", ".join(sorted(other)),
            remedy="Make such of the target in the SELECT, for instance month(day) AS month.",
        )
    ordered = sorted(set(wanted))
    return tuple(ordered), tuple(places[each] for each in ordered)


def bounds_of(estimator: Any, declared: Bounds, targets: int) -> Bounds:
    """What the estimator was given, in place of what the owner declared."""
    low, high = [*declared[0]], [*declared[1]]
    if targets and estimator.target_bounds is not None:
        for ends, given in zip((low, high), _ends(estimator.target_bounds), strict=True):
            ends[:targets] = _broadcast(given, targets)
    if estimator.bounds is not None:
        for ends, given in zip((low, high), _ends(estimator.bounds), strict=True):
            ends[targets:] = _broadcast(given, len(ends) - targets)
    return low, high


def _ends(bounds: Any) -> Sequence[Any]:
    ends = list(bounds) if isinstance(bounds, list | tuple | np.ndarray) else []
    if len(ends) != 2:
        raise _not_bounds(bounds)
    return ends


def _broadcast(given: Any, size: int) -> list[float]:
    try:
        return [float(each) for each in np.broadcast_to(given, (size,))]
    except (TypeError, ValueError):
        raise _not_bounds(given) from None


def _not_bounds(given: object) -> InvalidParameter:
    return InvalidParameter(
        code="bounds_missing",
        expectation="bounds=(low, high), numbers or one for each feature",
        received=type(given).__name__,
        remedy="Give one bound for each feature of the SELECT, or leave bounds to declarations.",
    )
