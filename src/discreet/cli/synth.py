"""``discreet synth``: a synthetic table in place of a private one, at one price."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.synthetic.mechanism_words import MechanismWord, mechanism_of

if TYPE_CHECKING:
    from discreet.synthetic.progress import FitProgress


def synth(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="A table of the project, by its name or by its data file."
        ),
    ],
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Where the rows go: name.parquet, .csv or .arrow."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", min=0, help="How many rows; as many as the noisy total if not."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Also keep the model, for more rows later: .json.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="NAMES", help="Only these: ward,age,cost."),
    ] = None,
    mechanism: Annotated[
        MechanismWord,
        typer.Option(
            "--mechanism",
            help="How: aim is the most accurate, mst the quickest; independent and full-histogram "
            "are for comparison.",
        ),
    ] = MechanismWord.AIM,
    bins: Annotated[int, typer.Option("--bins", min=2, help="Of numbers and days.")] = 32,
    private_bins: Annotated[
        bool,
        typer.Option("--private-bins", help="Bins of equal counts, for a tenth of the price."),
    ] = False,
    ways: Annotated[
        int | None, typer.Option("--ways", min=1, help="Columns of each marginal that is kept.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="A column that will be predicted.")
    ] = None,
    never_missing: Annotated[
        str | None,
        typer.Option(
            "--never-missing",
            metavar="NAMES",
            help="Columns that have a value in every row; rows without one are left out.",
        ),
    ] = None,
    identifiers: Annotated[
        str | None,
        typer.Option(
            "--identifiers", metavar="NAMES", help="Columns that are numbered anew: 1, 2, 3."
        ),
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
    """Make a synthetic table: rows that answer like the private ones, and may be given away.

    discreet synth visits.parquet --epsilon 1 --out synthetic.parquet

    It is paid for once. The same again, with other --rows or another --out, is free.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending
        from discreet.cli.synth_columns import column_choices
        from discreet.synthetic.encoding.number_column import PrivateBins
        from discreet.synthetic.synthetic_table import require_writable

        if out is not None:
            require_writable(out)
        require_kept(out, save, dry_run=dry_run)
        spend = spending.required_spend(epsilon, delta, rho)
        paid_before = spending.paid_before_of(reuse=reuse, pay_again=pay_again)
        name = table_named(table, project)
        choices: dict[str, Any] = {
            "bins": PrivateBins.with_cells(bins) if private_bins else bins,
            "mechanism": mechanism_of(mechanism),
            "ways": ways,
        } | column_choices(
            project,
            name,
            columns=columns,
            identifiers=identifiers,
            never_missing=never_missing,
            target=target,
        )
        asked: dict[str, Any] = {"spend": spend, "analyst": analyst, "purpose": purpose}
        if dry_run:
            with opening.look(project) as ahead, opening.busy("looking ahead"):
                expected = ahead.preview_synthesis(name, choices=choices, **asked)
            show_expected(expected, machine=machine)
            return
        with opening.first_look(project) as look:
            if look is not None:
                require_affordable(look, look.preview_synthesis(name, choices=choices, **asked))
        with opening.curator(project) as curator, opening.busy_with() as telling:
            before = curator.spent
            made = curator.synthesize(
                name,
                **choices,
                **asked,
                paid_before=paid_before,
                progress=lambda step: telling(_phase(step)),
            )
            left, free = curator.remaining, curator.spent == before
        sampled = made.sample(rows)
        if out is not None:
            sampled.write(out)
        if save is not None:
            made.save(save)
        if machine:
            display.as_json(
                {
                    "synthetic": made.id,
                    "question": made.query,
                    "guarantee": made.guarantee,
                    "rows": sampled.rows,
                    "columns": list(sampled),
                    "budget_split": dict(made.budget_split),
                    "warnings": list(made.warnings),
                    "remaining": left,
                }
            )
            return
        display.lines(str(made))
        display.note(f"{sampled.rows:,} rows{'' if out is None else f' written: {out}'}")
        display.note(
            f"remaining: {display.describe_remaining_budget(left)}{free * ' (nothing was charged)'}"
        )


def _phase(step: FitProgress) -> str:
    """What is being done, from public facts: what was released, and the clock."""
    left = step.seconds_left
    about = f", about {left:.0f} s left" if left < float("inf") else ""
    return f"fitting: {step.spent:.0%} of the spend is used{about}"


def table_named(given: str, project: Path) -> str:
    """The table of a project that a name or a data file means."""
    from discreet.curator.project import Project
    from discreet.curator.project.tables import InFile, PrivateEntry

    try:
        read = Project.read(project)
    except DiscreetError as refusal:
        if refusal.code != "project_missing" or not Path(given).is_file():
            raise
        raise InvalidParameter(
            code=refusal.code,
            expectation="a project file: what is public of each column, whose privacy is "
            "protected and what the budget is",
            received=str(project),
            remedy=f"Write one, once: discreet init {given}. Then the same command again.",
        ) from None
    private = {n: each for n, each in read.tables.items() if isinstance(each, PrivateEntry)}
    if given in private:
        return given
    wanted = Path(given).absolute()
    for name, entry in private.items():
        if isinstance(entry.place, InFile) and entry.place.path.absolute() == wanted:
            return name
    raise InvalidParameter(
        code="table_unknown",
        expectation=f"a private table of {project}, by name or by file: {', '.join(private)}",
        received=given,
        remedy=f"Write a project file for it first: discreet init {given}."
        if wanted.suffix
        else did_you_mean(given, private, "Check the spelling."),
    )


def require_kept(out: Path | None, save: Path | None, *, dry_run: bool) -> None:
    """Refuse to pay for what nobody would see."""
    if out is None and save is None and not dry_run:
        raise InvalidParameter(
            code="nothing_to_write",
            expectation="a file for the rows, or for the model",
            remedy="Add --out synthetic.parquet, --save model.json or --dry-run.",
        )
    if save is not None and (save.suffix.lower() != ".json" or not save.parent.is_dir()):
        raise InvalidParameter(
            code="output_format",
            expectation="a name that ends in .json, in a folder that exists",
            received=save.name,
            remedy="Rename the file.",
        )
