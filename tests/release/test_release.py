"""A release gives its numbers by name, row and cell, and refuses what it does not hold."""

from __future__ import annotations

import copy
import math
import pickle
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.release import (
    Ends,
    Estimate,
    GivenValues,
    HalfWidth,
    LinearFormula,
    NoisyMeasure,
    Ratio,
    Release,
    ReleasedColumn,
)
from tests.release.examples import (
    COUNTS,
    POSITIVE,
    SUMS,
    count_column,
    counts,
    made,
    quantile_column,
    wards,
)


def code_of(caught: pytest.ExceptionInfo[InvalidParameter]) -> str:
    return caught.value.code


def test_columns_are_keys_then_answers_with_their_ends() -> None:
    assert wards().columns == (
        *("ward", "n", "n_lower", "n_upper", "age", "age_lower", "age_upper", "median"),
    )


def test_rows_are_dictionaries_of_all_columns() -> None:
    rows = list(wards())
    assert len(rows) == len(wards()) == 3
    assert list(rows[0]) == list(wards().columns)
    assert rows[0]["n"] == 123
    assert (rows[2]["ward"], rows[2]["n_lower"], rows[2]["n_upper"]) == (None, 0, 10)
    assert rows[1]["median"] is None


def test_an_answer_is_found_by_its_name() -> None:
    assert wards()["n"].values == (123, 77, 4)
    assert "n" in wards()
    assert "ward" not in wards()
    with pytest.raises(InvalidParameter) as caught:
        wards()["m"]
    assert code_of(caught) == "column_unknown"


def test_a_cell_is_an_estimate_or_a_ratio() -> None:
    n, age = wards().cell("n", ward="A"), wards().cell("age", ward="A")
    assert isinstance(n, Estimate)
    assert isinstance(age, Ratio)
    assert n.interval() == (117, 129)
    assert age.interval() == (wards()["age"].lower[0], wards()["age"].upper[0])  # type: ignore[index]
    assert wards().cell("n", ward=None).value == 4


def test_cells_of_one_release_share_their_noise() -> None:
    release = wards()
    n, age = release.cell("n", ward="A"), release.cell("age", ward="A")
    assert isinstance(n, Estimate)
    assert isinstance(age, Ratio)
    assert (age.denominator - n).half_width() == 0


@pytest.mark.parametrize(
    ("code", "name", "keys"),
    [
        ("column_unknown", "m", {"ward": "A"}),
        ("keys_unclear", "n", {}),
        ("keys_unclear", "n", {"ward": "A", "sex": "f"}),
        ("keys_unclear", "n", {"site": "A"}),
        ("cell_unknown", "n", {"ward": "Z"}),
        ("no_estimate", "median", {"ward": "A"}),
    ],
)
def test_unclear_cells_are_refused(code: str, name: str, keys: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        wards().cell(name, **keys)
    assert code_of(caught) == code


def test_a_single_number_is_one() -> None:
    release = made([count_column(counts((42,)))])
    assert (release.value, int(release), float(release)) == (42, 42, 42.0)
    assert isinstance(release.cell("n"), Estimate)


def test_several_numbers_are_not_one() -> None:
    for release in (wards(), wards().take([0])):
        with pytest.raises(InvalidParameter) as caught:
            float(release)
        assert code_of(caught) == "not_one_number"
    nothing = made([ReleasedColumn.from_given_values("q", (None,), interval=None, note="")])
    with pytest.raises(InvalidParameter) as caught:
        int(nothing)
    assert code_of(caught) == "no_number"


def test_no_row_at_all_is_a_release_too() -> None:
    empty = made([count_column(counts(()))], {"ward": ()})
    assert len(empty) == 0
    assert list(empty) == []
    assert Release.from_json(empty.to_json()) == empty


def test_rows_are_taken_with_their_noise() -> None:
    release = wards()
    some = release.take([2, 0])
    assert some.keys == {"ward": (None, "A")}
    assert some["n"].values == (4, 123)
    assert some["median"].values == (40, 41)
    assert some["age"].lower == tuple(release["age"].lower[row] for row in (2, 0))  # type: ignore[index]
    for ward in ("A", None):
        assert some.cell("n", ward=ward) == release.cell("n", ward=ward)
        assert some.cell("age", ward=ward) == release.cell("age", ward=ward)
    assert some.take([1]).cell("n", ward="A") == release.cell("n", ward="A")
    for rows in ([3], [0, 0], [-1]):
        with pytest.raises(InvalidParameter, match="rows_unknown"):
            release.take(rows)


def test_a_total_beside_every_row_is_one_draw() -> None:
    n = counts((60, 40))
    total = NoisyMeasure("r1", "total", COUNTS, (102, 102), (0, 0))
    share = ReleasedColumn.quotient(
        "share",
        LinearFormula(((1, n),)),
        LinearFormula(((1, total),), within=POSITIVE),
        confidence=0.95,
    )
    release = made([share], {"ward": ("A", "B")})
    a, b = release.cell("share", ward="A"), release.cell("share", ward="B")
    assert isinstance(a, Ratio)
    assert isinstance(b, Ratio)
    assert a.denominator == b.denominator
    assert isinstance(a - b, Ratio)


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("rows_differ", {"keys": {"ward": ("A", "B")}}),
        ("rows_without_keys", {"keys": {}}),
        ("key_kind", {"keys": {"ward": ("A", "B", 3)}}),
        ("key_kind", {"keys": {"ward": (1.0, math.nan, 2.0)}}),
        ("key_kind", {"keys": {"ward": (b"a", b"b", b"c")}}),
        ("key_kind", {"keys": {"ward": (np.str_("a"), "b", "c")}}),
        (
            "key_kind",
            {"keys": {"t": (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), None)}},
        ),
        ("columns_not_distinct", {"keys": {"n_lower": ("A", "B", "C")}}),
        ("columns_not_distinct", {"answers": (), "keys": {}}),
        ("columns_not_distinct", {"keys": {"": ("A", "B", "C")}}),
        ("guarantee_without_unit", {"guarantee": dp.PureDP(epsilon=1)}),
        ("not_a_probability", {"confidence": 95}),
        ("not_an_event", {"event": "Laplace"}),
        ("statement_not_plain", {"statement": {"day": date(2024, 1, 1)}}),
        ("statement_not_plain", {"statement": {"scale": math.inf}}),
    ],
)
def test_parts_that_do_not_fit_are_refused(code: str, parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        wards(**parts)
    assert code_of(caught) == code


def test_one_name_means_one_measure() -> None:
    with pytest.raises(InvalidParameter, match="measures_not_distinct"):
        made(
            [
                count_column(counts((1, 2))),
                ReleasedColumn.linear("m", [(2, counts((3, 4)))], confidence=0.95),
            ],
            {"ward": ("A", "B")},
        )
    n = counts((1, 2))
    with pytest.raises(InvalidParameter, match="measures_not_distinct"):
        LinearFormula(((1, n), (2, n)))
    with pytest.raises(InvalidParameter, match="measures_not_distinct"):
        LinearFormula(())


def test_intervals_belong_to_their_formulas() -> None:
    with pytest.raises(InvalidParameter, match="interval_without_formula"):
        ReleasedColumn(name="q", formula=GivenValues((1, 2)), interval=HalfWidth(3), note="")
    with pytest.raises(InvalidParameter, match="rows_differ"):
        ReleasedColumn.from_given_values("q", (1, 2), interval=Ends((0,), (3,)), note="")
    for lower, upper in (((2,), (1,)), ((math.nan,), (1,)), ((math.inf,), (math.inf,))):
        with pytest.raises(InvalidParameter, match="bounds_crossed"):
            Ends(lower, upper)


def test_only_finite_numbers_of_one_kind_are_released() -> None:
    for values in (("1",), (True,), (math.nan,), (math.inf,), (None,)):
        with pytest.raises(InvalidParameter, match="not_released_numbers"):
            NoisyMeasure("r1", "n", COUNTS, values)  # type: ignore[arg-type]
    assert NoisyMeasure("r1", "n", COUNTS, np.arange(3)).values == (0, 1, 2)  # type: ignore[arg-type]
    assert NoisyMeasure("r1", "n", SUMS, (1, 2.5)).values == (1.0, 2.5)
    assert GivenValues(np.array([1.5, 2.0])).values == (1.5, 2.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="rows_differ"):
        NoisyMeasure("r1", "n", COUNTS, (1, 2), (0,))


def test_a_mean_without_a_divisor_has_no_value_but_a_range() -> None:
    n, s = counts((0, -3, 50)), NoisyMeasure("r1", "s", SUMS, (10.0, 10.0, 10.0))
    answer = ReleasedColumn.quotient(
        "mean",
        LinearFormula(((1, s),)),
        LinearFormula(((1, n),), within=POSITIVE),
        within=(-5.0, 5.0),
        confidence=0.95,
    )
    assert answer.values == (None, None, 0.2)
    assert answer.lower is not None
    assert answer.lower[:2] == (-5, -5)


def test_what_is_passed_in_is_copied() -> None:
    keys: dict[str, Any] = {"ward": ["A", "B", None]}
    statement: dict[str, Any] = {"bounds": (0, 120)}
    release = wards(keys=keys, statement=statement)
    keys["ward"][0] = "Z"
    statement["bounds"] = None
    assert release.keys["ward"][0] == "A"
    assert release.statement == {"bounds": [0, 120]}


def test_it_is_a_value() -> None:
    assert wards() == wards()
    assert hash(wards()) == hash(wards())
    assert wards() != wards(id="r3")
    assert pickle.loads(pickle.dumps(wards())) == wards()
    assert copy.deepcopy(wards()) == wards()
    with pytest.raises(AttributeError):
        wards().id = "other"  # type: ignore[misc]


def test_notes_say_what_intervals_cover() -> None:
    assert wards()["age"].note == (
        "Laplace noise of scale 100 and discrete Laplace noise of scale 2;"
        " 95 % intervals cover noise"
    )
    assert quantile_column((1,)).estimates is None
    assert quantile_column((1,)).lower is None
