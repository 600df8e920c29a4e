"""What the service answered, as the types that a curator answers with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.client import loaded
from discreet.client.refusals import misread
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit
from discreet.core.written import FORMS
from discreet.release.batch import Batch
from discreet.release.keys import column_from_json
from discreet.release.preview import Expected, Preview
from discreet.release.release import Release
from discreet.release.reply import Origin, Reply

_BY_NUMBERS: dict[frozenset[str], type[Guarantee]] = {
    frozenset(name for name, _ in form.names if name != "unit"): kind
    for kind, form in FORMS.items()
    if issubclass(kind, Guarantee)
}
"""Each definition of privacy has numbers of its own."""


@dataclass(frozen=True, kw_only=True)
class RoundShare:
    """One's own share of a round that was closed.

    Attributes:
        round: Which.
        answers: Estimated counts of one's own queries, in the order they were submitted.
        corrected: Which of them were answered afresh, since the synopsis was far off.
        exhausted: Whether all corrections were used, so that later answers were not checked.
        synopsis: What everybody gets; None where there are only answers of one's own.
        guarantee: What was promised to the data's people, with its unit.
    """

    round: str
    answers: tuple[float, ...]
    corrected: tuple[bool, ...]
    exhausted: bool
    synopsis: Any
    guarantee: Guarantee


def guarantee_of(stated: Mapping[str, float], unit: PrivacyUnit | None = None) -> Guarantee:
    """The guarantee of some numbers.

    >>> guarantee_of({"epsilon": 1.0, "delta": 1e-6})
    ApproxDP(unit=None, epsilon=1.0, delta=1e-06)
    """
    kind = _BY_NUMBERS.get(frozenset(stated))
    if kind is None:
        raise misread(received=f"a guarantee of {sorted(stated)}")
    made = kind(**stated)  # type: ignore[arg-type]
    return made if unit is None else made.per(unit)


def release_of(plain: Mapping[str, Any]) -> Release:
    """A table of released columns, from the text that holds all of it."""
    return Release.from_json(json.dumps(plain["release"]))


def batch_of(plain: Mapping[str, Any]) -> Batch:
    """Answers by name."""
    named = {name: release_of(each) for name, each in plain["batch"].items()}
    apart = {
        name: Release.from_json(json.dumps(each))
        for name, each in plain.get("unprocessed", {}).items()
    }
    first = next(iter(named.values()))
    return Batch(named, {**named, **apart}, first.guarantee, first.event)


def preview_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> Preview:
    """Expected errors, and the price."""
    return Preview(
        columns=tuple(_expected(each) for each in plain["columns"]),
        confidence=plain["confidence"],
        cells=plain["cells"],
        price=guarantee_of(plain["price"], unit),
        affordable=plain["affordable"],
        affordable_by_zcdp=plain["affordable_by_zcdp"],
        keys=plain["keys"],
        left_out=tuple(_expected(each) for each in plain["left_out"]),
    )


def synopsis_preview_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> Any:
    """Expected errors of a synopsis, and its price."""
    types = loaded.synopsis_previews()
    marginals = (
        types.PredictedMarginal(**{**each, "attributes": tuple(each["attributes"])})
        for each in plain["marginals"]
    )
    return types.SynopsisPreview(
        query=plain["question"],
        queries=plain["queries"],
        rmse=plain["rmse"],
        marginals=tuple(marginals),
        price=guarantee_of(plain["price"], unit),
        affordable=plain["affordable"],
    )


def synopsis_of(plain: Mapping[str, Any], universe: Any = None) -> Any:
    """A synopsis, of a universe that is at hand; whatever is asked of it is computed here."""
    text = json.dumps(plain["synopsis"])
    return loaded.synopses().synopsis_from_json(text, universe=universe)


def universe_of(plain: Mapping[str, Any]) -> Any:
    """A universe as the curator makes it."""
    attribute = loaded.attributes().Attribute
    return loaded.universes().KeyedUniverse(
        tuple(
            attribute(name, column_from_json(kind, values))
            for name, kind, values in plain["attributes"]
        ),
        tuple(plain["questions"]),
    )


def bounds_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> Any:
    """Estimated bounds of a column."""
    return loaded.bounds().Bounds(
        column=plain["column"],
        low=plain["low"],
        high=plain["high"],
        needed=plain["needed"],
        guarantee=guarantee_of(plain["guarantee"], unit),
    )


def reply_of(plain: Mapping[str, Any]) -> Reply:
    """One answer of a conversation."""
    return Reply(**{**plain, "origin": Origin(plain["origin"])})


def share_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> RoundShare:
    """One's share of a round."""
    return RoundShare(
        round=plain["round"],
        answers=tuple(plain["answers"]),
        corrected=tuple(plain["corrected"]),
        exhausted=plain["exhausted"],
        synopsis=None if plain["synopsis"] is None else synopsis_of(plain),
        guarantee=guarantee_of(plain["guarantee"], unit),
    )


def synthetic_of(plain: Mapping[str, Any]) -> Any:
    """A synthetic table: its model, from which rows are drawn here."""
    return loaded.synthetic_tables().synthetic_from_json(json.dumps(plain["synthetic"]))


def tables_of(plain: Mapping[str, Any]) -> Any:
    """Several synthetic tables: their models, from which rows are drawn here."""
    return loaded.several_tables().tables_from_json(json.dumps(plain["tables"]))


def tables_preview_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> Any:
    """What several synthetic tables would take."""
    types = loaded.tables_previews()
    return types.TablesPreview(
        query=plain["query"],
        tables=tuple(types.OneTablePreview(**each) for each in plain["tables"]),
        price=guarantee_of(plain["price"], unit),
        affordable=plain["affordable"],
        warnings=tuple(plain["warnings"]),
    )


def stored_of(  # noqa: PLR0911 -- one line for each kind
    kind: str, plain: Mapping[str, Any], unit: PrivacyUnit
) -> Any:
    """What was released, whatever it was."""
    match kind:
        case "sql":
            return release_of(plain)
        case "batch":
            return batch_of(plain)
        case "synopsis":
            return synopsis_of(plain)
        case "synthesize":
            return synthetic_of(plain)
        case "synthesize_tables":
            return tables_of(plain)
        case "bounds":
            return bounds_of(plain, unit)
        case "round":
            return share_of(plain, unit)
    return dict(plain)


def _expected(plain: Mapping[str, Any]) -> Expected:
    return Expected(
        name=plain["name"],
        half_width=plain["half_width"],
        by_size=tuple((size, width) for size, width in plain["by_size"]),
        note=plain["note"],
        typical=tuple((size, width) for size, width in plain["typical"]),
    )
