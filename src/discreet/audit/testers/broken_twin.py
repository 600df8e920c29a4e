"""Each sound mechanism beside a broken one that the auditor must catch.

An auditor that has never refuted anything proves nothing; a broken twin, its negative
control, shows that it can.

Source: 000a:E3 (failing variants), 004d:A8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Subject = TypeVar("Subject")


class TesterVerdict(Protocol):
    """What an auditor returns: ``Finding``, ``Verdict``, ``ThreeSided`` and the like."""

    @property
    def passes(self) -> bool:
        """Whether the subject survived."""


@dataclass(frozen=True)
class BrokenTwin(Generic[Subject]):
    """A sound subject, a broken one that looks like it, and why the latter is broken."""

    name: str
    sound: Subject
    broken: Subject
    why: str


def check_pair(twin: BrokenTwin[Subject], auditor: Callable[[Subject], TesterVerdict]) -> None:
    """Require that the auditor passes the sound subject and refutes the broken one."""
    verdict = auditor(twin.sound)
    if not verdict.passes:
        message = f"{twin.name}: the auditor refuted the sound subject: {verdict}"
        raise AssertionError(message)
    verdict = auditor(twin.broken)
    if verdict.passes:
        message = f"{twin.name}: the auditor missed the broken twin ({twin.why}): {verdict}"
        raise AssertionError(message)
