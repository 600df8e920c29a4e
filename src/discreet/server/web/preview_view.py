"""What a preview says, for a page: the error of every column, and what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.release.format import above, decimals
from discreet.server.web.rendering import price


@dataclass(frozen=True)
class ExpectedError:
    """How wrong a column may be: one half-width, or one at each of several sizes.

    ``sizes`` have the number of values, the half-width for the worst values, as everywhere else,
    and the one for values that are spread evenly; the last is empty where it is not known.
    """

    name: str
    width: str
    sizes: tuple[tuple[str, str, str], ...]
    note: str


@dataclass(frozen=True)
class ShownPreview:
    """A preview in words.

    Attributes:
        columns: Each with its error.
        price: Of the question.
        affordable: How many such questions are left, in words.
        cells: How many numbers each column has, in words.
        confidence: Of the errors.
        spoken: All of it in a sentence, for who does not see the page.
    """

    columns: tuple[ExpectedError, ...]
    price: str
    affordable: str
    cells: str
    confidence: float
    spoken: str


def shown_preview(found: dict[str, Any]) -> ShownPreview:
    """A preview as :func:`discreet.server.jobs.preview.previewed` tells it."""
    columns = tuple(_column(each) for each in (*found["columns"], *found["left_out"]))
    cost = "nothing" if found["free"] else price(found["price"])
    cells = found["keys"] or f"{found['cells']:,} cell{'' if found['cells'] == 1 else 's'}"
    said = [f"{each.name} plus or minus {each.width[2:]}" for each in columns if each.width]
    return ShownPreview(
        columns=columns,
        price=cost,
        affordable="any number" if found["free"] else f"{found['affordable']:,}",
        cells=cells,
        confidence=found["confidence"],
        spoken=f"{'; '.join(said) or 'The error depends on the data'}. Price: {cost}.",
    )


def _column(told: dict[str, Any]) -> ExpectedError:
    typical = dict(told["typical"])
    return ExpectedError(
        name=told["name"],
        width=_width(told["half_width"]),
        sizes=tuple(
            (f"{size:,}", _width(width), _width(typical.get(size)))
            for size, width in told["by_size"]
        ),
        note=told["note"],
    )


def _width(width: float | None) -> str:
    return "" if width is None else f"± {above(width, decimals(width))}"
