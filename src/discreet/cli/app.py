"""The Typer application: one command for each thing that people do.

Modules named here load Typer and Rich only; each command loads what it needs when it runs, so
that ``--help`` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import (
    account,
    demo,
    fit,
    init,
    ledger,
    local,
    profile,
    query,
    serve,
    service,
    snapshot,
    stream,
    synopsis,
    synth,
    synth_tables,
)

app = typer.Typer(
    name="discreet",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(init.init)
app.command()(query.preview)
app.command()(query.query)
app.command()(query.explain)
app.command()(synopsis.synopsis)
app.command()(synth.synth)
app.command()(fit.fit)
app.command("synth-tables")(synth_tables.synth_tables)
app.command()(stream.stream)
app.command()(profile.profile)
app.command()(demo.demo)
app.command()(serve.serve)
app.add_typer(service.app, name="service")
app.add_typer(ledger.app, name="ledger")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(account.app, name="account")
app.add_typer(local.app, name="local")


def told_version(value: bool) -> None:  # noqa: FBT001
    """Print the version and leave."""
    if value:
        from importlib.metadata import version

        typer.echo(f"discreet {version('discreet')}")
        raise typer.Exit


@app.callback()
def discreet(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=told_version, help="Show the version."),
    ] = False,
) -> None:
    """A curator for private data: private answers about your own table, in three steps.

    discreet init visits.csv

    discreet preview "SELECT COUNT(*) AS n FROM visits" --epsilon 0.1

    discreet query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.1

    Each command has --help. Refusals cost nothing, leave with code 2 and say what to write.
    """
