"""``discreet synth-tables``: synthetic people and their rows in place of private tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import display
from discreet.cli.options import (
    Analyst,
    Delta,
    Epsilon,
    Machine,
    PayAgain,
    ProjectFile,
    Purpose,
    Reuse,
    Rho,
)
from discreet.cli.previewed import require_affordable, show_expected


def synth_tables(
    parent: Annotated[
        str, typer.Argument(metavar="PEOPLE", help="The table of people, one row for each.")
    ],
    children: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="Tables of rows that belong to them.")
    ],
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A folder that exists: a file for each table goes there."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="SUFFIX", help="parquet, csv or arrow.")
    ] = "parquet",
    people: Annotated[
        int | None,
        typer.Option("--people", min=0, help="How many; as many as the noisy total if not."),
    ] = None,
    bins: Annotated[int, typer.Option("--bins", min=2, help="Of numbers and days.")] = 32,
    private_bins: Annotated[
        bool,
        typer.Option("--private-bins", help="Bins of equal counts, for a tenth of the price."),
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--save", help="Also keep the models, for more people: .json.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only the price and the cells; nothing is charged.")
    ] = False,
    reuse: Reuse = False,
    pay_again: PayAgain = False,
    analyst: Analyst = "analyst",
    purpose: Purpose = None,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Make synthetic people and their rows: how many rows people have, and of what kind, is kept.

    discreet synth-tables patients visits --epsilon 2 --out synthetic/

    It is paid for once, for a person with all rows. The same again, with other --people, is free.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending
        from discreet.cli.synth import require_kept, table_named
        from discreet.synthetic.encoding.number_column import PrivateBins
        from discreet.synthetic.synthetic_table import require_writable

        suffix = form if form.startswith(".") else f".{form}"
        if out is not None:
            require_writable(out / f"rows{suffix}")
        require_kept(out, save, dry_run=dry_run)
        spend = spending.required_spend(epsilon, delta, rho)
        paid_before = spending.paid_before_of(reuse=reuse, pay_again=pay_again)
        names = [table_named(each, project) for each in (parent, *children)]
        choices: dict[str, Any] = {"bins": PrivateBins.with_cells(bins) if private_bins else bins}
        asked: dict[str, Any] = {"spend": spend, "analyst": analyst, "purpose": purpose}
        if dry_run:
            with opening.look(project) as ahead, opening.busy("looking ahead"):
                expected = ahead.preview_tables(names[0], names[1:], choices=choices, **asked)
            show_expected(expected, machine=machine)
            return
        with opening.first_look(project) as look:
            if look is not None:
                expected = look.preview_tables(names[0], names[1:], choices=choices, **asked)
                require_affordable(look, expected)
        with opening.curator(project) as curator, opening.busy("counting and learning"):
            before = curator.spent
            made = curator.synthesize_tables(
                names[0], names[1:], **choices, **asked, paid_before=paid_before
            )
            left, free = curator.remaining, curator.spent == before
        sampled = made.sample(people)
        if out is not None:
            for name, table in sampled.items():
                table.write(out / f"{name}{suffix}")
        if save is not None:
            made.save(save)
        if machine:
            display.as_json(
                {
                    "synthetic": made.id,
                    "question": made.query,
                    "guarantee": made.guarantee,
                    "rows": {name: table.rows for name, table in sampled.items()},
                    "remaining": left,
                }
            )
            return
        display.lines(str(made))
        for name, table in sampled.items():
            where = "" if out is None else f" written: {out / f'{name}{suffix}'}"
            display.note(f"{table.rows:,} rows{where or f' of {name}'}")
        display.note(
            f"remaining: {display.describe_remaining_budget(left)}{free * ' (nothing was charged)'}"
        )
