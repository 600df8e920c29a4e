"""``discreet profile``: the data as it is, for its owner alone. Not private."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from discreet.cli import display
from discreet.cli.options import Machine, ProjectFile
from discreet.core.errors import EngineFailed, InvalidParameter

_WORDS = "not private"


def profile(
    *,
    acknowledged: Annotated[
        bool,
        typer.Option(
            "--not-private", help="I own this data and know that the profile is not private."
        ),
    ] = False,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Show the owner what is in the data and what the declarations drop. NOT PRIVATE.

    discreet profile --not-private

    It reads the data without noise, costs nothing and is not recorded. Never show it to analysts,
    and do not copy bounds or values from it into the project file, which everybody may read:
    use it to check what you declared from knowledge.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli.opening import busy_with
        from discreet.curator.profile import profile as looked
        from discreet.curator.project import Project

        if not acknowledged:
            acknowledge()
        database = Project.read(project).database()
        try:
            with busy_with() as step:
                found = looked(database, step)
        except Exception as error:
            raise EngineFailed(
                code="profile_failed",
                expectation="tables that can be read to their end",
                received=type(error).__name__,
                remedy="Check that the file is whole, and that there is memory and space.",
            ) from error
        finally:
            database.close()
        if machine:
            display.as_json({"not_private": True, **display.members(found)})
        else:
            display.lines(str(found))


def acknowledge() -> None:
    """Have the owner type the words; refused where nobody can."""
    if Console(stderr=True).is_terminal:
        typed = typer.prompt(f'This is not private. Type "{_WORDS}" to go on', err=True)
        if str(typed).strip().lower() == _WORDS:
            return
    raise InvalidParameter(
        code="not_acknowledged",
        expectation="the data owner's statement that this is not private",
        remedy="Pass --not-private if the data is yours and nobody else sees the output.",
    )
