"""The tags under which the parts of a question are written in its identity.

A tag is fixed for ever, and so are the names under which fields are written: a class may be
renamed or moved, and questions asked before are still known. Whoever renames a field writes
``old:new`` here. Whoever changes what a part means, with its fields as they are, raises the number.
A field without a name here is not told: only those that are not compared may be left out.

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.unit import Edge, Node, Person, Replace, Row
from discreet.core.written import Form
from discreet.relational.aggregates import measures
from discreet.relational.aggregates import registry as aggregates
from discreet.relational.bounding import before_joins as limited
from discreet.relational.bounding import elements, person_rows, public_join
from discreet.relational.bounding import key_numbering as numbering
from discreet.relational.bounding import key_truncation as truncation
from discreet.relational.bounding import partition_filter as kept
from discreet.relational.bounding.person_limits import PersonLimits
from discreet.relational.plan import (
    features,
    person_statistics,
    person_windows,
    public_rows,
    query,
)
from discreet.relational.plan import nodes as plan
from discreet.relational.plan.keyed_universe import Cells
from discreet.relational.plan.keys import Block, DiscoveredKeys, KeySet
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.post_processing import tables, windows
from discreet.relational.post_processing.outer_aggregates import OuterAggregate
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Discovered,
    Integer,
    Number,
    Text,
)
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

FORMS: dict[type, Form] = {
    # whose privacy, and at what price
    Row: Form("row/1"),
    Person: Form("person/1", "id max_rows max_groups max_rows_per_group via of", later="row"),
    Edge: Form("edge/1"),
    Node: Form("node/1"),
    Replace: Form("replace/1", "unit"),
    PureDP: Form("pure/1", "epsilon"),
    ApproxDP: Form("approximate/1", "epsilon delta"),
    ZCDP: Form("concentrated/1", "rho"),
    ApproxZCDP: Form("approximate-concentrated/1", "rho delta"),
    RenyiDP: Form("renyi/1", "alpha epsilon"),
    GaussianDP: Form("gaussian/1", "mu"),
    # columns
    DataType: Form("kind/1"),
    ColumnDomain: Form("facts/1", "kind low high values declared length"),
    Category: Form("category/1", "values"),
    Number: Form("number/1", "low high step"),
    Integer: Form("integer/1", "low high"),
    Boolean: Form("boolean/1"),
    Dates: Form("dates/1", "first last"),
    Discovered: Form("discovered/1", "least:min_people"),
    Text: Form("text/1", "max_elements elements"),
    # steps of a plan
    plan.JoinKind: Form("join-kind/1"),
    plan.Field: Form("field/1", "name stored facts:domain declaration"),
    plan.DerivedField: Form(
        "derived-field/1", "name stored facts:domain declaration derivation inputs"
    ),
    plan.Route: Form("route/1", "table key person"),
    plan.Output: Form("output/1", "name facts:domain"),
    plan.Scan: Form("scan/1", "table prefix fields private identifier route identity", later="row"),
    plan.Filtered: Form("filtered/1", "rows condition"),
    public_join.JoinedPublic: Form("joined-public/1", "rows public on partners kind"),
    elements.Unnested: Form(
        "unnested/1", "rows text separator most asked first kind element place field"
    ),
    plan.JoinedPeople: Form("joined-people/1", "left right kind on"),
    plan.UnionAll: Form("union/1", "prefix branches outputs"),
    person_rows.Bounded: Form("bounded/1", "prefix rows limit expressions outputs"),
    plan.Distinct: Form("distinct/1", "prefix rows expressions outputs"),
    public_rows.PublicRows: Form("public-rows/1", "prefix outputs listed"),
    limited.Limited: Form("limited/1", "rows limit"),
    features.PerPerson: Form("per-person/1", "prefix rows limit named features outputs"),
    features.PerPersonAndKey: Form(
        "per-person-and-key/1", "prefix rows limit named features outputs keys"
    ),
    features.CountedRows: Form("feature-count/1", "argument"),
    features.CountedValues: Form("feature-values/1", "argument"),
    features.Added: Form("feature-sum/1", "argument"),
    features.Averaged: Form("feature-mean/1", "argument"),
    features.Least: Form("feature-least/1", "argument"),
    features.Greatest: Form("feature-greatest/1", "argument"),
    features.Earliest: Form("feature-earliest/1", "argument order"),
    features.Latest: Form("feature-latest/1", "argument order"),
    person_statistics.SpreadOf: Form("feature-variance/1", "argument ddof"),
    person_statistics.DeviationOf: Form("feature-deviation/1", "argument ddof"),
    person_statistics.MiddleOf: Form("feature-median/1", "argument"),
    person_statistics.MostFrequent: Form("feature-mode/1", "argument"),
    person_statistics.AnyTrue: Form("feature-any/1", "argument"),
    person_statistics.AllTrue: Form("feature-all/1", "argument"),
    person_windows.Windowed: Form("windowed/1", "prefix rows named windows outputs"),
    person_windows.WindowOrder: Form("window-order/1", "column descending"),
    person_windows.Numbering: Form("window-numbering/1"),
    person_windows.NumberedRow: Form("window-number/1", "within order numbering"),
    person_windows.NeighbourRow: Form(
        "window-neighbour/1", "within order argument distance otherwise"
    ),
    person_windows.OuterRow: Form("window-first/1", "within order argument"),
    person_windows.LastRow: Form("window-last/1", "within order argument"),
    person_windows.RunningFeature: Form("window-feature/1", "within order feature before"),
    truncation.Truncated: Form("truncated/1", "prefix rows keys limit kind expressions outputs"),
    truncation.JoinedByKey: Form("joined-by-key/1", "left right kind"),
    numbering.NumberedByKey: Form("numbered-by-key/1", "prefix rows keys most outputs"),
    kept.PartitionFilter: Form("part/1", "rows part value keeping:assignment"),
    kept.EveryPart: Form("every-part/1"),
    kept.SomeParts: Form("some-parts/1", "limit salt"),
    kept.FirstParts: Form("first-parts/1", "limit"),
    # keys, measures and columns of the answer
    KeySet: Form("keys/1", "blocks"),
    Cells: Form("cells/1", "blocks"),
    Block: Form("block/1", "expressions entries"),
    DiscoveredKeys: Form("discovered-keys/1", "expressions listed least:min_people"),
    measures.CountRows: Form("count-rows/1", "argument"),
    measures.CountPeople: Form("count-people/1"),
    measures.CountValues: Form("count-values/1", "argument"),
    measures.Total: Form("total/1", "argument low high centre exponent"),
    measures.ValuesTotal: Form("values-total/1", "argument low high centre"),
    measures.Ranks: Form("ranks/1", "argument low step size"),
    aggregates.Count: Form("count/1", "measure"),
    aggregates.Sum: Form("sum/1", "total"),
    aggregates.Average: Form("average/1", "present total"),
    aggregates.GeometricMean: Form("geometric-mean/1", "present total"),
    aggregates.Variance: Form("variance/1", "present total squares freedom:ddof"),
    aggregates.StandardDeviation: Form("deviation/1", "present total squares freedom:ddof"),
    aggregates.Covariance: Form("covariance/1", "present first second products freedom:ddof"),
    aggregates.Correlation: Form(
        "correlation/1", "present first second products first_squares second_squares"
    ),
    aggregates.QuantileAggregate: Form("quantile/1", "ranks q"),
    aggregates.MinimumAggregate: Form("minimum/1", "ranks q"),
    aggregates.MaximumAggregate: Form("maximum/1", "ranks q"),
    query.KeyOutput: Form("key-output/1", "name number"),
    query.AggregateOutput: Form("aggregate-output/1", "name number"),
    query.DerivedOutput: Form("derived-output/1", "name expression"),
    query.Order: Form("order/1", "expression sign"),
    query.QueryOverAnswers: Form(
        "question-over-answers/1",
        "rows unit keys key_places aggregates outputs having order limit offset table others",
        later="limits",
    ),
    query.PrivatePart: Form("private-part/1", "rows unit keys key_places measured", later="limits"),
    query.Query: Form(
        "question/1",
        "rows unit keys key_places aggregates outputs having order limit offset",
        later="limits",
    ),
    PersonLimits: Form("person-limits/1", "rows groups rows_per_group"),
    LeftOut: Form("left-out/1", "share rows_at_most groups_at_most"),
    # tables computed from answers
    tables.AnswerColumn: Form("answers-shown/1", "name kind"),
    tables.Answer: Form("answer/1", "part columns"),
    tables.OneRow: Form("answers-one-row/1", "columns"),
    tables.PublicRowsTable: Form("answers-public-rows/1", "entries columns"),
    tables.Projected: Form("answers-projected/1", "source condition expressions columns"),
    tables.GroupedAnswer: Form("answers-grouped/1", "source keys sets aggregates columns"),
    tables.WindowedAnswer: Form("answers-windowed/1", "source windows columns"),
    tables.Joined: Form("joined-answers/1", "left right condition outer columns"),
    tables.CombinedAnswers: Form("answers-combined/1", "kind distinct left right columns"),
    tables.Sorting: Form("answers-sorting/1", "expression sign nulls_first"),
    tables.Arranged: Form("answers-arranged/1", "source order limit offset distinct columns"),
    OuterAggregate: Form("outer-aggregate/1", "name argument condition distinct"),
    windows.WindowFrame: Form("answers-frame/1", "first last peers"),
    windows.AnswerOrder: Form("answers-window-order/1", "expression sign nulls_first"),
    windows.Window: Form("answers-window/1", "name arguments condition partition order frame"),
}

for _kind, _form in FORMS.items():  # what has no name here would be left out of the identity
    _form.require_all(_kind, but=("unit",) if issubclass(_kind, Guarantee) else ())
