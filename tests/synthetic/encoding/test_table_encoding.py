"""Tables as universes: constraints hold in every row, and are decided on declarations alone."""

import json

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.constraints import Between, Constraint, Determined, Impossible
from discreet.synthetic.encoding.encoded_column import OUTSIDE
from discreet.synthetic.encoding.identifier_column import IdentifierColumn
from discreet.synthetic.encoding.number_column import NumberColumn, PrivateBins
from discreet.synthetic.encoding.table_encoding import TableEncoding

SEX = CategoryColumn(["f", "m"], missing=False)
PREGNANT = CategoryColumn([False, True])
AGE = NumberColumn.between(0, 99, bins=5, whole=True)
NEVER = Impossible({"sex": ["m"], "pregnant": [True]})
YOUNG = Impossible({"age": Between(high=12), "pregnant": [True]})
LAND = Determined("land", by="city", values={"Bonn": "DE", "Nice": "FR"})


def encoding(*constraints: Constraint) -> TableEncoding:
    return TableEncoding(
        {
            "id": IdentifierColumn(),
            "sex": SEX,
            "age": AGE,
            "pregnant": PREGNANT,
            "land": CategoryColumn(["DE", "FR"]),
            "city": CategoryColumn(["Bonn", "Nice"]),
        },
        constraints,
    )


def every_cell(made: TableEncoding) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    grid = np.indices(made.universe.shape)
    return np.stack([axis.ravel() for axis in grid], axis=1).astype(np.int64)


def test_no_cell_has_an_impossible_combination_whatever_is_drawn_from_it() -> None:
    made = encoding(NEVER, YOUNG, LAND)
    rows = made.decode(np.repeat(every_cell(made), 5, axis=0), SYSTEM)
    for sex, age, pregnant in zip(rows["sex"], rows["age"], rows["pregnant"], strict=True):
        assert not (sex == "m" and pregnant)
        assert not (age is not None and age < 12 and pregnant)
    assert set(zip(rows["city"], rows["land"], strict=True)) == {
        ("Bonn", "DE"),
        ("Nice", "FR"),
        (None, None),
    }


def test_constraints_cost_exactly_the_cells_they_exclude() -> None:
    free, tied = encoding(), encoding(NEVER)
    assert free.universe.shape == (2, 6, 3, 3, 3)
    assert tied.universe.names == ("sex+pregnant", "age", "land", "city")
    assert tied.universe.shape == (5, 6, 3, 3)


def test_edges_of_a_constraint_are_edges_of_bins() -> None:
    column = encoding(YOUNG).columns["age"]
    assert isinstance(column, NumberColumn)
    assert column.edges == (0, 12, 20, 40, 60, 80, 100)


def test_rows_that_break_a_constraint_are_left_out_or_follow_it() -> None:
    made = encoding(NEVER, LAND)
    table: dict[str, list[object]] = {
        "sex": ["m", "f"],
        "age": [30, 30],
        "pregnant": [True, True],
        "land": ["FR", "FR"],
        "city": ["Bonn", "Bonn"],
    }
    codes = made.encode(table)
    assert codes[0, 0] == OUTSIDE
    assert (codes[1] >= 0).all()
    assert made.decode(codes[1:], SYSTEM)["land"] == ["DE"]


def test_an_encoding_is_the_same_after_it_was_stored() -> None:
    made = encoding(NEVER, YOUNG, LAND)
    again = TableEncoding.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again.universe == made.universe
    assert again.to_dict() == made.to_dict()
    cells = every_cell(made)[:, :1]
    assert (again.attributes[0].cells == made.attributes[0].cells).all()
    assert len(cells)


def test_chains_of_dependencies_follow_from_their_beginning() -> None:
    made = TableEncoding(
        {name: CategoryColumn(["x", "y"]) for name in "abc"},
        (
            Determined("c", by="b", values={"x": "y", "y": "x"}),
            Determined("b", by="a", values={"x": "y", "y": "x"}),
        ),
    )
    assert made.universe.names == ("a",)
    rows = made.decode(np.array([[0], [1], [2]]), SYSTEM)
    assert rows == {"a": ["x", "y", None], "b": ["y", "x", None], "c": ["x", "y", None]}
    assert made.needed(["c"]) == (0,)


@pytest.mark.parametrize(
    ("constraints", "code"),
    [
        ([Impossible({"sex": ["f", "m"]})], "constraints_infeasible"),
        ([Impossible({"sex": ["x"]})], "constraint_value"),
        ([Impossible({"sex": Between(0, 1)})], "constraint_value"),
        ([Impossible({"height": [1]})], "attribute_unknown"),
        ([Impossible({"id": [1]})], "attribute_unknown"),
        ([Determined("land", by="city", values={"Bonn": "DE"})], "dependency_incomplete"),
        (
            [Determined("land", by="city", values={"Bonn": "DE", "Nice": "IT"})],
            "constraint_value",
        ),
        ([LAND, LAND], "constraint_unclear"),
        ([LAND, Impossible({"land": ["DE"], "sex": ["m"]})], "constraint_unclear"),
        (
            [LAND, Determined("city", by="land", values={"DE": "Bonn", "FR": "Nice"})],
            "constraint_unclear",
        ),
    ],
)
def test_constraints_that_cannot_be_kept_are_refused(
    constraints: list[Constraint], code: str
) -> None:
    with pytest.raises(InvalidParameter, match=code):
        encoding(*constraints)


def test_ties_that_are_too_large_are_refused_with_their_columns_and_size() -> None:
    wide = NumberColumn.between(0, 1, bins=400)
    with pytest.raises(InvalidParameter, match=r"constraint_too_large.*a x b: 160801"):
        TableEncoding({"a": wide, "b": wide}, (Impossible({"a": [None], "b": [None]}),))


def test_one_valued_columns_and_tables_without_columns_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"column_one_valued.*'only'"):
        TableEncoding({"only": CategoryColumn(["A"], missing=False), "sex": SEX})
    with pytest.raises(InvalidParameter, match="attribute_names"):
        TableEncoding({"id": IdentifierColumn()})


def test_private_bins_and_constraints_do_not_mix() -> None:
    age = NumberColumn.between(0, 99, bins=PrivateBins(5, of=20))
    with pytest.raises(InvalidParameter, match=r"constraint_unclear.*'age'"):
        TableEncoding({"age": age, "sex": SEX}, (Impossible({"age": [None], "sex": ["m"]}),))


@pytest.mark.parametrize("where", [{}, {"sex": "m"}, {"sex": 3}])
def test_unclear_conditions_are_refused(where: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match="constraint_unclear"):
        Impossible(where)  # type: ignore[arg-type]


@pytest.mark.parametrize("ends", [(None, None), (2, 1), (1, 1)])
def test_crossed_ends_are_refused(ends: tuple[float | None, float | None]) -> None:
    with pytest.raises(InvalidParameter, match="bounds_crossed"):
        Between(*ends)
