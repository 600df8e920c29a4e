"""Refusals between processes and on their way out: plain, with nothing but public parts."""

from __future__ import annotations

import re
from typing import Any

from discreet.core.errors import FAMILIES, DiscreetError, EngineFailed, family_of

_LONGEST = 2000
_PLACE = re.compile(r"line (\d+), column (\d+):")


class ServiceFailed(EngineFailed):
    """Something in the service itself went wrong."""


def lost() -> EngineFailed:
    """The process that worked on a question ended before its time."""
    return EngineFailed(
        code="worker_lost",
        expectation="a process that works to the end",
        remedy="It ended before its time. If it was charged it stays charged, and your account "
        "says so. Asking the same again is free if it had been answered.",
    )


def too_long(seconds: float) -> EngineFailed:
    """Work was ended at the public limit."""
    return EngineFailed(
        code="work_too_long",
        expectation=f"work of at most {seconds:g} seconds",
        remedy="It was ended; what was charged stays charged. Ask for less at a time.",
    )


def failed() -> ServiceFailed:
    """A mistake of this software; what it was stands in the owner's log."""
    return ServiceFailed(
        code="service_failed",
        expectation="a service without mistakes",
        remedy="Tell the owner, who finds the reason in the log.",
    )


def described(error: DiscreetError, text: str = "") -> dict[str, Any]:
    """An error as plain JSON; with the place in ``text`` that it is about, where that is known."""
    received = None if error.received is None else _short(error.received)
    told: dict[str, Any] = {
        "code": error.code,
        "family": family_of(error),
        "expectation": error.expectation,
        "received": received,
        "remedy": error.remedy,
    }
    place = _place(error, text)
    return told if place is None else {**told, "start": place[0], "end": place[1]}


def raised(plain: dict[str, Any]) -> DiscreetError:
    """An error again, from :func:`described`; one without a family is about a parameter."""
    parts = {name: plain.get(name) for name in ("code", "expectation", "received", "remedy")}
    return FAMILIES[plain.get("family", "parameter")](**parts)  # type: ignore[arg-type]


def _short(received: object) -> str:
    text = received if isinstance(received, str) else str(received)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _place(error: DiscreetError, text: str) -> tuple[int, int] | None:
    """Where in the text a word begins and ends that an error is about, in letters."""
    said = error.received
    if not text or not isinstance(said, str):
        return None
    named = _PLACE.match(said)
    if error.code == "sql_syntax" and named:
        lines = text.splitlines(keepends=True)
        start = sum(map(len, lines[: int(named[1]) - 1])) + int(named[2]) - 1
        word = re.match(r"\w+|\S|$", text[start:])
        return min(start, len(text)), min(start + max(1, word.end() if word else 1), len(text))
    whole = rf"(?<!\w){re.escape(said)}(?!\w)" if re.fullmatch(r"\w+", said) else re.escape(said)
    found = re.search(whole, text, re.IGNORECASE)
    return None if found is None else found.span()
