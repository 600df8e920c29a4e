"""A release as one line of JSON, and back.

The text is canonical: one form for one release, so what a ledger stored returns byte for byte. It
states each law once for all rows and leaves out what follows from the rest: the values of a column
with a formula, and the ends of an interval of constant width. Infinite ends are null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events import event as events
from discreet.core.foreign_text import plain_json, refusing
from discreet.mechanisms.distributions.distribution import distribution_from_dict
from discreet.release.column import Ends, HalfWidth, Interval, ReleasedColumn
from discreet.release.draws import Range
from discreet.release.formula import (
    Formula,
    GivenValues,
    LinearFormula,
    NoisyMeasure,
    QuotientFormula,
)
from discreet.release.guarantee import guarantee_to_dict
from discreet.release.kept_guarantee import kept_guarantee
from discreet.release.keys import column_from_json, column_to_json, kind_of
from discreet.release.released_table import ReleasedTable
from discreet.release.statement.statement import Statement

Table = TypeVar("Table", bound=ReleasedTable)

VERSION = 1
"""Of the form of the text; part of it."""

_EXACT = 2.0**53
"""Up to here every whole number is a float."""


def to_json(release: ReleasedTable) -> str:
    """The release as one line."""
    measures = release.measures()
    places = {(measure.release, measure.name): place for place, measure in enumerate(measures)}
    plain = {
        "version": VERSION,
        "id": release.id,
        "question": release.query,
        "keys": [
            [name, (kind := kind_of(name, column)), column_to_json(kind, column)]
            for name, column in release.keys.items()
        ],
        "measures": [_measure_to_dict(measure, release.id) for measure in measures],
        "answers": [_column_to_dict(answer, places) for answer in release.answers],
        "confidence": release.confidence,
        "guarantee": guarantee_to_dict(release.guarantee),
        "event": json.loads(release.event.to_json()),
        "warnings": release.warnings,
        "statement": dict(release.statement),
    }
    if release.left_out is not None:
        plain["left_out"] = json.loads(to_json(release.left_out))
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(kind: type[Table], text: str) -> Table:
    """The release that :func:`to_json` wrote, as one of ``kind``."""
    with refusing(code="release_not_json", expectation="a release as `to_json` wrote it"):
        plain = plain_json(text)
        version = plain["version"]
        if version is True or version != VERSION:
            raise InvalidParameter(
                code="release_version",
                expectation=f"a release written in form {VERSION}",
                received=version,
                remedy="Upgrade discreet, or read it with the version that wrote it.",
            )
        found = _release(kind, plain)
        _try_all(found)
        return found


def _try_all(found: ReleasedTable) -> None:
    """Work everything out once: numbers that were read may be of any size, facts of any kind."""
    if isinstance(found.statement, Statement):
        found.statement.try_words()
    for answer in found.answers:
        _ = answer.values, answer.lower, answer.upper
    _ = to_json(found), found.to_dict(), str(found)


def _release(kind: type[Table], plain: Mapping[str, Any]) -> Table:
    """The release with the report that came with it, if any."""
    report = plain.get("left_out")
    return kind(**_parts(plain), left_out=None if report is None else _release(kind, report))


def _parts(plain: Mapping[str, Any]) -> dict[str, Any]:

    measures = [_measure(each, plain["id"]) for each in plain["measures"]]
    event = events.from_json(json.dumps(plain["event"]))
    return {
        "id": plain["id"],
        "query": plain["question"],
        "keys": {name: column_from_json(kind, values) for name, kind, values in plain["keys"]},
        "answers": tuple(_column(each, measures) for each in plain["answers"]),
        "confidence": plain["confidence"],
        "guarantee": kept_guarantee(plain["guarantee"], event, plain["statement"]),
        "event": event,
        "warnings": tuple(plain["warnings"]),
        "statement": plain["statement"],
    }


def _measure_to_dict(measure: NoisyMeasure, own: str) -> dict[str, Any]:
    steps = _steps(measure)
    plain: dict[str, Any] = {
        "name": measure.name,
        "law": measure.distribution.to_dict(),
        **({"values": measure.values} if steps is None else {"steps": steps}),
    }
    if measure.release != own:
        plain["release"] = measure.release
    if measure.cells is not None:
        plain["cells"] = measure.cells
    return plain


def _measure(plain: Mapping[str, Any], own: str) -> NoisyMeasure:
    distribution, cells = distribution_from_dict(plain["law"]), plain.get("cells")
    steps = plain.get("steps")
    values = plain["values"] if steps is None else [each * distribution.step for each in steps]
    return NoisyMeasure(
        plain.get("release", own),
        plain["name"],
        distribution,
        tuple(values),
        None if cells is None else tuple(cells),
    )


def _steps(measure: NoisyMeasure) -> list[int] | None:
    """Reals on the grid of their noise as whole numbers of its steps: shorter, and as exact."""
    if not measure.values or isinstance(measure.values[0], int):
        return None
    with np.errstate(over="ignore"):
        steps = np.array(measure.values) / measure.distribution.step
    if not ((np.abs(steps) <= _EXACT) & (steps == np.rint(steps))).all():
        return None
    whole: list[int] = steps.astype(np.int64).tolist()
    return whole


def _column_to_dict(
    answer: ReleasedColumn, places: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    return {
        "name": answer.name,
        "note": answer.note,
        "interval": _interval_to_dict(answer.interval),
        **({"whole": True} if answer.whole else {}),
        **_formula_to_dict(answer.formula, places),
    }


def _column(plain: Mapping[str, Any], measures: list[NoisyMeasure]) -> ReleasedColumn:
    return ReleasedColumn(
        name=plain["name"],
        formula=_formula(plain, measures),
        interval=_interval(plain["interval"]),
        note=plain["note"],
        whole=plain.get("whole", False),
    )


def _formula_to_dict(formula: Formula, places: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    match formula:
        case GivenValues(values=values):
            return {"values": values}
        case LinearFormula():
            return {"linear": _linear_to_dict(formula, places)}
        case QuotientFormula():
            return {
                "numerator": _linear_to_dict(formula.numerator, places),
                "denominator": _linear_to_dict(formula.denominator, places),
                "offset": formula.offset,
                "within": _range_to_list(formula.within),
            }


def _formula(plain: Mapping[str, Any], measures: list[NoisyMeasure]) -> Formula:
    if "values" in plain:
        return GivenValues(tuple(plain["values"]))
    if "linear" in plain:
        return _linear(plain["linear"], measures)
    return QuotientFormula(
        _linear(plain["numerator"], measures),
        _linear(plain["denominator"], measures),
        plain["offset"],
        _range(plain["within"]),
    )


def _linear_to_dict(
    formula: LinearFormula, places: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    return {
        "terms": [
            [factor, places[measure.release, measure.name]] for factor, measure in formula.terms
        ],
        "constant": formula.constant,
        "within": _range_to_list(formula.within),
    }


def _linear(plain: Mapping[str, Any], measures: list[NoisyMeasure]) -> LinearFormula:
    terms = tuple((factor, measures[place]) for factor, place in plain["terms"])
    return LinearFormula(terms, plain["constant"], _range(plain["within"]))


def _interval_to_dict(interval: Interval) -> Any:
    match interval:
        case None:
            return None
        case HalfWidth(half_width=width):
            return {"half_width": width}
        case Ends(lower=lower, upper=upper):
            return {"lower": _finite(lower, -math.inf), "upper": _finite(upper, math.inf)}


def _interval(plain: Any) -> Interval:
    if plain is None:
        return None
    if "half_width" in plain:
        return HalfWidth(plain["half_width"])
    lower = tuple(-math.inf if end is None else end for end in plain["lower"])
    return Ends(lower, tuple(math.inf if end is None else end for end in plain["upper"]))


def _finite(ends: tuple[float, ...], infinite: float) -> Any:
    if infinite not in ends:
        return ends
    return [None if end == infinite else end for end in ends]


def _range_to_list(within: Range) -> list[Any]:
    low, high = within
    return [None if low == -math.inf else low, None if high == math.inf else high]


def _range(plain: Any) -> Range:
    low, high = plain
    return (-math.inf if low is None else low, math.inf if high is None else high)
