"""All mechanisms that a planner compares.

Source: 004b:A22.
"""

from __future__ import annotations

from discreet.queries.planning.computed_options import (
    IndependentOption,
    MarginalOption,
    MatrixOption,
    UnionOption,
)
from discreet.queries.planning.option import MechanismOption
from discreet.queries.planning.tried_options import (
    MWEMOption,
    ProjectionOption,
    QuadTreeOption,
    TreeOption,
)
from discreet.queries.trees.dawa import DAWA
from discreet.queries.trees.privtree import PrivTree

OPTIONS: tuple[MechanismOption, ...] = (
    *(IndependentOption(), MatrixOption(), UnionOption(), MarginalOption(), QuadTreeOption()),
    *(MWEMOption(), ProjectionOption()),
    *(TreeOption("DAWA", DAWA), TreeOption("PrivTree", PrivTree)),
)
"""All that a planner compares."""
