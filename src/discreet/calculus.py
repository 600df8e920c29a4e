"""Public face of the privacy calculus: spaces, transformations, measurements, combinators.

Everything a third party needs to add a transformation, a mechanism or a combinator. The pieces
chain with ``>>`` and are checked when a pipeline is built, before any data is opened.
"""

from discreet.core.combinators import for_each_part
from discreet.core.domain import (
    Categories,
    Domain,
    Graph,
    Graphs,
    Integers,
    Nullable,
    Parts,
    Reals,
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
from discreet.core.transformation import Transformation, stable
from discreet.core.transformations import (
    bound_contributions,
    bound_silos,
    change_one_to_add_remove,
    clamp_rows,
    count_rows,
    drop_nulls,
    filter_rows,
    flat_map_rows,
    histogram,
    impute,
    map_rows,
    partition,
    sample_and_aggregate,
    sum_rows,
    union,
)
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
    "partition",
    "sample_and_aggregate",
    "stable",
    "sum_rows",
    "union",
]
