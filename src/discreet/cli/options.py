"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectFile = Annotated[
    Path,
    typer.Option("--project", metavar="FILE", help="The project file, written by `init`."),
]
Query = Annotated[
    str,
    typer.Argument(metavar="SQL", help="In quotes; @question.sql reads a file, - standard input."),
]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", help="The most this may cost. There is no default."),
]
Delta = Annotated[
    float | None,
    typer.Option("--delta", help="With --epsilon: allows Gaussian noise, at this delta."),
]
Rho = Annotated[
    float | None,
    typer.Option("--rho", help="The price in zero-concentrated privacy, instead of epsilon."),
]
Analyst = Annotated[
    str, typer.Option("--as", metavar="NAME", help="Who asks; stands in the ledger.")
]
Purpose = Annotated[
    str | None, typer.Option("--purpose", help="What for; recorded, and a policy may ask.")
]
Within = Annotated[
    list[str] | None,
    typer.Option(
        "--within",
        metavar="COLUMN=ERROR",
        help="Instead of a price: pay what this accuracy costs, such as n=5, or n=5% with "
        "--rows-at-least; repeat for more.",
    ),
]
AtMost = Annotated[
    str | None,
    typer.Option(
        "--at-most",
        metavar="PRICE",
        help="With --within: the most it may cost, an epsilon such as 2, or rho=0.1. "
        "Without it, epsilon 10.",
    ),
]
RowsAtLeast = Annotated[
    int | None,
    typer.Option(
        "--rows-at-least", help="With --within, for means and n=5%: a public size of groups."
    ),
]
LeftOutShare = Annotated[
    float | None,
    typer.Option(
        "--left-out",
        metavar="SHARE",
        help="Also say what the limits left out, for this share of the price, such as 0.1.",
    ),
]
LeftOutRows = Annotated[
    int | None,
    typer.Option(
        "--left-out-rows",
        metavar="CAP",
        help="With --left-out: rows too, of which so many of one person are in the number.",
    ),
]
Reuse = Annotated[
    bool,
    typer.Option(
        "--reuse", help="If it was paid for on another snapshot of the data: that answer, free."
    ),
]
PayAgain = Annotated[
    bool,
    typer.Option(
        "--pay-again", help="If it was paid for on another snapshot of the data: pay once more."
    ),
]
Confidence = Annotated[float, typer.Option("--confidence", help="Of the intervals.")]
Machine = Annotated[bool, typer.Option("--json", help="One line of JSON, numbers in full.")]
