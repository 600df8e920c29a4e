"""Session logs that end their process at a chosen entry."""

from collections.abc import Callable

from discreet.ledger import EntryKind
from discreet.ledger.session_log import SessionLog


class CrashError(Exception):
    """The process ends here."""


def crashing(at: int, *, written: bool) -> Callable[..., None]:
    """In place of ``SessionLog._added``: crash at the n-th entry, before or after it is durable."""
    honest = SessionLog._added

    def added(self: SessionLog, kind: EntryKind, text: str) -> None:
        nonlocal at
        at -= 1
        if at or written:
            honest(self, kind, text)
        if not at:
            raise CrashError

    return added
