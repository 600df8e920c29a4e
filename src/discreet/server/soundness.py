"""Checks of what is about to be published: of released numbers and the ledger's record, never data.

One that fails holds the whole publication: what is published cannot be called back, and a reader
who finds one wrong table trusts none.

Each check looks at one release, and says what it found. None is about the data, so they cost
nothing; one may fail by the chance of noise alone, and says how rarely.

Source: 004d:D19.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.release import Release

_FAR = 4.0
"""Half-widths below zero at which a count is no count: at 95 % and Laplace noise, e**-12 a cell."""
_COUNTS = ("number of rows", "number of people", "number of records")


@dataclass(frozen=True)
class SoundnessFinding:
    """What is wrong with a release, in words for the owner."""

    check: str
    release: str
    words: str

    def plain(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {"check": self.check, "release": self.release, "words": self.words}


Check = Callable[[Release], Iterator[str]]


def findings(key: str, document: str) -> list[SoundnessFinding]:
    """What all checks find in a stored release; what they find of many cells, once."""
    try:
        plain = json.loads(document)
        if not _is_private(plain.get("evaluation", {"private": True})):
            words = "it compares with real rows and was not made privately"
            return [SoundnessFinding("private", key, words)]
        made = list(_releases(plain))
    except (DiscreetError, ValueError, KeyError, TypeError, AttributeError) as error:
        return [SoundnessFinding("readable", key, f"it cannot be read: {type(error).__name__}")]
    if not made:
        return [SoundnessFinding("readable", key, "it holds no table that could be checked")]
    found = (
        SoundnessFinding(name, key, words)
        for release in made
        for name, check in CHECKS.items()
        for words in check(release)
    )
    return list(dict.fromkeys(found))


def _is_private(evaluation: Any) -> bool:
    """Whether an evaluation of a synthetic table says that it is private; else it is not."""
    return isinstance(evaluation, dict) and evaluation.get("private") is True


def same_as_kept(key: str, document: str, kept: dict[str, Any] | None) -> list[SoundnessFinding]:
    """Whether the ledger holds the same numbers under its seals; ``kept`` is what it has."""
    if kept is None:
        return [SoundnessFinding("sealed", key, "the ledger holds no such release")]
    stored = _numbers(json.loads(document))
    sealed = _kept_numbers(kept)
    if stored is None or sealed is None or stored != sealed:
        return [SoundnessFinding("sealed", key, "the ledger holds other numbers under its seal")]
    return []


def _releases(document: dict[str, Any]) -> Iterator[Release]:
    if "release" in document:
        yield Release.from_json(json.dumps(document["release"]))
    for each in document.get("batch", {}).values():
        yield Release.from_json(json.dumps(each["release"]))
    if "synopsis" in document:
        from discreet.curator.synopsis.stored_form import synopsis_from_json

        made = synopsis_from_json(json.dumps(document["synopsis"]))
        yield made.table(*made.universe.names[:1])


def _numbers(document: dict[str, Any]) -> Any:
    """What must not differ: the id and all noisy values."""
    if "synthetic" in document:
        return document["synthetic"]["id"], document["synthetic"]["model"]
    if "tables" in document:
        return document["tables"]["id"], document["tables"]["plain"]
    if "release" in document:
        return document["release"]["id"], document["release"]["measures"]
    if "synopsis" in document:
        return document["synopsis"]["id"], document["synopsis"]["synopsis"]
    ids = {each["release"]["id"] for each in document.get("batch", {}).values()}
    return (ids.pop(), None) if len(ids) == 1 else None


def _kept_numbers(kept: dict[str, Any]) -> Any:
    if "release" in kept:
        release = json.loads(kept["release"])
        return release["id"], release["measures"]
    for kind in ("synopsis", "synthetic", "tables"):
        if kind in kept:
            return kept[kind], kept["plain"]
    return (kept["batch"], None) if "batch" in kept else None


def _private(release: Release) -> Iterator[str]:
    """It was made with the system's noise, not in test mode."""
    if release.statement.get("private") is not True:
        yield "it was not made privately"


def _whole(release: Release) -> Iterator[str]:
    """Every number is a number, inside its interval."""
    columns = release.to_dict()
    for answer in release.answers:
        values = columns[answer.name]
        lower, upper = columns.get(f"{answer.name}_lower"), columns.get(f"{answer.name}_upper")
        for place, value in enumerate(values):
            if value is None:
                continue
            if isinstance(value, int | float) and not math.isfinite(value):
                yield f"{answer.name} has a value that is no number"
            elif _outside(value, lower, upper, place):
                yield f"{answer.name} has a value outside of its interval"


def _outside(value: Any, lower: list[Any] | None, upper: list[Any] | None, place: int) -> bool:
    if lower is None or upper is None or None in (lower[place], upper[place]):
        return False
    return not lower[place] <= value <= upper[place]


def _distinct(release: Release) -> Iterator[str]:
    """No combination of keys stands twice."""
    keys = list(zip(*release.keys.values(), strict=True))
    if len(set(keys)) < len(keys):
        yield "a combination of keys stands twice"


def _possible(release: Release) -> Iterator[str]:
    """No count lies further below zero than noise explains."""
    counted = {
        name
        for measure in release.statement.get("measures", [])
        if measure.get("measure") in _COUNTS
        for name in measure.get("columns", [])
    }
    columns = release.to_dict()
    for name in sorted(counted):
        values, lower = columns.get(name), columns.get(f"{name}_lower")
        if values is None or lower is None:
            continue
        for value, low in zip(values, lower, strict=True):
            if value is not None and low is not None and value + _FAR * (value - low) < 0:
                yield f"{name} has a count far below zero"


CHECKS: dict[str, Check] = {
    "private": _private,
    "whole": _whole,
    "distinct": _distinct,
    "possible": _possible,
}
