"""Back-ups of the service: its state as lines of JSON, and the ledger beside it.

The state is read at one moment, then the ledger is copied: so the ledger is never the older of the
two, and every grant of the state is in it. What lets people in (tokens, links, logins) is not part
of a back-up, and the passwords in it let nobody in: what was revoked, and who was shut out since,
must not come back. After a restoration nobody comes in, by password or issuer, for whom no new link
was made; programs get new tokens.

The lines move between SQLite and PostgreSQL.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, insert, select

from discreet.core.errors import InvalidParameter
from discreet.curator.project.project import Project
from discreet.ledger import Checkpoint
from discreet.server.settings import ServiceSettings
from discreet.server.state import audit_log
from discreet.server.state.migrate import form_of, steps
from discreet.server.state.people import shut_out_all
from discreet.server.state.schema import METADATA, people
from discreet.server.state.store import StateStore

STATE, LEDGER, CHECKPOINT = "state.jsonl", "ledger.backup", "checkpoint.txt"
_LEFT_OUT = ("versions", "tokens", "links", "logins", "oidc_flows", "counters")
_FORM = "discreet-service-state/1"


def back_up(place: Path, folder: Path) -> Checkpoint:
    """Write state and ledger of a project into a new folder; the ledger's checkpoint."""
    project = Project.read(place)
    state = StateStore(ServiceSettings.of(project, place).state)
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise InvalidParameter(
            code="backup_exists",
            expectation="a new folder for the back-up, in one that can be written to",
            received=str(folder),
            remedy=f"Choose another name: {error.strerror}.",
        ) from None
    try:
        lines = state.copy_now(lambda connection: list(write_state_lines(connection)))
    finally:
        state.close()
    handle = os.open(folder / STATE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    ledger = project.read_ledger()
    try:
        checkpoint = ledger.backup(folder / LEDGER)
    finally:
        ledger.close()
    (folder / CHECKPOINT).write_text(f"{checkpoint}\n", encoding="utf-8")
    return checkpoint


def bring_back(place: Path, folder: Path, checkpoint: Checkpoint | None) -> Checkpoint:
    """Bring ledger and state of a project up to a back-up; the ledger's checkpoint then."""
    project = Project.read(place)
    text = _read_backup_file(folder / STATE)
    kept = checkpoint or Checkpoint.parse(_read_backup_file(folder / CHECKPOINT).strip())
    found = project.ledger.restored(folder / LEDGER, kept)
    _fill(project, place, text)
    return found


def bring_state_back(place: Path, folder: Path) -> Checkpoint:
    """Fill an empty state from a back-up, and keep the ledger that is here: it is the newer one.

    The ledger must be whole and hold all that the back-up's ledger held; its checkpoint now.
    """
    project = Project.read(place)
    text = _read_backup_file(folder / STATE)
    kept = Checkpoint.parse(_read_backup_file(folder / CHECKPOINT).strip())
    ledger = project.read_ledger()
    try:
        found = ledger.verify(kept)
    finally:
        ledger.close()
    _fill(project, place, text)
    return found


def _fill(project: Project, place: Path, text: str) -> None:
    state = StateStore(ServiceSettings.of(project, place).state)
    try:
        state.write_now(_restored, text.splitlines())
    finally:
        state.close()


def _restored(connection: Connection, lines: list[str]) -> None:
    read_back(connection, lines)
    shut_out_all(connection)
    audit_log.add(connection, by=audit_log.COMMAND_LINE, what="restore")


def write_state_lines(connection: Connection) -> Iterator[str]:
    """The state, a row a line; those that others refer to come first."""
    yield json.dumps({"form": _FORM, "state": form_of(connection)})
    for table in METADATA.tables.values():  # as declared: what others refer to stands first
        if table.name not in _LEFT_OUT:
            for row in connection.execute(select(table)):
                yield json.dumps({"table": table.name, "row": dict(row._mapping)})


def read_back(connection: Connection, lines: list[str]) -> int:
    """Fill an empty state with what was written, as it was; how many rows."""
    if connection.execute(select(people.c.id)).first() is not None:
        raise InvalidParameter(
            code="state_not_empty",
            expectation="an empty state to restore into",
            remedy="Name a new place in `state =` of [service], and restore into that.",
        )
    try:
        head, *rows = map(json.loads, lines)
        form = head["state"] if head["form"] == _FORM else None
        known = METADATA.tables
        parsed = [(known[each["table"]], each["row"]) for each in rows]
    except (ValueError, KeyError, TypeError):
        form = None
    if form != len(steps()):
        raise InvalidParameter(
            code="backup_unreadable",
            expectation=f"a back-up of form {_FORM} of a state of form {len(steps())}",
            received=form,
            remedy="Restore it with the version of discreet that wrote it, then upgrade.",
        )
    order = {name: place for place, name in enumerate(METADATA.tables)}
    for table, row in sorted(parsed, key=lambda each: order[each[0].name]):
        connection.execute(insert(table).values(**row))
    return len(parsed)


def _read_backup_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            code="backup_unreadable",
            expectation="a folder that `discreet service backup` wrote",
            received=path.name,
            remedy="Check the path.",
        ) from None
