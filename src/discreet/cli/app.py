"""The Typer application: one group of commands for each part of the library."""

from __future__ import annotations

import typer

from discreet.cli import account

app = typer.Typer(
    name="discreet",
    help="A curator for private data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(account.app, name="account")


@app.callback()
def discreet() -> None:
    """A curator for private data."""
