"""``discreet service``: people, budgets, back-ups of the service; by the owner, at the machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.cli import display
from discreet.cli.options import Machine, ProjectFile

app = typer.Typer(
    help="People, budgets and back-ups of the service; at the machine, by its owner.",
    no_args_is_help=True,
)
people = typer.Typer(help="Who may come in.", no_args_is_help=True)
app.add_typer(people, name="people")

Name = Annotated[str, typer.Argument(metavar="NAME", help="It stands in the ledger for ever.")]
_BY = "command line"
RoleName = Annotated[str, typer.Option("--role", help="owner, steward, analyst or auditor.")]


@app.command()
def init(*, project: ProjectFile = Path("discreet.toml")) -> None:
    r"""Add \[service] and \[record] to a project file, with comments and with gaps to fill.

    discreet service init
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_draft import add_service

        add_service(project)
        display.lines(f"added to {project}: [service] and [record]")
        display.note("Fill [record]: nothing is released while a field of it is empty.")


@people.command()
def add(
    name: Name,
    *,
    role: RoleName = "analyst",
    email: Annotated[str | None, typer.Option("--email", help="For logins at an issuer.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="The issuer's name.")] = None,
    token: Annotated[bool, typer.Option("--token", help="Also print a token, once.")] = False,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Add somebody, and print a one-time link by which they choose a password.

    discreet service people add ann

    discreet service people add olga --role owner
    """
    with display.readable_errors(machine=machine):
        from discreet.cli.service_setup import address_of, require_role, state_of
        from discreet.server.services.people import add_person, issue_link, issue_token

        wanted = require_role(role)
        with state_of(project) as state:
            person = state.write_now(
                add_person, by=_BY, name=name, role=wanted, email=email, subject=subject
            )
            link = state.write_now(issue_link, by=_BY, person=person)
            made = state.write_now(issue_token, person=person, label=_BY, by=_BY) if token else None
        told = {"name": name, "role": role, "link": f"{address_of(project)}/enter/{link}"}
        if made is not None:
            told["token"] = made.token
        if machine:
            display.as_json(told)
            return
        display.lines(f"{name} ({role}) comes in once by\n  {told['link']}")
        if made is not None:
            display.lines(f"token: {made.token}")


@people.command(name="list")
def list_people(*, machine: Machine = False, project: ProjectFile = Path("discreet.toml")) -> None:
    """Show who may come in, and their budgets.

    discreet service people list
    """
    with display.readable_errors(machine=machine):
        from discreet.cli.service_setup import everybody

        rows = everybody(project)
        if machine:
            display.as_json({"people": rows})
            return
        table = Table(box=box.SIMPLE, pad_edge=False)
        for column in ("name", "role", "state", "grants"):
            table.add_column(column)
        for row in rows:
            granted = "\n".join(f"{each['purpose']}: {each['budget']}" for each in row["grants"])
            table.add_row(*(Text(str(row[key])) for key in ("name", "role", "state")), granted)
        Console(highlight=False).print(table)


@people.command()
def link(name: Name, *, project: ProjectFile = Path("discreet.toml")) -> None:
    """Print a new one-time link for somebody; an earlier one ends.

    discreet service people link ann
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_setup import address_of, state_of
        from discreet.server.services.people import issue_link
        from discreet.server.state import people as kept

        with state_of(project) as state:
            person = state.read_now(kept.require, name)
            secret = state.write_now(issue_link, by=_BY, person=person)
        display.lines(f"{address_of(project)}/enter/{secret}")


@people.command()
def disable(name: Name, *, project: ProjectFile = Path("discreet.toml")) -> None:
    """Let nobody in under this name any more; what was granted stays set aside.

    discreet service people disable ann
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_setup import state_of
        from discreet.server.services.people import disable_person

        with state_of(project) as state:
            state.write_now(disable_person, actor=None, name=name)
        display.lines(f"{name} is out")


@people.command()
def token(
    name: Name,
    *,
    label: Annotated[str, typer.Option("--label", help="By which it is known in lists.")] = _BY,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Print a new token for somebody's programs, once; earlier ones go on.

    discreet service people token ann --label notebook
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_setup import state_of
        from discreet.server.services.people import issue_token
        from discreet.server.state import people as kept

        with state_of(project) as state:
            person = state.read_now(kept.require, name)
            made = state.write_now(issue_token, person=person, label=label, by=_BY)
        display.lines(made.token)


@people.command()
def tokens(
    name: Name, *, machine: Machine = False, project: ProjectFile = Path("discreet.toml")
) -> None:
    """Show somebody's valid tokens by their ids; a token itself is never shown again.

    discreet service people tokens ann
    """
    with display.readable_errors(machine=machine):
        from discreet.cli.service_setup import tokens_of

        rows = tokens_of(project, name)
        if machine:
            display.as_json({"tokens": rows})
            return
        table = Table(box=box.SIMPLE, pad_edge=False)
        for column in ("id", "label", "made", "ends"):
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(row[key]) for key in ("id", "label", "made", "ends")))
        Console(highlight=False).print(table)


@people.command(name="end-tokens")
def end_tokens(
    name: Name,
    *,
    token: Annotated[str | None, typer.Option("--id", help="Only the one of this id.")] = None,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """End all tokens of somebody, or one of them; at once, while the password stays.

    discreet service people end-tokens ann
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_setup import state_of
        from discreet.server.services import people as services

        with state_of(project) as state:
            ended = state.write_now(services.end_tokens, actor=None, name=name, token=token)
        display.lines(f"ended: {ended} token{'' if ended == 1 else 's'} of {name}")
        display.note(f"A new one: discreet service people token {name}")


@app.command()
def grant(
    name: Name,
    *,
    purpose: Annotated[str, typer.Option("--purpose", help="What for; in words.")],
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Of the budget.")] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="With --epsilon.")] = None,
    rho: Annotated[float | None, typer.Option("--rho", help="Instead of epsilon.")] = None,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Set a budget aside for somebody and a purpose, for ever.

    discreet service grant ann --purpose "planning of beds" --epsilon 0.5 --delta 1e-7
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_setup import granted
        from discreet.cli.spending import spend_of
        from discreet.release.guarantee import guarantee_text
        from discreet.server.jobs.batch import required

        budget = required(spend_of(epsilon, delta, rho))
        asyncio.run(granted(project, name, purpose, budget))
        display.lines(f"{name} may spend {guarantee_text(budget)} for {purpose}")


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new one.")],
    *,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Write state and ledger into a new folder, without keys and without tokens.

    discreet service backup backups/monday
    """
    with display.readable_errors(machine=False):
        from discreet.server.operations.backup import back_up

        checkpoint = back_up(project, folder)
        display.lines(f"written: {folder}\ncheckpoint: {checkpoint}")
        display.note("Keep the checkpoint elsewhere: restoring needs the last one you kept.")


@app.command()
def restore(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="That `backup` wrote.")],
    *,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", help="The last one that you kept; @FILE.")
    ] = None,
    state_only: Annotated[
        bool, typer.Option("--state-only", help="Keep the ledger that is here: only state is lost.")
    ] = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Bring ledger and state up to a back-up; the ledger never to less spending.

    discreet service restore backups/monday --checkpoint @kept-elsewhere.txt

    discreet service restore backups/monday --state-only
    """
    with display.readable_errors(machine=False):
        from discreet.cli.spending import checkpoint_of
        from discreet.ledger import Checkpoint
        from discreet.server.operations.backup import bring_back, bring_state_back

        kept = None if checkpoint is None else Checkpoint.parse(checkpoint_of(checkpoint))
        if state_only:
            found = bring_state_back(project, folder)
        else:
            found = bring_back(project, folder, kept)
        display.lines(f"restored: {folder}\ncheckpoint: {found}")
        display.note("Tokens and logins do not come back: `people link NAME` lets people in.")


@app.command()
def upgrade(*, project: ProjectFile = Path("discreet.toml")) -> None:
    """Bring the state up to the form of this version; `serve` does the same.

    discreet service upgrade
    """
    with display.readable_errors(machine=False):
        from discreet.cli.service_setup import state_of
        from discreet.server.state.migrate import form_of

        with state_of(project) as state:
            display.lines(f"the state has form {state.read_now(form_of)}")
