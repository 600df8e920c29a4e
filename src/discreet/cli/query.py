"""``discreet query``, ``preview`` and ``explain``: a question, what it will get, and its plan."""

from __future__ import annotations

import csv
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import display
from discreet.cli.options import (
    Analyst,
    AtMost,
    Confidence,
    Delta,
    Epsilon,
    LeftOutRows,
    LeftOutShare,
    Machine,
    PayAgain,
    ProjectFile,
    Purpose,
    Query,
    Reuse,
    Rho,
    RowsAtLeast,
    Within,
)
from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.core.guarantee import Guarantee
    from discreet.release import Release
    from discreet.release.preview import Preview

_PICTURES = (".html", ".svg", ".png", ".json")


def query(
    sql: Query,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    within: Within = None,
    rows_at_least: RowsAtLeast = None,
    at_most: AtMost = None,
    left_out: LeftOutShare = None,
    left_out_rows: LeftOutRows = None,
    confidence: Confidence = 0.95,
    reuse: Reuse = False,
    pay_again: PayAgain = False,
    analyst: Analyst = "analyst",
    purpose: Purpose = None,
    machine: Machine = False,
    table: Annotated[
        bool, typer.Option("--csv", help="Comma-separated values, numbers in full.")
    ] = False,
    statement: Annotated[
        bool,
        typer.Option("--statement", help="Also the privacy statement: what is promised, and how."),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw it: name.html, .svg, .png or .json.")
    ] = None,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Ask a question; the answer is private, and its price is taken from the budget.

    discreet query "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --epsilon 0.5

    discreet query "SELECT COUNT(*) AS n FROM visits" --within n=5

    Asking the same again at the same price is free: the stored answer comes back. Where the file
    was touched since, --reuse says that it will do, --pay-again that it will not.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending

        require_one_form(machine=machine, table=table)
        require_picture(plot)
        spend = spending.spend_of(epsilon, delta, rho)
        accuracy = spending.accuracy_of(within or [], confidence)
        limit = spending.limit_of(at_most)
        wanted = spending.left_out_of(left_out, left_out_rows)
        paid_before = spending.paid_before_of(reuse=reuse, pay_again=pay_again)
        text = spending.sql_of(sql)
        spending.require_price(text, spend, accuracy)
        with opening.first_look(project) as look:
            if look is not None:
                look.require(
                    text,
                    spend=spend,
                    accuracy=accuracy,
                    analyst=analyst,
                    purpose=purpose,
                    rows_at_least=rows_at_least,
                    at_most=limit,
                    left_out=wanted,
                )
                expected = look.preview(
                    text,
                    spend=spend,
                    accuracy=accuracy,
                    confidence=confidence,
                    rows_at_least=rows_at_least,
                    at_most=limit,
                    left_out=wanted,
                )
                require_affordable(expected, look.remaining)
        with opening.curator(project) as curator:
            before = curator.spent
            with opening.busy("asking"):
                release = curator.sql(
                    text,
                    spend=spend,
                    accuracy=accuracy,
                    confidence=confidence,
                    analyst=analyst,
                    purpose=purpose,
                    rows_at_least=rows_at_least,
                    at_most=limit,
                    left_out=wanted,
                    paid_before=paid_before,
                )
            left, free = curator.remaining, curator.spent == before
        if machine:
            told = {"statement": stated(release)} if statement else {}
            display.as_json({**answered(release, left), **told})
        elif table:
            from discreet.release.footer import caveats

            write_csv(release)
            display.beside(caveats(release))
        else:
            display.lines(str(release))
            display.note(
                f"remaining: {display.describe_remaining_budget(left)}"
                f"{free * ' (nothing was charged)'}"
            )
            if statement:
                display.lines(f"\n{release.statement}")
        if plot is not None:
            release.save_plot(plot)
            display.saved(plot)


def preview(
    sql: Query,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    within: Within = None,
    rows_at_least: RowsAtLeast = None,
    at_most: AtMost = None,
    left_out: LeftOutShare = None,
    left_out_rows: LeftOutRows = None,
    confidence: Confidence = 0.95,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Show how accurate an answer would be; reads no data and costs nothing.

    discreet preview "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward" --epsilon 0.5

    discreet preview "SELECT COUNT(*) AS n FROM visits" --within n=5
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending

        spend = spending.spend_of(epsilon, delta, rho)
        accuracy = spending.accuracy_of(within or [], confidence)
        limit = spending.limit_of(at_most)
        wanted = spending.left_out_of(left_out, left_out_rows)
        text = spending.sql_of(sql)
        spending.require_price(text, spend, accuracy)
        with opening.look(project) as look:
            expected = look.preview(
                text,
                spend=spend,
                accuracy=accuracy,
                confidence=confidence,
                rows_at_least=rows_at_least,
                at_most=limit,
                left_out=wanted,
            )
        if machine:
            display.as_json(display.members(expected))
        else:
            display.lines(str(expected))


def explain(
    sql: Query,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    engine: Annotated[
        bool, typer.Option("--sql", help="Also show the statements that the engine would run.")
    ] = False,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Show the plan of a question and how far one person can move each number; costs nothing.

    discreet explain "SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward"

    With a price it also shows the noise.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending

        with opening.look(project) as look:
            spend = spending.spend_of(epsilon, delta, rho)
            told = look.explain(spending.sql_of(sql), spend=spend)
        if machine:
            display.as_json(display.members(told))
            return
        display.lines(str(told))
        if engine:
            display.lines("\n" + ";\n".join(told.sql))


def answered(release: Release, left: Guarantee) -> dict[str, object]:
    """An answer for machines: its rows, the whole release as it is kept, and what remains."""
    return {
        "rows": list(release),
        "release": json.loads(release.to_json()),
        "remaining": left,
    }


def stated(release: Release) -> object:
    """The privacy statement of an answer, for machines."""
    from discreet.release.statement.statement import Statement

    assert isinstance(release.statement, Statement)
    return json.loads(release.statement.to_json())


def write_csv(release: Release) -> None:
    """All columns on standard output; what they do not say goes beside."""
    columns = release.to_dict()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def require_one_form(*, machine: bool, table: bool) -> None:
    """Refuse two forms of one answer."""
    if machine and table:
        raise InvalidParameter(
            code="two_forms",
            expectation="--json or --csv",
            received="both",
            remedy="Ask again for the other; the second time is free.",
        )


def require_affordable(expected: Preview, left: Guarantee) -> None:
    """Refuse a first question that the whole budget cannot pay, before a ledger is started."""
    from discreet.accounting.adaptive.exhausted import budget_exhausted
    from discreet.release.guarantee import guarantee_text

    if expected.affordable > 0 or expected.is_free:
        return
    raise budget_exhausted(
        display.describe_remaining_budget(left),
        guarantee_text(expected.price),
        "Spend less, or write a larger budget into the project file: nothing was asked yet.",
    )


def require_picture(plot: Path | None) -> None:
    """Refuse a picture that could not be drawn before anything is paid for."""
    if plot is None:
        return
    if plot.suffix.lower() not in _PICTURES:
        raise InvalidParameter(
            code="plot_format",
            expectation=f"a name that ends in one of {', '.join(_PICTURES)}",
            received=plot.name,
            remedy="Rename the picture.",
        )
    for needed in ("altair", "vl_convert"):
        if find_spec(needed) is None:
            raise InvalidParameter(
                code="missing_altair",
                expectation=f"{needed}, which draws pictures",
                remedy="pip install 'discreet[plots]', or leave --plot out.",
            )
