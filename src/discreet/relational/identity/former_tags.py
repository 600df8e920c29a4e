"""The names under which parts of a question were first written: those that classes had then.

They are fixed for ever, as are the names and the order of fields: only values stand in the text,
so the order is what counts. Whoever renames a field writes ``old:new`` here. A field that came
later has no place here, and a class that came later needs none.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

from discreet.core.unit import Edge, Node, Person, Replace, Row
from discreet.core.written import Form
from discreet.relational.aggregates import measures
from discreet.relational.aggregates import registry as aggregates
from discreet.relational.bounding import before_joins as limited
from discreet.relational.bounding import key_truncation as truncation
from discreet.relational.bounding import partition_filter as kept
from discreet.relational.bounding import person_rows, public_join
from discreet.relational.plan import features, query
from discreet.relational.plan import nodes as plan
from discreet.relational.plan.keyed_universe import Cells
from discreet.relational.plan.keys import DiscoveredKeys, KeySet
from discreet.relational.schema.declarations import Dates, Discovered, Number

FORMER: dict[type, Form] = {
    Row: Form("Row"),
    Person: Form("Person", "id max_rows max_groups max_rows_per_group via of"),
    Edge: Form("Edge"),
    Node: Form("Node"),
    Replace: Form("Replace", "unit"),
    Number: Form("Number", "low high step"),
    Dates: Form("Dates", "first last"),
    Discovered: Form("Discovered", "least:min_people"),
    # steps of a plan
    plan.Field: Form("Field", "name stored facts:domain declaration"),
    plan.Route: Form("Route", "table key person"),
    plan.Output: Form("Output", "name facts:domain"),
    plan.Scan: Form("Scan", "table prefix fields private identifier route identity"),
    plan.Filtered: Form("Filtered", "rows condition"),
    public_join.JoinedPublic: Form("JoinedPublic", "rows public on partners kind"),
    plan.JoinedPeople: Form("JoinedPeople", "left right kind on"),
    plan.UnionAll: Form("Union", "prefix branches outputs"),
    person_rows.Bounded: Form("Bounded", "prefix rows limit expressions outputs"),
    plan.Distinct: Form("Distinct", "prefix rows expressions outputs"),
    limited.Limited: Form("Limited", "rows limit"),
    features.PerPerson: Form("PerPerson", "prefix rows limit named features outputs"),
    features.CountedRows: Form("Counted", "argument"),
    features.CountedValues: Form("CountedValues", "argument"),
    features.Added: Form("Added", "argument"),
    features.Averaged: Form("Averaged", "argument"),
    features.Least: Form("Least", "argument"),
    features.Greatest: Form("Greatest", "argument"),
    features.Earliest: Form("Earliest", "argument order"),
    features.Latest: Form("Latest", "argument order"),
    truncation.Truncated: Form("Truncated", "prefix rows keys limit kind expressions outputs"),
    truncation.JoinedByKey: Form("JoinedByKey", "left right kind"),
    kept.PartitionFilter: Form("Kept", "rows part value keeping:assignment"),
    kept.EveryPart: Form("EveryPart"),
    kept.SomeParts: Form("SomeParts", "limit salt"),
    kept.FirstParts: Form("FirstParts", "limit"),
    # keys, measures and columns of the answer
    KeySet: Form("KeySet", "blocks"),
    Cells: Form("Cells", "blocks"),
    DiscoveredKeys: Form("DiscoveredKeys", "expressions listed least:min_people"),
    measures.CountRows: Form("CountRows", "argument"),
    measures.CountPeople: Form("CountPeople"),
    measures.CountValues: Form("CountValues", "argument"),
    measures.Total: Form("Total", "argument low high centre exponent"),
    measures.Ranks: Form("Ranks", "argument low step size"),
    aggregates.Count: Form("Count", "measure"),
    aggregates.Sum: Form("Sum", "total"),
    aggregates.Average: Form("Average", "present total"),
    aggregates.Variance: Form("Spread", "present total squares freedom:ddof"),
    aggregates.StandardDeviation: Form("Deviation", "present total squares freedom:ddof"),
    aggregates.Covariance: Form("Covariance", "present first second products freedom:ddof"),
    aggregates.Correlation: Form(
        "Correlation", "present first second products first_squares second_squares"
    ),
    aggregates.QuantileAggregate: Form("Quantile", "ranks q"),
    aggregates.MinimumAggregate: Form("Minimum", "ranks q"),
    aggregates.MaximumAggregate: Form("Maximum", "ranks q"),
    query.KeyOutput: Form("KeyOutput", "name number"),
    query.AggregateOutput: Form("AggregateOutput", "name number"),
    query.DerivedOutput: Form("DerivedOutput", "name expression"),
    query.Order: Form("Order", "expression sign"),
    query.Query: Form(
        "Question", "rows unit keys key_places aggregates outputs having order limit offset"
    ),
}
"""What parts were called then, and which of their fields there were."""
