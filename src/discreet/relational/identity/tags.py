"""The tags under which the parts of a question are written in its identity.

A tag is fixed for ever: a class may be renamed or moved, and questions asked before are still
known. Whoever changes what a part means, with its fields as they are, raises the number.

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
from discreet.core.unit import Edge, Node, Person, Replace, Row
from discreet.relational.aggregates import aggregate as aggregates
from discreet.relational.aggregates import measures
from discreet.relational.bounding import before_joins as limited
from discreet.relational.bounding import key_truncation as truncation
from discreet.relational.bounding import partition_filter as kept
from discreet.relational.bounding import person_rows, public_join
from discreet.relational.plan import features
from discreet.relational.plan import nodes as plan
from discreet.relational.plan import query as question
from discreet.relational.plan.keyed_universe import Cells
from discreet.relational.plan.keys import Block, DiscoveredKeys, KeySet
from discreet.relational.schema.declarations import Category, Dates, Discovered, Number
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import Kind

TAGS: dict[type, str] = {
    # whose privacy, and at what price
    Row: "row/1",
    Person: "person/1",
    Edge: "edge/1",
    Node: "node/1",
    Replace: "replace/1",
    PureDP: "pure/1",
    ApproxDP: "approximate/1",
    ZCDP: "concentrated/1",
    ApproxZCDP: "approximate-concentrated/1",
    RenyiDP: "renyi/1",
    GaussianDP: "gaussian/1",
    # columns
    Kind: "kind/1",
    Facts: "facts/1",
    Category: "category/1",
    Number: "number/1",
    Dates: "dates/1",
    Discovered: "discovered/1",
    # steps of a plan
    plan.JoinKind: "join-kind/1",
    plan.Field: "field/1",
    plan.Route: "route/1",
    plan.Output: "output/1",
    plan.Scan: "scan/1",
    plan.Filtered: "filtered/1",
    public_join.JoinedPublic: "joined-public/1",
    plan.JoinedPeople: "joined-people/1",
    plan.UnionAll: "union/1",
    person_rows.Bounded: "bounded/1",
    plan.Distinct: "distinct/1",
    limited.Limited: "limited/1",
    features.PerPerson: "per-person/1",
    features.CountedRows: "feature-count/1",
    features.CountedValues: "feature-values/1",
    features.Added: "feature-sum/1",
    features.Averaged: "feature-mean/1",
    features.Least: "feature-least/1",
    features.Greatest: "feature-greatest/1",
    features.Earliest: "feature-earliest/1",
    features.Latest: "feature-latest/1",
    truncation.Truncated: "truncated/1",
    truncation.JoinedByKey: "joined-by-key/1",
    kept.PartitionFilter: "part/1",
    kept.EveryPart: "every-part/1",
    kept.SomeParts: "some-parts/1",
    kept.FirstParts: "first-parts/1",
    # keys, measures and columns of the answer
    KeySet: "keys/1",
    Cells: "cells/1",
    Block: "block/1",
    DiscoveredKeys: "discovered-keys/1",
    measures.CountRows: "count-rows/1",
    measures.CountPeople: "count-people/1",
    measures.CountValues: "count-values/1",
    measures.Total: "total/1",
    measures.Ranks: "ranks/1",
    aggregates.Count: "count/1",
    aggregates.Sum: "sum/1",
    aggregates.Average: "average/1",
    aggregates.Spread: "variance/1",
    aggregates.Deviation: "deviation/1",
    aggregates.Covariance: "covariance/1",
    aggregates.Correlation: "correlation/1",
    aggregates.Quantile: "quantile/1",
    aggregates.Minimum: "minimum/1",
    aggregates.Maximum: "maximum/1",
    question.KeyOutput: "key-output/1",
    question.AggregateOutput: "aggregate-output/1",
    question.DerivedOutput: "derived-output/1",
    question.Order: "order/1",
    question.Question: "question/1",
}
