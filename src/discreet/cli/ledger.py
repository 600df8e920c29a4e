"""``discreet ledger``: what was asked and spent, and looking after the record of it."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.cli import display
from discreet.cli.options import Machine, ProjectFile
from discreet.core.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.curator.project import ProjectLedger

app = typer.Typer(
    help="What was asked and spent; verify, export, amend and back up the record of it.",
    no_args_is_help=True,
)
_COLUMNS = ("number", "time", "kind", "id", "subject", "spent", "limit", "body", "previous", "mac")


@app.command()
def show(*, machine: Machine = False, project: ProjectFile = Path("discreet.toml")) -> None:
    """Show the questions that were asked, what is spent and what remains.

    discreet ledger show
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening

        with opening.read_ledger(project) as opened:
            if machine:
                display.as_json(
                    {
                        "asked": [display.members(asked) for asked in opened.history()],
                        "spent": opened.spent,
                        "remaining": opened.remaining,
                        "checkpoint": str(opened.ledger.checkpoint()),
                    }
                )
            else:
                show_history(opened, grant_names(project))


@app.command()
def verify(
    *,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", help="A checkpoint that you kept elsewhere; @FILE reads it from a file."
        ),
    ] = None,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Check every seal and every sum; with a checkpoint kept elsewhere, that nothing was cut off.

    discreet ledger verify --checkpoint @kept-elsewhere.txt
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending
        from discreet.ledger import Checkpoint

        kept = None if checkpoint is None else Checkpoint.parse(spending.checkpoint_of(checkpoint))
        with opening.read_ledger(project) as opened, opening.busy("verifying"):
            found = opened.verify(kept)
        if machine:
            display.as_json({"verified": True, "checkpoint": str(found)})
            return
        display.lines(f"verified: {found.number} entries, each sealed, each answer paid for")
        display.lines(f"checkpoint: {found}")
        if kept is None:
            display.note("Keep the checkpoint elsewhere; without one an old copy looks whole.")


@app.command()
def export(
    *,
    table: Annotated[
        bool, typer.Option("--csv", help="Comma-separated values instead of lines of JSON.")
    ] = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Write every entry to standard output, as lines of JSON.

    discreet ledger export > visits.jsonl
    """
    with display.readable_errors(machine=False):
        from discreet.cli import opening

        with opening.read_ledger(project) as opened:
            rows = (entry.to_dict() for entry in opened.entries())
            if table:
                write_csv(rows)
            else:
                for row in rows:
                    sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


@app.command()
def amend(
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stays on record.")],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="The new total, not an addition.")
    ] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="The new total.")] = None,
    rho: Annotated[float | None, typer.Option("--rho", help="The new total.")] = None,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Change the budget, for a reason that stays on record. For the owner: it needs the key.

    discreet ledger amend --epsilon 4 --delta 1e-6 --reason "Ethics board, 3 May"
    """
    with display.readable_errors(machine=False):
        from discreet.cli import opening
        from discreet.release.guarantee import guarantee_text

        given = {"epsilon": epsilon, "delta": delta, "rho": rho}
        numbers = {name: value for name, value in given.items() if value is not None}
        with opening.open_ledger(project) as opened:
            budget = opened.amend(numbers, reason=reason)
            remaining = opened.remaining
        display.lines(f"amended: the budget is {guarantee_text(budget)}")
        display.note(f"remaining: {display.describe_remaining_budget(remaining)}")


@app.command()
def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; never overwritten.")],
    *,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Write a consistent copy of the ledger, without its key.

    discreet ledger backup backups/monday.ledger
    """
    with display.readable_errors(machine=False):
        from discreet.cli import opening

        with opening.read_ledger(project) as opened:
            checkpoint = opened.backup(path)
        display.lines(f"written: {path}\ncheckpoint: {checkpoint}")
        display.note("Keep the checkpoint: restoring needs the last one you kept.")


@app.command()
def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `backup` wrote.")],
    *,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", help="The last checkpoint that you kept; @FILE reads it from a file."
        ),
    ] = None,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Bring the ledger up to a back-up, or to a new place; it never lowers what was spent.

    discreet ledger restore backups/monday.ledger --checkpoint @kept-elsewhere.txt
    """
    with display.readable_errors(machine=False):
        from discreet.cli import spending
        from discreet.curator.project import Project
        from discreet.ledger import Checkpoint

        kept = None if checkpoint is None else Checkpoint.parse(spending.checkpoint_of(checkpoint))
        found = Project.read(project).ledger.restored(path, kept)
        display.lines(f"restored: {found.number} entries\ncheckpoint: {found}")


def grant_names(project: Path) -> dict[str, str]:
    """What a history says of the service's grants, and whose each is; none without a service."""
    from discreet.curator.project import Project

    if Project.read(project).service is None:
        return {}
    try:
        from discreet.cli.service_setup import everybody, has_state
    except ImportError:  # the service's packages are not installed here
        return {}
    try:
        found = everybody(project) if has_state(project) else []
    except DiscreetError:  # the state is elsewhere, and not to be reached from here
        return {}
    return {
        f"child {grant['account']}": f"grant to {person['name']}: {grant['purpose']}"
        for person in found
        for grant in person["grants"]
    }


def show_history(opened: ProjectLedger, granted: Mapping[str, str]) -> None:
    """The questions as a table, then the sums."""
    from discreet.release.guarantee import guarantee_text

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("question", ratio=1, min_width=8, overflow="fold")
    table.add_column("price", no_wrap=True)
    table.add_column("end", no_wrap=True)
    table.add_column("analyst", max_width=12, overflow="fold")
    table.add_column("time (UTC)", no_wrap=True, min_width=16)
    for asked in opened.history():
        query = granted.get(asked.query, " ".join(asked.query.split()))
        time = asked.time[:16].replace("T", " ")
        price = asked.price.replace(", ", "\n")
        cells = (str(asked.number), query, price, asked.ended, asked.analyst, time)
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table)
    display.lines(f"spent:     {guarantee_text(opened.spent)}")
    display.lines(f"remaining: {display.describe_remaining_budget(opened.remaining)}")
    display.note(f"checkpoint: {opened.ledger.checkpoint()}")


def write_csv(rows: Iterable[dict[str, object]]) -> None:
    """Entries on standard output; what is neither text nor a number as JSON."""
    writer = csv.DictWriter(sys.stdout, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        plain = {
            name: value if isinstance(value, str | int) else json.dumps(value)
            for name, value in row.items()
        }
        writer.writerow(plain)
