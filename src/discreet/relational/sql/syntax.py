"""Where a text stops being SQL: line, column, a caret under the place, and the analyst's own words.

What the parser says of its own classes is never shown.

Source: contract, "What may be seen" (a refusal explains itself).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter

_WIDEST = 80
_SHORT = 40


@dataclass(frozen=True)
class TextPlace:
    """A place in a text; lines and columns count from one."""

    line: int
    column: int

    def pointed_at(self, text: str) -> str:
        """The line, cut to what fits, with a caret under the place."""
        lines = text.splitlines() or [""]
        whole = lines[min(self.line, len(lines)) - 1]
        at = min(max(self.column - 1, 0), len(whole))
        start = max(0, at - _WIDEST // 2)
        shown = whole[start : start + _WIDEST]
        before = "".join("\t" if letter == "\t" else " " for letter in whole[start:at])
        return f"    {shown}\n    {before}^"

    def before(self, text: str) -> str:
        """The text up to the place."""
        lines = text.splitlines(keepends=True)
        return "".join(lines[: self.line - 1]) + "".join(lines[self.line - 1 :])[: self.column - 1]


def not_sql(text: str, fault: Exception) -> InvalidParameter:
    """The refusal of a text that the parser could not read."""
    place, reason = _locate_fault(text, fault)
    return InvalidParameter(
        code="sql_syntax",
        expectation="one SELECT statement in SQL",
        received=f"line {place.line}, column {place.column}: {reason}",
        remedy="Fix the syntax at the caret; docs/sql.md lists what is understood.\n"
        + place.pointed_at(text),
    )


def _locate_fault(text: str, fault: Exception) -> tuple[TextPlace, str]:
    errors = getattr(fault, "errors", None)
    if errors:
        return _of_parser(text, errors[0])
    opened = re.search(r"Missing (\S+) from (\d+):(\d+)", f"{fault.__cause__}")
    if opened:
        return _opening(text, int(opened[2]), opened[1]), (
            f"text that begins with {opened[1]} and does not end"
        )
    comment = text.rfind("/*")
    if comment >= 0 and "*/" not in text[comment:]:
        return _place_of(text, comment), "a comment that begins with /* and does not end"
    return TextPlace(1, 1), "text that ends inside of quotes, or nests too deep"


def _of_parser(text: str, error: dict[str, object]) -> tuple[TextPlace, str]:
    near, said = str(error.get("highlight") or ""), str(error.get("description") or "")
    line, end = int(str(error.get("line") or 1)), int(str(error.get("col") or 1))
    place = TextPlace(line, max(1, end - len(near.splitlines()[-1] if near else "") + 1))
    word = near.strip()[:_SHORT] or "the end"
    call = _call_around(place.before(text))
    if near == ")" and call and said.startswith("Required"):
        return place, f"too few arguments for {call}"
    if said == "Expecting )":
        return place, f"a bracket that is not closed, near {word}"
    if said.startswith("Expected ") and "<" not in said:
        return place, f"{said[0].lower()}{said[1:]}"
    if said.startswith(("Required", "Expected")):
        return place, f"something is missing near {word}"
    return place, f"near {word}"


def _call_around(before: str) -> str:
    """The function whose brackets are open at the end of a text, as it was written."""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] == ")") - (before[at] == "(")
        if depth < 0:
            named = re.search(r"(\w+)\s*$", before[:at])
            return named[1] if named else ""
    return ""


def _opening(text: str, line: int, sign: str) -> TextPlace:
    """The last place of a sign on a line; what it opens goes on to the end of the text."""
    lines = text.splitlines() or [""]
    return TextPlace(line, max(0, lines[min(line, len(lines)) - 1].rfind(sign)) + 1)


def _place_of(text: str, offset: int) -> TextPlace:
    before = text[:offset]
    return TextPlace(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
