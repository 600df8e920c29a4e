"""``discreet snapshot``: for the owner, whether tables are still what they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import display
from discreet.cli.options import ProjectFile
from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

app = typer.Typer(
    help="For the data owner: keep what the tables hold, and compare later. Needs the key.",
    no_args_is_help=True,
)
KeptFile = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="Where it is kept; by default beside the project."),
]


@app.command()
def keep(*, file: KeptFile = None, project: ProjectFile = Path("discreet.toml")) -> None:
    """Keep what the tables hold now, encrypted under the ledger's key.

    discreet snapshot keep
    """
    with display.readable_errors(machine=False):
        from discreet.cli.opening import busy

        with owner(project) as curator, busy("reading the tables"):
            tables = curator.keep_snapshot(place(file, project))
        display.lines(f"kept: {', '.join(tables)}, in {place(file, project)}")


@app.command()
def same(*, file: KeptFile = None, project: ProjectFile = Path("discreet.toml")) -> None:
    """Compare the tables with what was kept; if nothing changed, paid questions stay free.

    discreet snapshot same

    For files that were copied, touched or restored. Refused where the content differs.
    """
    with display.readable_errors(machine=False):
        from discreet.cli.opening import busy

        with owner(project) as curator, busy("comparing the tables"):
            tables = curator.same_snapshot(place(file, project))
        display.lines(f"the same: {', '.join(tables)}; what was paid for stays free")


def place(file: Path | None, project: Path) -> Path:
    """The file that keeps it."""
    return project.with_suffix(".snapshot") if file is None else file


@contextmanager
def owner(project: Path) -> Iterator[Curator]:
    """The owner's curator of a project whose tables have versions that outlive a command."""
    from discreet.cli.opening import busy
    from discreet.curator.project import Project

    read = Project.read(project)
    with busy("opening the tables"):
        curator = read.owner()
    try:
        require_versions(curator)
        yield curator
    finally:
        curator.close()


def require_versions(curator: Curator) -> None:
    """Refuse tables on a server without a name: nothing tells their versions apart."""
    database = curator.context.database
    unnamed = [name for name in database.names() if database.version(name) is None]
    named = [name for name in database.names() if database.label(name) is not None]
    if unnamed or len(named) == len(database.names()):
        raise InvalidParameter(
            code="snapshot_without_version",
            expectation="tables in files, whose version the owner did not name",
            received=unnamed or named,
            remedy='Name the version in the project file, snapshot = "2026-11", and keep the name '
            "while the table stays as it is.",
        )
