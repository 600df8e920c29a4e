"""``discreet synopsis``: counts by many attributes at one price, estimated together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

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
from discreet.cli.query import require_affordable, require_picture
from discreet.cli.synopsis_options import MechanismName, maker, parse_attributes
from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.core.guarantee import Guarantee
    from discreet.curator.project import Look
    from discreet.curator.synopsis import SynopsisRelease
    from discreet.curator.synopsis.preview import SynopsisPreview
    from discreet.queries.workload.universe import Universe
    from discreet.queries.workload.workload import Workload
    from discreet.release import Release

_FILES = (".csv", ".json", ".parquet")
_SHOWN = 20


def synopsis(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A table of the project.")],
    *,
    attributes: Annotated[
        list[str],
        typer.Option(
            "--attributes",
            metavar="NAMES",
            help="Columns, and expressions with a name: sex,race,age=FLOOR(age/10).",
        ),
    ],
    marginals: Annotated[
        int,
        typer.Option("--marginals", min=1, help="Counts by every choice of so many attributes."),
    ] = 2,
    mechanism: Annotated[
        MechanismName,
        typer.Option(
            "--mechanism",
            help="How: marginals tells the noise of each count; matrix suits ranges; mwem suits "
            "little budget and many attributes.",
        ),
    ] = MechanismName.MARGINALS,
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="For mwem: how many marginals to measure.")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAMES", help="Which counts to show, write and draw."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Also write them: name.csv, .json, .parquet.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw them: name.html, .svg, .png, .json.")
    ] = None,
    plot_errors: Annotated[
        Path | None,
        typer.Option("--plot-errors", help="Also draw the expected error of every query."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only expected errors and the price; nothing is charged."),
    ] = False,
    reuse: Reuse = False,
    pay_again: PayAgain = False,
    analyst: Analyst = "analyst",
    purpose: Purpose = None,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Make a synopsis: private counts by many attributes, which agree with each other.

    discreet synopsis visits --attributes ward,age="FLOOR(age/10)" --marginals 2 --epsilon 1

    The same again at the same price is free; so are other counts of it, with --by.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending

        require_picture(plot)
        require_picture(plot_errors)
        require_file(output)
        require_folders(output, plot, plot_errors)
        spend = spending.required_spend(epsilon, delta, rho)
        paid_before = spending.paid_before_of(reuse=reuse, pay_again=pay_again)
        columns, expressions = parse_attributes(attributes)
        make = maker(mechanism, rounds)
        if dry_run:
            with opening.look(project) as ahead, opening.busy("looking ahead"):
                universe = ahead.universe(table, *columns, **expressions)
                workload = _workload(universe, marginals)
                expected = ahead.preview_synopsis(workload, mechanism=make, spend=spend)
            show_expected(expected, machine=machine)
            return
        with opening.first_look(project) as look:
            if look is not None:
                universe = look.universe(table, *columns, **expressions)
                made_so = make(workload=_workload(universe, marginals), spend=spend)
                require_shown(made_so, chosen(universe, by, marginals), plot)
                require_allowed(look, universe, spend, analyst=analyst, purpose=purpose)
        with opening.curator(project) as curator:
            before = curator.spent
            universe = curator.universe(table, *columns, **expressions)
            workload = _workload(universe, marginals)
            shown = chosen(universe, by, marginals)
            if look is None:
                require_shown(make(workload=workload, spend=spend), shown, plot)
            with opening.busy("making the synopsis"):
                made = curator.synopsis(
                    workload,
                    mechanism=make,
                    spend=spend,
                    analyst=analyst,
                    purpose=purpose,
                    paid_before=paid_before,
                )
            left, free = curator.remaining, curator.spent == before
        counts = made.table(*shown)
        if machine:
            display.as_json(collect_synopsis_fields(made, counts, marginals, left))
        else:
            display.lines(str(made))
            show_noise(made, marginals)
            display.lines(str(counts))
            display.note(
                f"remaining: {display.describe_remaining_budget(left)}"
                f"{free * ' (nothing was charged)'}"
            )
        write(counts, output)
        draw(made, workload, shown, plot=plot, plot_errors=plot_errors)


def show_expected(expected: SynopsisPreview, *, machine: bool) -> None:
    """What is known before anything is paid."""
    if machine:
        display.as_json(
            {
                "question": expected.query,
                "queries": expected.queries,
                "rmse": expected.rmse,
                "marginals": [display.members(each) for each in expected.marginals],
                "price": expected.price,
                "affordable": expected.affordable,
            }
        )
        return
    display.lines(str(expected))
    display.note("nothing was released, and nothing was charged")


def _workload(universe: Universe, ways: int) -> Workload:
    from discreet.queries.workload.workload import Workload

    return Workload.marginals(universe, ways)


def chosen(universe: Universe, by: str | None, marginals: int) -> tuple[str, ...]:
    """The attributes whose counts are shown: those named, or the first few."""
    names = universe.names[:marginals]
    if by is not None:
        names = tuple(name.strip() for name in by.split(",") if name.strip())
    for name in names:
        universe.place(name)
    return names


def require_allowed(
    look: Look, universe: Any, spend: Guarantee, *, analyst: str, purpose: str | None
) -> None:
    """Refuse, before a ledger is started, what policies or the budget would refuse later."""
    for text in universe.questions:
        look.require(text, spend=spend, analyst=analyst, purpose=purpose)
        require_affordable(look.preview(text, spend=spend), look.remaining)


def require_file(output: Path | None) -> None:
    """Refuse a file that could not be written before anything is paid for."""
    if output is not None and output.suffix.lower() not in _FILES:
        raise InvalidParameter(
            code="output_format",
            expectation=f"a name that ends in one of {', '.join(_FILES)}",
            received=output.name,
            remedy="Rename the file.",
        )


def require_folders(*files: Path | None) -> None:
    """Refuse a file in a folder that is not there before anything is paid for."""
    for file in files:
        if file is not None and not file.parent.is_dir():
            raise InvalidParameter(
                code="table_not_saved",
                expectation="a folder that exists",
                received=str(file.parent),
                remedy="Make the folder first, or choose another place.",
            )


def require_shown(mechanism: Any, names: tuple[str, ...], plot: Path | None) -> None:
    """Refuse counts that would not follow, or cannot be drawn, before anything is paid for."""
    from discreet.queries.matrix.marginal_mechanism import MarginalMechanism

    if plot is not None and len(names) not in (1, 2):
        raise InvalidParameter(
            code="plot_keys",
            expectation="one attribute to draw, or two",
            received=list(names),
            remedy="Name them: --by ward, or --by ward,decade.",
        )
    if isinstance(mechanism, MarginalMechanism):  # others answer by any attributes
        mechanism.deviation(names)


def noise(made: SynopsisRelease, ways: int) -> Iterator[tuple[tuple[str, ...], int, float | None]]:
    """Each marginal: attributes, cells, and the root mean square of its expected deviations."""
    from discreet.queries.workload.workload import Workload

    for names in combinations(made.universe.names, min(ways, len(made.universe.names))):
        asked = Workload.marginal(made.universe, names)
        spread = made.deviations(asked)
        known = None if spread is None else math.sqrt(float((spread**2).mean()))
        yield names, asked.queries, known


def show_noise(made: SynopsisRelease, ways: int) -> None:
    """The expected noise of each marginal."""
    rows = list(noise(made, ways))
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("counts by")
    table.add_column("cells", justify="right")
    table.add_column("noise of a cell (sd)", justify="right")
    for names, cells, spread in rows[:_SHOWN]:
        table.add_row(
            Text(", ".join(names)),
            f"{cells:,}",
            "not known" if spread is None else display.upward(spread),
        )
    Console(highlight=False).print(table)
    if len(rows) > _SHOWN:
        display.note(f"and {len(rows) - _SHOWN} more")


def collect_synopsis_fields(
    made: SynopsisRelease, counts: Release, ways: int, left: Guarantee
) -> dict[str, object]:
    """A synopsis for machines."""
    return {
        "synopsis": made.id,
        "question": made.query,
        "guarantee": made.guarantee,
        "rmse": made.rmse,
        "marginals": [
            {"attributes": list(names), "cells": cells, "sd": spread}
            for names, cells, spread in noise(made, ways)
        ],
        "rows": list(counts),
        "remaining": left,
    }


def write(counts: Release, output: Path | None) -> None:
    """The counts in a file, if one is wanted."""
    if output is None:
        return
    match output.suffix.lower():
        case ".csv":
            counts.to_csv(output)
        case ".json":
            output.write_text(counts.to_json() + "\n", encoding="utf-8")
        case ".parquet":
            counts.to_polars().write_parquet(output)
    Console(stderr=True, highlight=False).print(Text(f"written: {output}"), soft_wrap=True)


def draw(
    made: SynopsisRelease,
    workload: Workload,
    shown: tuple[str, ...],
    *,
    plot: Path | None,
    plot_errors: Path | None,
) -> None:
    """The pictures that are wanted."""
    from discreet.core.plotting import save

    if plot is not None:
        save(made.plot(*shown), plot)  # type: ignore[arg-type]
        display.saved(plot)
    if plot_errors is not None:
        from discreet.queries.plots import error_by_query

        spread = made.deviations(workload)
        if spread is None:
            why = "they depend on the data" if made.rmse is None else "only their mean is known"
            display.note(f"No picture of errors: {why}. --mechanism marginals states each.")
            return
        save(error_by_query({"expected": spread.tolist()}), plot_errors)
        display.saved(plot_errors)
