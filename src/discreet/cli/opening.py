"""Opening a project's curator for one command, with a sign of life while it works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from discreet.curator.curator import Curator
from discreet.curator.project import Look, Project, ProjectLedger
from discreet.curator.project.owner_log import owner_log

Opened = TypeVar("Opened", Curator, Look)


@contextmanager
def curator(project: Path) -> Iterator[Curator]:
    """The curator of a project file, which begins its ledger; closed at the end."""
    read = Project.read(project)
    with owner_log(read.owner_log), _closing(read.curator) as opened:
        yield opened


@contextmanager
def look(project: Path) -> Iterator[Look]:
    """Previews and plans of a project file; closed at the end."""
    with _closing(Project.read(project).look) as opened:
        yield opened


@contextmanager
def first_look(project: Path) -> Iterator[Look | None]:
    """A look where no ledger is started yet, else None; closed at the end.

    Beginning a ledger fixes the terms for ever, so a question that is refused must not do it.
    """
    read = Project.read(project)
    if read.ledger.started():
        yield None
        return
    with _closing(read.look) as opened:
        yield opened


@contextmanager
def _closing(open_tables: Callable[[], Opened]) -> Iterator[Opened]:
    with busy("opening the tables"):
        opened = open_tables()
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def open_ledger(project: Path) -> Iterator[ProjectLedger]:
    """The ledger of a project file alone; closed at the end."""
    opened = Project.read(project).open_ledger()
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def read_ledger(project: Path) -> Iterator[ProjectLedger]:
    """The ledger of a project file to be read alone, of a copy too; closed at the end."""
    opened = Project.read(project).read_ledger()
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show on a terminal that work is under way; elsewhere show nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} …"):
        yield


@contextmanager
def busy_with() -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done; the function says what comes next."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("reading …") as status:
        yield lambda what: status.update(f"{what} …")
