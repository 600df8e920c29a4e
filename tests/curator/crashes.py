"""Notebooks that end their process at a chosen entry."""

from collections.abc import Callable

from discreet.ledger import Kind
from discreet.ledger.session_log import Notebook


class CrashError(Exception):
    """The process ends here."""


def crashing(at: int, *, written: bool) -> Callable[..., None]:
    """In place of ``Notebook._added``: crash at the n-th entry, before or after it is durable."""
    honest = Notebook._added

    def added(self: Notebook, kind: Kind, text: str) -> None:
        nonlocal at
        at -= 1
        if at or written:
            honest(self, kind, text)
        if not at:
            raise CrashError

    return added
