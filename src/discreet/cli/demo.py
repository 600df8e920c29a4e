"""``discreet demo``: the main job end to end, on an invented hospital, without a network."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from discreet.cli import display

if TYPE_CHECKING:
    from discreet.core.guarantee import Guarantee
    from discreet.curator.accuracy import Within
    from discreet.curator.curator import Curator
    from discreet.release import Release

PROJECT = """\
# The project file of the demonstration. Everything in it is public.
ledger = "visits.ledger"

[budget]
kind = "approx"
epsilon = 3
delta = 1e-6

[tables.visits]
path = "visits.parquet"

[tables.visits.unit]
kind = "person"
id = "patient"
max_rows = 5

[tables.visits.columns]
ward = { kind = "category", values = ["medicine", "surgery", "maternity", "children"] }
age = { kind = "number", low = 0, high = 100 }
nights = { kind = "number", low = 0, high = 20 }
cost = { kind = "number", low = 0, high = 10_000 }
day = { kind = "dates", first = 2024-01-01, last = 2024-12-31 }
"""
_QUESTIONS = (
    ("A count", "SELECT COUNT(*) AS n FROM visits"),
    ("Groups: all listed wards, one price", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
    ("People instead of visits", "SELECT COUNT(DISTINCT patient) AS people FROM visits"),
    ("Means", "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward"),
    ("A sum with a condition", "SELECT SUM(cost) AS cost FROM visits WHERE nights >= 7"),
    (
        "A share, with CASE",
        "SELECT AVG(CASE WHEN age >= 65 THEN 1 ELSE 0 END) AS elderly FROM visits",
    ),
    (
        "Months",
        "SELECT EXTRACT(MONTH FROM day) AS month, COUNT(*) AS n FROM visits GROUP BY month",
    ),
    ("A median", "SELECT MEDIAN(cost) AS cost FROM visits"),
    (
        "A deviation and a correlation",
        "SELECT STDDEV(age) AS sd, CORR(age, nights) AS r FROM visits",
    ),
    (
        "HAVING, ORDER BY and LIMIT act on released numbers",
        "SELECT bin(age, 0, 100, 10) AS decade, COUNT(*) AS n FROM visits GROUP BY decade "
        "HAVING n > 1000 ORDER BY n DESC LIMIT 3",
    ),
)
_REFUSED = (
    "SELECT * FROM visits",
    "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient",
    "SELECT MAX(cst) AS most FROM visits",
)


def demo(
    *,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Where to leave table, project file, ledger and picture."),
    ] = None,
) -> None:
    """Ask an invented hospital ten questions, and look at the ledger.

    discreet demo

    The table is invented. Nothing is downloaded; everything is left in a folder to play with.
    """
    with display.readable_errors(machine=False):
        from discreet.cli.init import require_new
        from discreet.cli.invented import PATIENTS, VISITS, write_visits
        from discreet.core.guarantee import PureDP
        from discreet.curator.accuracy import Within
        from discreet.curator.project import Project

        started = perf_counter()
        place = Path(tempfile.mkdtemp(prefix="discreet-")) if folder is None else folder
        place.mkdir(parents=True, exist_ok=True)
        require_new(place / "discreet.toml", force=False)
        write_visits(place / "visits.parquet")
        (place / "discreet.toml").write_text(PROJECT, encoding="utf-8")
        display.lines(
            f"An INVENTED hospital: {VISITS:,} visits of up to {PATIENTS:,} patients.\n"
            "Protected: all visits of a patient together, of which five count.\n"
            "Budget for all questions together: epsilon 3, delta 1e-6."
        )
        with Project.read(place / "discreet.toml").curator() as curator:
            price = PureDP(epsilon=0.2)
            heading("Before asking: how accurate would it be? Free")
            display.lines(str(curator.preview(_QUESTIONS[1][1], spend=price)))
            answers = [
                ask(curator, f"{number}. {title}", sql, spend=price)
                for number, (title, sql) in enumerate(_QUESTIONS, start=1)
            ]
            ask(
                curator,
                "Name the accuracy, and pay only what it costs",
                "SELECT COUNT(*) AS n FROM visits WHERE ward = 'children'",
                accuracy=Within(60),
            )
            heading("The same question again costs nothing")
            again = curator.sql(_QUESTIONS[0][1], spend=price)
            display.lines(f"the stored answer, as before: {again.id == answers[0].id}")
            refused(curator, price)
            draw(answers[6], place / "months.svg")
            heading("The ledger")
            display.lines(str(curator.history()))
            curator.ledger.verify()
            display.lines(
                f"verified. remaining: {display.describe_remaining_budget(curator.remaining)}"
            )
        display.lines(
            f"\n{perf_counter() - started:.1f} s. Go on yourself:\n"
            f"  cd {place}\n"
            '  discreet query "SELECT ward, AVG(nights) AS nights FROM visits GROUP BY ward" '
            "--epsilon 0.1"
        )


def ask(
    curator: Curator,
    title: str,
    sql: str,
    *,
    spend: Guarantee | None = None,
    accuracy: Within | None = None,
) -> Release:
    """Print a question and its answer."""
    from discreet.cli.opening import busy

    heading(title)
    display.note(sql)
    with busy("asking"):
        release = curator.sql(sql, spend=spend, accuracy=accuracy)
    display.lines(str(release))
    return release


def refused(curator: Curator, spend: Guarantee) -> None:
    """Questions that have no private answer."""
    from discreet.core.errors import DiscreetError

    heading("Refused, at no charge")
    for sql in _REFUSED:
        display.note(sql)
        try:
            curator.sql(sql, spend=spend)
        except DiscreetError as refusal:
            display.lines(f"→ {refusal}")


def draw(release: Release, picture: Path) -> None:
    """A picture, where what draws it is installed."""
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        display.note("No picture: pip install 'discreet[plots]' to have one.")
        return
    release.save_plot(picture)
    display.saved(picture)


def heading(text: str) -> None:
    """A line that stands out."""
    Console(highlight=False).print(Text(f"\n── {text} "), style="bold")
