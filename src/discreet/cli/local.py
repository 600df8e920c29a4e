"""``discreet local``: plan a collection from devices, take reports, and estimate from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import display
from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.local.vectors import VectorEstimate

app = typer.Typer(
    help="Local privacy: plan a collection from devices, take their reports, and estimate.",
    no_args_is_help=True,
)

_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@app.command()
def simulate(
    *,
    domain: Annotated[int, typer.Option("--domain", help="How many values there are.")],
    error: Annotated[float, typer.Option("--error", help="Wanted error of a share, as 0.01.")],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Of each person. Without: several.")
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="How sure, for each value.")
    ] = 0.95,
    message_bits: Annotated[
        int | None, typer.Option("--message-bits", help="The longest report.")
    ] = None,
    people: Annotated[
        int | None, typer.Option("--people", help="Also try it on so many invented people.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw a picture: name.html, .svg, .png or .json.")
    ] = None,
    machine: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """How many people a wanted error takes, for each oracle and epsilon. No data is read.

    discreet local simulate --domain 1024 --error 0.01 --epsilon 1 --people 200000
    """
    with display.readable_errors(machine=machine):
        from discreet.local.simulation import people_needed, plot_people, trial

        found = people_needed(
            epsilons=_EPSILONS if epsilon is None else (epsilon,),
            domain=domain,
            error=error,
            confidence=confidence,
            message_bits=message_bits,
        )
        ran = None if people is None else trial(found[0].oracle, people=people, error=error)
        if machine:
            listed = [
                {
                    "epsilon": each.epsilon,
                    "oracle": each.name,
                    "message_bits": each.message_bits,
                    "people": each.people,
                }
                for each in found
            ]
            display.as_json({"needed": listed, "trial": None if ran is None else vars(ran)})
        else:
            width = max(len(each.name) for each in found)
            rows = [
                f"{each.epsilon:>7g}  {each.name:<{width}}  "
                f"{each.message_bits:>6}  {each.people:>12,}"
                for each in found
            ]
            heading = f"{'epsilon':>7}  {'oracle':<{width}}  {'bits':>6}  {'people':>12}"
            display.lines("\n".join([heading, *rows]))
            if ran is not None:
                display.lines(
                    f"Tried {found[0].name} on {ran.people:,} invented people: {ran.within:.1%} of "
                    f"the shares within {error:g}, the worst off by {ran.worst:.2g}."
                )
        if plot is not None:
            from discreet.cli.account import save

            save(plot_people(found, error=error), plot)


@app.command()
def collect(
    schemas: Annotated[
        list[Path], typer.Argument(metavar="SCHEMA...", help="Schemas as Collection.schema writes.")
    ],
    *,
    store: Annotated[Path, typer.Option("--store", help="Folder for batches of reports.")],
    batch: Annotated[
        int, typer.Option("--batch", help="Reports that are kept together and mixed.")
    ] = 1000,
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="At which port.")] = 8100,
) -> None:
    """Take reports of devices over HTTP; no addresses, times or order are kept.

    discreet local collect survey.schema.json --store reports
    """
    with display.readable_errors(machine=False):
        from discreet.cli.serve import require_installed

        require_installed()
        import asyncio

        from discreet.local.collection import Collection
        from discreet.server.collection.app import collection_app
        from discreet.server.collection.store import BatchStore
        from discreet.server.operations.http_server import run_collection
        from discreet.server.operations.logs import to_stream

        listed = [Collection.from_schema(_text_of(path)) for path in schemas]
        stores = [BatchStore(each, store, batch=batch) for each in listed]
        to_stream()
        asyncio.run(run_collection(collection_app(stores), host=host, port=port))


@app.command()
def estimate(
    schema: Annotated[Path, typer.Argument(help="The schema that devices had.")],
    *,
    store: Annotated[Path, typer.Option("--store", help="Folder that collect wrote to.")],
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of each interval by itself.")
    ] = 0.95,
    most: Annotated[int, typer.Option("--most", help="How many of the largest shares.")] = 20,
    machine: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Shares or a mean vector from batches written so far. Reports are private: it costs nothing.

    discreet local estimate survey.schema.json --store reports
    """
    with display.readable_errors(machine=machine):
        from discreet.local.collection import Collection
        from discreet.local.vectors import VectorRandomiser
        from discreet.server.collection.store import BatchStore

        asked = Collection.from_schema(_text_of(schema))
        if not store.is_dir():
            raise InvalidParameter(
                code="file_not_found",
                expectation="a folder that `discreet local collect` wrote to",
                received=str(store),
                remedy="Check the path; it is taken relative to the working directory.",
            )
        stored = BatchStore(asked, store, batch=1).stored()
        tally = stored.tally
        if stored.unreadable:
            display.beside([f"{stored.unreadable} batches cannot be read and are left out."])
        if isinstance(asked.oracle, VectorRandomiser):
            _show_mean(asked.oracle.mean(tally), tally.people, machine=machine)
            return
        found = asked.oracle.estimate(tally)
        low, high = found.intervals(confidence=confidence)
        names = found.labels if found.labels is not None else range(len(found.shares))
        rows = [
            {"value": str(names[i]), "share": found.shares[i], "low": low[i], "high": high[i]}
            for i in (-found.shares).argsort(kind="stable")[:most].tolist()
        ]
        if machine:
            display.as_json({"people": tally.people, "confidence": confidence, "shares": rows})
        else:
            width = max(len(row["value"]) for row in rows)
            listed = [
                f"{row['value']:<{width}}  {row['share']:8.4f}  "
                f"{row['low']:8.4f} to {row['high']:.4f}"
                for row in rows
            ]
            display.lines("\n".join([f"{tally.people:,} reports", *listed]))


def _text_of(schema: Path) -> str:
    try:
        return schema.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            code="file_not_found",
            expectation="a file with a schema, as Collection.schema writes it",
            received=str(schema),
            remedy="Check the path; it is taken relative to the working directory.",
        ) from None


def _show_mean(found: VectorEstimate, people: int, *, machine: bool) -> None:
    """A mean vector with the standard error of each coordinate."""
    mean, errors = found.mean.tolist(), found.standard_errors.tolist()
    if machine:
        display.as_json({"people": people, "mean": mean, "standard_errors": errors})
        return
    rows = [
        f"{i:>6}  {each:9.4f}  ± {error:.4f}"
        for i, (each, error) in enumerate(zip(mean, errors, strict=True))
    ]
    display.lines("\n".join([f"{people:,} reports", *rows]))
