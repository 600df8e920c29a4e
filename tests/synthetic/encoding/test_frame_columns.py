"""One table in four forms is the same table."""

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.core.errors import InvalidParameter
from discreet.synthetic.encoding.frame_columns import frame_columns

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

PLAIN = {
    "n": [1, None, 3],
    "x": [0.5, None, 2.0],
    "s": ["a", None, "c"],
    "d": [date(2024, 1, 1), None, date(2024, 1, 3)],
}


@pytest.mark.parametrize(
    "frame",
    [
        PLAIN,
        pl.DataFrame(PLAIN),
        pd.DataFrame(PLAIN),
        pd.DataFrame(PLAIN).convert_dtypes(),
        pa.table(PLAIN),
        {name: np.array(column, dtype=object) for name, column in PLAIN.items()},
    ],
    ids=["dict", "polars", "pandas", "nullable", "arrow", "numpy"],
)
def test_every_form_gives_the_same_columns(frame: Any) -> None:
    assert frame_columns(frame, list(PLAIN)) == PLAIN


def test_an_unknown_column_is_refused_and_what_is_no_table() -> None:
    with pytest.raises(InvalidParameter, match="column_unknown"):
        frame_columns(pl.DataFrame(PLAIN), ["height"])
    with pytest.raises(InvalidParameter, match="not_a_table"):
        frame_columns([1, 2], ["n"])
    with pytest.raises(InvalidParameter, match="columns_differ"):
        frame_columns({"a": [1], "b": [1, 2]}, ["a", "b"])
