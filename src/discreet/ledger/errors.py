"""What can go wrong with a ledger, in the words an owner needs.

Everything here is public: places of files, numbers of entries, names of parts. No key, no
question and no release is ever part of an error.
"""

from __future__ import annotations

from discreet.core.errors import LedgerError

_KEEP = "Keep it as it is; restore the last back-up with `discreet.ledger.restore`."


def damaged(*, what: str) -> LedgerError:
    """An entry, or the file itself, is not as it was written."""
    return LedgerError(
        code="ledger_damaged",
        expectation="a ledger as it was written, every entry sealed under the owner's key",
        received=what,
        remedy=_KEEP,
    )


def rolled_back(*, what: str) -> LedgerError:
    """The ledger lacks an entry that is known to have existed."""
    return LedgerError(
        code="ledger_rolled_back",
        expectation="a ledger that contains every entry known to have been written",
        received=what,
        remedy="It was cut short, replaced or restored from an old copy. Put the newest copy back.",
    )


def replaced(name: str) -> LedgerError:
    """The path leads to another file than the one that was opened."""
    return LedgerError(
        code="ledger_replaced",
        expectation="the same file for as long as the ledger is open",
        received=name,
        remedy="Stop every program that has it open before a ledger is moved or restored.",
    )


def superseded(place: str) -> LedgerError:
    """The key file says that another copy of the ledger lives."""
    return LedgerError(
        code="ledger_superseded",
        expectation="the one living copy of the ledger, where the owner's key says that it lies",
        received=f"another copy than the one at {place}",
        remedy=(
            "Open that one; a copy can be read and verified, not added to. If the ledger was moved"
            " to this place, say so: `backup` it, and `restore` the back-up to its place with the"
            " last `checkpoint=` you kept."
        ),
    )


def missing(name: str) -> LedgerError:
    """There is a key, or somebody reads, but there is no ledger."""
    return LedgerError(
        code="ledger_missing",
        expectation="the ledger at its place",
        received=name,
        remedy=(
            "It may have been deleted or moved; starting afresh would forget what was spent."
            " Restore a back-up. Another ledger has another path or name, and another key file."
        ),
    )


def not_opened() -> LedgerError:
    """Nothing has been written yet, not even the terms."""
    return LedgerError(
        code="ledger_not_opened",
        expectation="a ledger whose terms are written",
        remedy="Call `open(terms)` first.",
    )


def before_release(form: str) -> LedgerError:
    """It was begun by a program from before the first release."""
    return LedgerError(
        code="ledger_before_release",
        expectation="a ledger that was begun by a released version",
        received=form,
        remedy=(
            "Begin another ledger, and enter what was spent in this one with `record`: people are"
            " protected by the sum of both."
        ),
    )


def foreign(name: str) -> LedgerError:
    """The file was written by something else."""
    return LedgerError(
        code="not_a_ledger",
        expectation="a file written as a ledger",
        received=name,
        remedy="Choose another path. If this was your ledger, it is damaged: restore a back-up.",
    )


def version_unknown(version: int, *, known: int) -> LedgerError:
    """The ledger says that it has another version than the one known here."""
    if version < known:
        return damaged(what=f"version {version}, in which no ledger was ever written")
    return LedgerError(
        code="ledger_too_new",
        expectation="a form of ledger that this version knows",
        received=version,
        remedy="Upgrade discreet; a ledger is never rewritten downwards.",
    )


def busy(seconds: float) -> LedgerError:
    """Other writers held the file for too long."""
    return LedgerError(
        code="ledger_busy",
        expectation=f"the ledger to be free within {seconds:g} seconds",
        remedy="Try again. If nobody writes, look for a program that keeps it locked.",
    )


def unwritable(*, reason: str) -> LedgerError:
    """The disk is full, the file read-only, or the place out of reach."""
    return LedgerError(
        code="ledger_unwritable",
        expectation="a place where entries can be written durably",
        received=reason,
        remedy="Free space or fix permissions, then repeat; what was written before is safe.",
    )


def key_wrong() -> LedgerError:
    """The key is not the one the ledger was started with."""
    return LedgerError(
        code="ledger_key_wrong",
        expectation="the owner's key with which this ledger was started",
        remedy="Pass the right `key=`. If it is the right one, the first entry was changed.",
    )


def key_missing(name: str) -> LedgerError:
    """There is a ledger, but no key."""
    return LedgerError(
        code="ledger_key_missing",
        expectation="the owner's key",
        received=name,
        remedy="Pass `key=`, the place to which you moved it. Without it nothing can be added.",
    )


def closed() -> LedgerError:
    """The ledger was closed in this program."""
    return LedgerError(
        code="ledger_closed",
        expectation="an open ledger",
        remedy="Make a new one for the same path.",
    )


def not_copied() -> LedgerError:
    """A copy would spend the same budget twice, or carry the key away."""
    return LedgerError(
        code="ledger_not_copied",
        expectation="one ledger, not a copy",
        remedy="Hand over the path, and let each process open it: SQLite(path).",
    )


def restore_refused(*, what: str) -> LedgerError:
    """The copy would take away entries, or cannot be compared."""
    return LedgerError(
        code="restore_refused",
        expectation="a back-up that goes further than whatever is in its place",
        received=what,
        remedy="Use a newer back-up. Spending that happened is never forgotten.",
    )


def unreachable(where: str, *, reason: str) -> LedgerError:
    """The server cannot be asked; what was under way has left no trace."""
    return LedgerError(
        code="ledger_unreachable",
        expectation="the server that holds the ledger",
        received=f"{where}: {reason}",
        remedy="Nothing was written. Fix the connection or the credentials, then repeat.",
    )


def outcome_unknown(where: str) -> LedgerError:
    """The connection broke while an entry was made final, and the server stays silent."""
    return LedgerError(
        code="ledger_outcome_unknown",
        expectation="the server's word on whether the last entry was written",
        received=where,
        remedy=(
            "Take the charge as spent; no answer is shown. Once the server is back, `history` and"
            " `remaining` say how it ended."
        ),
    )


def not_flushed(*, setting: str) -> LedgerError:
    """The server acknowledges what a crash could take back."""
    return LedgerError(
        code="ledger_not_flushed",
        expectation="a server that acknowledges only what would survive a crash",
        received=setting,
        remedy="Let its administrator switch that on; a ledger on this server could forget.",
    )
