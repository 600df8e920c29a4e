"""What a question got: numbers, how wrong they may be, and what they cost.

:class:`Release` is the table that comes back; its columns are :class:`Answer`; a cell of it is an
:class:`Estimate` or a :class:`Ratio`, with which one can calculate.
"""

from discreet.release.column import Answer, Ends, Even
from discreet.release.combine import combine, combine_answers, combine_releases
from discreet.release.contrast import Contrast
from discreet.release.estimate import Atom, Estimate
from discreet.release.formula import Given, Linear, Measure, Quotient
from discreet.release.ratio import Ratio
from discreet.release.release import Release

__all__ = [
    "Answer",
    "Atom",
    "Contrast",
    "Ends",
    "Estimate",
    "Even",
    "Given",
    "Linear",
    "Measure",
    "Quotient",
    "Ratio",
    "Release",
    "combine",
    "combine_answers",
    "combine_releases",
]
