"""Columns of a table in memory, whatever holds them: Polars, pandas, Arrow, NumPy, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.person_key import is_missing
from discreet.core.spelling import did_you_mean


def frame_columns(frame: Any, names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The named columns, each as a sequence, all of one length."""
    held = getattr(frame, "columns", None)
    if isinstance(frame, Mapping):
        known = list(frame)
    elif hasattr(frame, "column_names"):  # Arrow
        known = list(frame.column_names)
    elif held is not None and not callable(held):
        known = list(held)
    else:
        raise InvalidParameter(
            code="not_a_table",
            expectation="a Polars, pandas or Arrow table, or columns by name",
            received=type(frame).__name__,
            remedy='Pass {"age": [...], "ward": [...]}, or a frame.',
        )
    for name in names:
        if name not in known:
            raise InvalidParameter(
                code="column_unknown",
                expectation=f"a table with the column {name!r}",
                received=[str(each) for each in known][:20],
                remedy=did_you_mean(name, known, "Check the spelling, or leave the column out."),
            )
    found = {name: _values(frame[name]) for name in names}
    if len({len(column) for column in found.values()}) > 1:
        raise InvalidParameter(
            code="columns_differ",
            expectation="columns of one length",
            remedy="Pass a whole table.",
        )
    return found


def _values(column: Any) -> Sequence[Any]:
    for method in ("to_list", "to_pylist", "tolist"):  # Polars and pandas, Arrow, NumPy
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    return [None if is_missing(value) else value for value in column]
