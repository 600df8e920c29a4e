"""How sampled rows print: columns below their names, what is missing, and no made-up digits."""

from datetime import date

import numpy as np
import pytest

import discreet as dp
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.full_histogram import FullHistogram
from discreet.synthetic.independent_marginals import IndependentMarginals
from discreet.synthetic.stored_form import synthetic_from_json
from discreet.synthetic.synthesizer import Synthesizer
from discreet.synthetic.synthetic_table import SyntheticTable


def test_columns_stand_below_their_names_and_missing_values_are_seen() -> None:
    table = SyntheticTable(
        {
            "Home Town": ["Bonn", None],
            "cost": [576.3389705834475, None],
            "age": [7, 81],
            "ill": [None, True],
            "day": [date(2024, 1, 2), None],
        },
        {"cost": 1},
    )
    assert str(table).splitlines() == [
        "2 synthetic rows",
        "Home Town   cost  age  ill   day",
        "Bonn       576.3    7  NULL  2024-01-02",
        "NULL        NULL   81  True  NULL",
    ]


def test_long_tables_and_texts_are_cut_and_say_so() -> None:
    table = SyntheticTable({"note": ["a" * 100] * 11})
    lines = str(table).splitlines()
    assert lines[0] == "11 synthetic rows"
    assert lines[2] == "a" * 39 + "…"
    assert lines[-1] == "…"
    assert str(SyntheticTable({"note": []})).splitlines() == ["0 synthetic rows", "note"]


def test_decimals_are_those_of_the_bins() -> None:
    made = Synthesizer(
        columns={"cost": dp.Number(0, 5000), "share": dp.Number(0, 1), "age": dp.Integer(0, 99)},
        unit=dp.Row(),
        spend=dp.PureDP(epsilon=5),
        mechanism=IndependentMarginals,
        never_missing=["cost", "share", "age"],
    )
    rows = np.linspace(0, 1, 300)
    sampled = made.fit({"cost": 5000 * rows, "share": rows, "age": 99 * rows}).sample(1)
    cost, share, age = str(sampled).splitlines()[2].split()
    assert cost.isdigit()
    assert age.isdigit()
    assert len(share.partition(".")[2]) == 4
    assert sampled["cost"][0] != round(sampled["cost"][0])  # rounded on paper alone


@pytest.mark.parametrize("mechanism", [IndependentMarginals, FullHistogram])
def test_noise_is_that_of_the_mechanism_and_is_kept(mechanism: type) -> None:
    maker = Synthesizer(
        columns={"a": dp.Category(list(range(50))), "b": dp.Category(list(range(9)))},
        unit=dp.Row(),
        spend=dp.PureDP(epsilon=1),
        mechanism=mechanism,
    )
    release = maker.fit({"a": [1, 2] * 50, "b": [3, 4] * 50}).release_
    assert release is not None
    noise = release.noise
    assert isinstance(noise, CountNoise)
    whole = mechanism is FullHistogram
    assert noise.cells == ({"all columns together": 510} if whole else {"a": 51, "b": 10})
    assert noise.deviation == pytest.approx(2**0.5 * (1 if whole else 2), rel=0.05)
    assert noise.estimate_moved_share(noise.finest, noise.rows_needed) == pytest.approx(
        0.2, rel=0.05
    )
    assert release.warnings
    assert synthetic_from_json(release.to_json()).warnings == release.warnings
