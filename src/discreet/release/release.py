"""What a question got: numbers with their uncertainty, what they cost, and where they come from.

A release is a value. It prints as a table, exports to frames, files and pictures, does arithmetic
through the estimates of its cells, and comes back from JSON byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from discreet.release import export, plot, serialize, table
from discreet.release.combine import combine_releases
from discreet.release.released_table import ReleasedTable
from discreet.release.take import take

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


class Release(ReleasedTable):
    """The answer to one question: :class:`ReleasedTable`, and what can be done with it."""

    left_out: Release | None

    def take(self, rows: Sequence[int]) -> Self:
        """The release with these rows only, by number from zero, in this order."""
        return take(self, rows)

    def combine(self, older: ReleasedTable) -> Self:
        """This answer and an older one to the same question, weighted by inverse variance."""
        return combine_releases(older, self)

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame of all columns; needs Polars (the extra ``frames``)."""
        return export.to_polars(self)

    def to_pandas(self) -> Any:
        """A pandas frame of all columns; needs pandas (the extra ``frames``)."""
        return export.to_pandas(self)

    def to_arrow(self) -> Any:
        """An Arrow table of all columns; needs PyArrow (the extra ``frames``)."""
        return export.to_arrow(self)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write all columns as CSV in UTF-8, numbers in full, nothing for None."""
        export.to_csv(self, path)

    def to_json(self) -> str:
        """One line of JSON, canonical: what is read back writes the same text."""
        return serialize.to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The release that :meth:`to_json` wrote."""
        return serialize.from_json(cls, text)

    def plot(self, column: str | None = None) -> alt.TopLevelMixin:
        """A chart of one answer with its intervals over the keys; by default of the first."""
        return plot.plot(self, column)

    def save_plot(self, path: str | PathLike[str], column: str | None = None) -> None:
        """Write the chart; the name's ending says how: .html, .svg, .png or .json."""
        plot.save_plot(self, path, column)

    def __repr__(self) -> str:
        """The table as text."""
        return table.text(self)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        return table.html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as JSON, between processes too."""
        return (type(self).from_json, (self.to_json(),))
