"""From what is known to a page: templates, and how numbers, prices and times are written in them.

Everything that stands in a page is escaped. A page holds no script and no style of its own: the
content security policy allows those under ``/static`` alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from discreet.core.errors import DiscreetError
from discreet.release.format import at_most, percent
from discreet.server.refusals import described

FOLDER = Path(__file__).parent


def rendered(template: str, **told: Any) -> str:
    """A page from its template."""
    return _environment().get_template(template).render(told)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"time": time_of, "price": price, "percent": percent, "short": short}
    made.globals["file_forms"] = _file_forms()
    return made


def _file_forms() -> list[tuple[str, str]]:
    """The forms of files that can be made here: two need a package that may not be installed."""
    needed = {
        "CSV": ("csv", ()),
        "Parquet": ("parquet", ("polars",)),
        "JSON": ("json", ()),
        "SVG": ("svg", ("altair", "vl_convert")),
    }
    return [
        (name, ending)
        for name, (ending, packages) in needed.items()
        if all(find_spec(package) is not None for package in packages)
    ]


def time_of(when: int | str | None) -> Markup:
    """A time for people and for machines; milliseconds, or as the ledger writes it."""
    if when is None:
        return Markup("–")
    moment = (
        datetime.fromisoformat(when)
        if isinstance(when, str)
        else datetime.fromtimestamp(when / 1000, UTC)
    )
    text = f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(), text)


def price(numbers: Mapping[str, float] | None) -> str:
    """A price in words; a delta of zero is not said.

    >>> price({"epsilon": 0.5, "delta": 0.0}), price({"rho": 0.1}), price({})
    ('ε 0.5', 'ρ 0.1', 'nothing')
    """
    signs = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
    said = [
        f"{signs.get(name, name)} {at_most(value)}"
        for name, value in (numbers or {}).items()
        if value or name != "delta"
    ]
    return ", ".join(said) or "nothing"


def short(text: str, most: int = 90) -> str:
    r"""One line of a text.

    >>> short("SELECT  1\n FROM t", 10)
    'SELECT 1…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def refusal_words(error: DiscreetError | Mapping[str, Any]) -> dict[str, Any]:
    """A refusal for a page; a drawing of the place, which the page shows itself, is left out."""
    told = described(error) if isinstance(error, DiscreetError) else dict(error)
    told["remedy"] = str(told.get("remedy") or "").split("\n")[0]
    received = told.get("received")
    told["received"] = None if received is None else str(received)
    return told


def as_json(plain: Any) -> str:
    """JSON for people."""
    return json.dumps(plain, indent=2, ensure_ascii=False)
