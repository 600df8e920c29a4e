"""A program that spends from a ledger and notes each release once it is durable.

    python writer.py LEDGER START TRANSCRIPT PACE

LEDGER is a path, or a connection string of a server; then the key lies beside START. The program
opens the ledger when the file START appears, and then reserves, answers and commits until it is
killed or, at pace ``once``, until the budget is used up. A line of the transcript is the
reservation and the value released; it is written, and flushed, after ``commit`` has returned.
"""

import os
import sys
import time
from pathlib import Path
from uuid import uuid4

from discreet.accounting.adaptive.steps import STEPS
from discreet.errors import Exhausted
from discreet.ledger import Ledger, LedgerError, LedgerTerms, PostgreSQL, SQLite

LIMIT = (200 * STEPS,)


def terms() -> LedgerTerms:
    """The terms of every ledger that writers write to."""
    return LedgerTerms(
        unit="Row()",
        budget={"epsilon": "1"},
        filter="epsilon",
        limit=LIMIT,
        identities="question/1",
    )


def ledger_of(place: str, key: Path) -> Ledger:
    """A file, or a ledger on a server."""
    return PostgreSQL(place, name="visits", key=key) if "host=" in place else SQLite(place)


def main(place: str, start: Path, transcript: Path, pace: str) -> None:
    """Write until the end."""
    while not start.exists():
        time.sleep(0.001)
    ledger = ledger_of(place, start.with_name("visits.key"))
    while True:
        try:
            ledger.open(terms())
            break
        except LedgerError as error:
            if error.code != "ledger_unreachable":
                raise
    notes = os.open(transcript, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    charge = STEPS
    while True:
        try:
            name = ledger.reserve(
                analyst=str(os.getpid()), query="count", charge=(charge,), event="{}", detail={}
            )
        except Exhausted:
            if pace == "once":
                return
            charge = 0  # goes on writing, so that it can go on being killed
            continue
        value = uuid4().hex
        if int(value, 16) % 4 == 0:
            ledger.answer(name, {"value": value})
        ledger.commit(name, {"value": value})
        os.write(notes, f"{name} {value}\n".encode())
        os.fsync(notes)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
