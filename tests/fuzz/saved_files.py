"""Saved files with one place changed, read again: refused in words, or as true and as usable.

A file that was tampered with, torn or written by somebody else may say anything. What is taken has
a guarantee that its event keeps, and everything that can be asked of it is answered.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.core.events.mechanisms import Unprotected
from discreet.release.kept_guarantee import keeps

GONE = object()
"""In place of what is left out."""
ENDS = 2
"""Entries at either end of a long list that are changed; the others are of the same kind."""


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    made: Any = []
    for _ in range(levels):
        made = [made]
    return made


STRANGE: dict[str, Any] = {
    "gone": GONE,
    "nothing": None,
    "true": True,
    "false": False,
    "zero": 0,
    "one": 1,
    "minus one": -1,
    "seven": 7,
    "half": 0.5,
    "huge": 10**400,
    "minus huge": -(10**400),
    "many": 2**40,
    "largest double": 1.7e308,
    "tiny": 5e-324,
    "NaN": float("nan"),
    "infinite": float("-inf"),
    "empty text": "",
    "text": "x",
    "digits": "9" * 30,
    "surrogate": "\ud800",
    "code": "__import__('os').abort()",
    "empty list": [],
    "list": [1, "x", None],
    "deep list": deep(400),
    "empty object": {},
    "ratio": {"ratio": ["1", "0"]},
    "another kind": {"kind": "Row"},
}

Path = tuple[Any, ...]
Load = Callable[[str], Any]
Use = Callable[[Any], None]


@dataclass(frozen=True)
class SavedFile:
    """What was written, how it is read, and all that may be asked of it."""

    text: str
    load: Load
    use: Use


@dataclass
class Told:
    """What became of the changed files."""

    ends: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def places(plain: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a document, of long lists those at the ends."""
    if path:
        yield path
    if isinstance(plain, dict):
        for name in plain:
            yield from places(plain[name], (*path, name))
    elif isinstance(plain, list):
        for number in range(len(plain)):
            if number < ENDS or number >= len(plain) - ENDS:
                yield from places(plain[number], (*path, number))


def changed(plain: Any, path: Path, value: Any) -> Any:
    """A copy with another value in one place."""
    made = copy.deepcopy(plain)
    inside = made
    for step in path[:-1]:
        inside = inside[step]
    if value is GONE:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return made


def changes(saved: SavedFile) -> list[tuple[Path, str]]:
    """All places with all that may stand there instead."""
    return [(path, name) for path in places(json.loads(saved.text)) for name in STRANGE]


def try_changes(saved: SavedFile, chosen: list[tuple[Path, str]], told: Told) -> None:
    """Read each changed file, and use what is taken."""
    plain = json.loads(saved.text)
    for path, name in chosen:
        text = json.dumps(changed(plain, path, STRANGE[name]))
        end = outcome(saved, text)
        told.met[name] += 1
        told.ends[end.partition(":")[0]] += 1
        if end.startswith("fault"):
            told.faults.append(f"{'/'.join(map(str, path))} = {name}: {end}")


def outcome(saved: SavedFile, text: str) -> str:
    """Taken, refused, or how it failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a foreign file holds is nobody's secret
        try:
            found = saved.load(text)
        except DiscreetError as refused:
            return "refused" if refused.code else "fault: no code"
        except Exception as error:
            return f"fault: {type(error).__name__} at reading: {error}"[:200]
        if not true_guarantee(found):
            return "fault: the guarantee is no price of the event"
        try:
            saved.use(found)
        except Exception as error:
            return f"fault: {type(error).__name__} at use: {error}"[:200]
    return "taken"


def true_guarantee(found: Any) -> bool:
    """Whether the guarantee is kept by the event, or said not to hold."""
    guarantee = getattr(found, "guarantee_", None) or found.guarantee
    event = getattr(found, "event_", None) or found.event
    facts = getattr(found, "facts_", None) or getattr(found, "facts", None)
    statement = getattr(found, "statement", found)
    facts = statement if facts is None else facts
    if facts.get("private", True) is not True:
        return "NOT PRIVATE" in str(statement)
    return not isinstance(event, Unprotected) and keeps(guarantee, event)
