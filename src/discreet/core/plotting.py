"""What all plots share: Altair, an extra that is loaded on first use; colours, style, saving."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    import altair as alt

TopLevel: TypeAlias = "alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart"
AnyChart = TypeVar("AnyChart", bound="alt.TopLevelMixin")

# Okabe and Ito's, which survive every common kind of colour blindness, and a grey.
BLUE, ORANGE = "#0072B2", "#E69F00"
COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#222222", "#D55E00", "#56B4E9", "#999999")

_SUFFIXES = (".html", ".svg", ".png", ".json")


def plotting(module: str = "altair") -> Any:
    """Altair, or vl-convert which saves pictures; refused with what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_altair",
            expectation="Altair and vl-convert, which draw the plots",
            received=module,
            remedy="pip install 'discreet[plots]'.",
        ) from None


def styled(chart: AnyChart) -> AnyChart:
    """House style: white ground, quiet grid, legend above."""
    look: Any = chart
    result: AnyChart = (
        look.configure(background="white", padding=8, font="Helvetica, Arial, sans-serif")
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e8e8e8"
        )
        .configure_legend(orient="top", labelFontSize=12, symbolSize=200, labelLimit=300)
        .configure_header(labelFontSize=13, labelFontWeight="bold")
        .configure_view(stroke=None)
    )
    return result


def save(chart: TopLevel, path: Path) -> None:
    """Write the styled chart; the name's ending says how. An HTML page needs no network."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidParameter(
            code="plot_format",
            expectation=f"a file name that ends in {', '.join(_SUFFIXES)}",
            received=path.name,
            remedy="Use .html for a page, .svg or .png for a picture.",
        )
    if suffix != ".json":
        plotting("vl_convert")
    try:
        if suffix == ".html":
            styled(chart).save(str(path), inline=True)
        else:
            styled(chart).save(str(path))
    except OSError as error:
        raise InvalidParameter(
            code="plot_not_saved",
            expectation="a place that can be written to",
            received=str(path),
            remedy=f"Choose another place: {error.strerror or 'it could not be written'}.",
        ) from None
