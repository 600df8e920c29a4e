"""The privacy calculus: spaces, transformations, measurements, combinators.

Everything a third party needs to add a transformation, a mechanism or a combinator. The pieces
chain with ``>>`` and are checked when a pipeline is built, before any data is opened. Each
transformation checks its input space when built, needs no data to state its stability, and has no
data-dependent failure: what cannot be handled becomes None or is left out, row by row.

Spaces, measurements and events are those of :mod:`discreet.core`, which mechanisms, SQL plans and
the curator use too; how plans relate to transformations is told in ``docs/calculus.md``.
"""

from discreet.calculus.aggregates import count_rows, histogram, sum_rows
from discreet.calculus.cleaning import clamp_rows, drop_nulls, impute
from discreet.calculus.combinators import for_each_part, mixture
from discreet.calculus.convert import (
    bound_contributions,
    bound_silos,
    change_one_to_add_remove,
)
from discreet.calculus.parts import partition, sample_and_aggregate, union
from discreet.calculus.rows import filter_rows, flat_map_rows, map_rows
from discreet.calculus.transformation import Transformation, stable
from discreet.core.domain import (
    Categories,
    Domain,
    Graph,
    Graphs,
    Integers,
    Nullable,
    Parts,
    Reals,
    Record,
    Rows,
    Tables,
    Vector,
)
from discreet.core.interactive import Filter, Interactive, Odometer
from discreet.core.measurement import Measurement, Mechanism, both
from discreet.core.metric import (
    L1,
    L2,
    AddRemove,
    AddRemoveEdges,
    AddRemoveNodes,
    AddRemovePeople,
    ChangeOne,
    Hamming,
    LInf,
    Metric,
    SumOverParts,
    metric_of,
)
from discreet.core.space import Space
from discreet.core.unit import across_silos

__all__ = [
    "L1",
    "L2",
    "AddRemove",
    "AddRemoveEdges",
    "AddRemoveNodes",
    "AddRemovePeople",
    "Categories",
    "ChangeOne",
    "Domain",
    "Filter",
    "Graph",
    "Graphs",
    "Hamming",
    "Integers",
    "Interactive",
    "LInf",
    "Measurement",
    "Mechanism",
    "Metric",
    "Nullable",
    "Odometer",
    "Parts",
    "Reals",
    "Record",
    "Rows",
    "Space",
    "SumOverParts",
    "Tables",
    "Transformation",
    "Vector",
    "across_silos",
    "both",
    "bound_contributions",
    "bound_silos",
    "change_one_to_add_remove",
    "clamp_rows",
    "count_rows",
    "drop_nulls",
    "filter_rows",
    "flat_map_rows",
    "for_each_part",
    "histogram",
    "impute",
    "map_rows",
    "metric_of",
    "mixture",
    "partition",
    "sample_and_aggregate",
    "stable",
    "sum_rows",
    "union",
]
