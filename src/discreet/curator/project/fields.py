"""The fields of a project file, read one by one.

What is missing, misspelt or of another kind is refused with its name, its line and what to write
instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from discreet.core.errors import DiscreetError, InvalidParameter

Value = TypeVar("Value")


@dataclass(frozen=True)
class Shape(Generic[Value]):
    """What a field must hold, in words and as a test; ``secret`` values are never shown."""

    words: str
    example: str
    accepts: Callable[[object], bool]
    secret: bool = False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _can_be_shown(value: object, shape: Shape[Any]) -> bool:
    return isinstance(value, str | int | float) and not shape.secret


TEXT = Shape[str]("text in quotes", '"visits"', lambda v: isinstance(v, str) and bool(v))
NUMBER = Shape[int | float]("a number", "0.5", _is_number)
WHOLE = Shape[int]("a whole number", "20", lambda v: type(v) is int)
TRUTH = Shape[bool]("true or false", "true", lambda v: isinstance(v, bool))
LIST = Shape[list[Any]]("a list", '["A", "B"]', lambda v: isinstance(v, list))
TABLE = Shape[dict[str, Any]](
    "a table of fields", '{ kind = "number", low = 0, high = 120 }', lambda v: isinstance(v, dict)
)
VARIABLE = Shape[str](
    "the name of an environment variable, not what it holds,",
    '"CLINIC_ADDRESS"',
    lambda v: isinstance(v, str) and re.fullmatch(r"[A-Za-z_]\w*", v) is not None,
    secret=True,
)
DAY = Shape[date](
    "a day or a moment without quotes and without a time zone",
    "2024-01-31",
    lambda v: isinstance(v, date) and getattr(v, "tzinfo", None) is None,
)


@dataclass
class Fields:
    """The fields of one part of the file; ``place`` is its name, ``text`` the whole file."""

    values: dict[str, Any]
    place: tuple[str, ...]
    text: str
    _known: list[str] = field(default_factory=list)

    def take(self, name: str, shape: Shape[Value]) -> Value:
        """A field that must be there."""
        value = self.maybe(name, shape)
        if value is None:
            near = get_close_matches(name, [n for n in self.values if n not in self._known], n=1)
            meant = f" It says {near[0]}: did you mean {name}?" if near else ""
            raise InvalidParameter(
                code="project_field_missing",
                expectation=f"the field {self.describe_field_place(name)}",
                remedy=f"Write {name} = {shape.example}, with your own value.{meant}",
            )
        return value

    def maybe(self, name: str, shape: Shape[Value]) -> Value | None:
        """A field that may be left out."""
        self._known.append(name)
        value = self.values.get(name)
        if value is None:
            return None
        if not shape.accepts(value):
            raise InvalidParameter(
                code="project_field_kind",
                expectation=f"{shape.words} in {self.describe_field_place(name)}",
                received=value if _can_be_shown(value, shape) else type(value).__name__,
                remedy=f"Write {name} = {shape.example}, with your own value.",
            )
        return value  # type: ignore[no-any-return]

    def choice(self, name: str, among: tuple[str, ...]) -> str:
        """A field that holds one of a few words."""
        words = f"one of {', '.join(among)}"
        word = self.take(name, Shape[str](words, f'"{among[0]}"', TEXT.accepts))
        if word not in among:
            near = get_close_matches(word, among, n=1)
            raise InvalidParameter(
                code="project_field_value",
                expectation=f"one of {', '.join(among)} in {self.describe_field_place(name)}",
                received=word,
                remedy=f'Write {name} = "{near[0] if near else among[0]}".',
            )
        return word

    def part(self, name: str) -> Fields:
        """A field that holds fields."""
        return Fields(self.take(name, TABLE), (*self.place, name), self.text)

    def parts(self, name: str) -> Iterator[tuple[str, Fields]]:
        """The named parts inside a field; none if it is not there."""
        inside = Fields(self.maybe(name, TABLE) or {}, (*self.place, name), self.text)
        for each in inside.values:
            yield each, inside.part(each)

    def finish(self) -> None:
        """Refuse what nobody asked for: a misspelt bound must not be a missing bound."""
        for name in self.values:
            if name in self._known:
                continue
            near = get_close_matches(name, self._known, n=1)
            hint = f"Did you mean {near[0]}?" if near else "Remove it."
            where = ".".join(self.place) or "the file"
            raise InvalidParameter(
                code="project_field_unknown",
                expectation=f"in {where} only the fields {', '.join(sorted(self._known))}",
                received=self.describe_field_place(name),
                remedy=hint,
            )

    def describe_field_place(self, name: str) -> str:
        """The full name of a field, with its line where that is found."""
        line = _line(self.text, (*self.place, name))
        return ".".join((*self.place, name)) + (f" (line {line})" if line else "")

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Refusals inside the block get the name of this field."""
        try:
            yield
        except DiscreetError as refusal:
            if refusal.code.startswith("project_"):  # it has its place already
                raise
            raise type(refusal)(
                code=refusal.code,
                expectation=f"{refusal.expectation}, in {self.describe_field_place(name)}",
                received=refusal.received,
                remedy=refusal.remedy,
            ) from None


def _line(text: str, place: tuple[str, ...]) -> int | None:
    """The line that holds a field, or the nearest part around it that has a line of its own."""
    section: tuple[str, ...] = ()
    found: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[([^\[\]]+)\]\s*(#.*)?$", line)
        if header:
            section = here = _names(header[1])
        else:
            key = re.match(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*'|\s*\.\s*)+)\s*=""", line)
            if key is None:
                continue
            here = (*section, *_names(key[1]))
        if place[: len(here)] == here and (found is None or len(here) > found[0]):
            found = (len(here), number)
    return None if found is None or found[0] < len(place) - 1 else found[1]


def _names(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r"""[\w-]+|"[^"]*"|'[^']*'""", dotted)
    return tuple(part.strip("\"'") for part in parts)
