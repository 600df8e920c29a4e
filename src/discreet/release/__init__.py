"""What a query got: numbers, how wrong they may be, and what they cost.

:class:`Release` is the table that comes back; its columns are
:class:`ReleasedColumn`; a cell of it is an :class:`Estimate` or a :class:`Ratio`, with which one
can calculate. All of it is post-processing: nothing here sees data or spends.
"""

from discreet.release.column import Ends, HalfWidth, ReleasedColumn
from discreet.release.combine import combine, combine_columns, combine_releases
from discreet.release.draws import Atom
from discreet.release.estimate import Contrast, Estimate, Ratio
from discreet.release.formula import GivenValues, LinearFormula, NoisyMeasure, QuotientFormula
from discreet.release.release import Release

__all__ = [
    "Atom",
    "Contrast",
    "Ends",
    "Estimate",
    "GivenValues",
    "HalfWidth",
    "LinearFormula",
    "NoisyMeasure",
    "QuotientFormula",
    "Ratio",
    "Release",
    "ReleasedColumn",
    "combine",
    "combine_columns",
    "combine_releases",
]
