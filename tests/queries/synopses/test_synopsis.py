"""Synopses that outlive the process that made them."""

import json

import numpy as np
import pytest

import discreet as dp
from discreet.core.events.event import Nothing
from discreet.errors import InvalidParameter
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.synopses.synopsis import HistogramSynopsis, Synopsis, synopsis_from_dict
from discreet.queries.workload.families import Each
from discreet.queries.workload.stored_form import packed
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(a=range(3), b=range(4), c=range(2))

COUNTS = np.random.default_rng(0).integers(0, 9, 24)

PAIR = Workload.of(UNIVERSE, {"a": Each(3), "b": Each(4)})


@pytest.mark.parametrize(
    "synopsis",
    [
        HistogramSynopsis(UNIVERSE, COUNTS / 7, Nothing()),
        MatrixMechanism(PAIR, dp.PureDP(epsilon=1)).release(COUNTS),
    ],
    ids=["histogram", "partial"],
)
def test_answers_are_the_same_after_recall(synopsis: Synopsis) -> None:
    stored = json.loads(json.dumps(synopsis.to_dict()))
    again = synopsis_from_dict(stored, UNIVERSE, synopsis.event)
    assert type(again) is type(synopsis)
    assert again.answers(PAIR).tobytes() == synopsis.answers(PAIR).tobytes()


def test_what_is_no_synopsis_is_refused() -> None:
    good = dict(HistogramSynopsis(UNIVERSE, COUNTS / 7, Nothing()).to_dict())
    tables = dict(MatrixMechanism(PAIR, dp.PureDP(epsilon=1)).release(COUNTS).to_dict())
    other = Universe.of(a=range(5))
    array = packed(COUNTS)
    bad: list[tuple[dict[str, object], Universe]] = [
        ({}, UNIVERSE),
        ({"synopsis": "oracle"}, UNIVERSE),
        ({"synopsis": "histogram"}, UNIVERSE),
        (good, other),
        (tables, other),
        ({"synopsis": "marginals", "residuals": [{"places": [0]}]}, UNIVERSE),
        ({"synopsis": "marginals"}, UNIVERSE),
        ({"synopsis": "partial tables", "tables": [7]}, UNIVERSE),
        ({"synopsis": "histogram", "counts": {**array, "zlib": "no"}}, UNIVERSE),
        ({"synopsis": "histogram", "counts": {**array, "kind": "<f4"}}, UNIVERSE),
        ({"synopsis": "histogram", "counts": {**array, "shape": [-24]}}, UNIVERSE),
        ({"synopsis": "histogram", "counts": {**array, "shape": [23]}}, UNIVERSE),
    ]
    for plain, universe in bad:
        with pytest.raises(InvalidParameter, match="synopsis_not_plain"):
            synopsis_from_dict(plain, universe, Nothing())
