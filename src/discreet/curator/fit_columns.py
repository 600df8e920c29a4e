"""Which columns of a SELECT a model reads, within which bounds, and which classes: public facts.

Source: contract, "Columns". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.source import TargetKind
from discreet.relational.execute.bounded_columns import BoundedColumns, Bounds
from discreet.relational.sql.statement import parse


def features_of(text: str, target: str | None, kind: TargetKind) -> list[str]:
    """The columns of a SELECT without the target, by their names."""
    parsed: Any = parse(text)
    names = list(getattr(parsed, "named_selects", ()))
    named = (target is None) if kind is TargetKind.NONE else target in names
    rest = [name for name in names if name != target]
    if not named or not rest or "" in names or "*" in names or len(set(names)) < len(names):
        raise InvalidParameter(
            code="fit_columns",
            expectation="a SELECT that names at least one feature, and each column once"
            if kind is TargetKind.NONE
            else "a SELECT that names the target and at least one feature, each once",
            received=names,
            remedy='Write curator.fit(model, "SELECT age, cost FROM visits", target="cost", ...); '
            "target= only where the model has one.",
        )
    return rest


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
