"""OpenDP naming keys that nobody listed; started by the suite ``keys``.

A request has a ``path``, ``groups`` per person (0 where each row is a person), ``epsilon`` and
``delta``. It answers with the seconds; asked for ``found``, with how many keys it named last.
People are bounded to their groups beforehand, off the clock, and OpenDP is told so: its own
truncation to groups of one text column fails in this version.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import opendp.prelude as dp  # type: ignore[import-not-found,unused-ignore]
import polars  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

pl: Any = polars  # OpenDP adds to its expressions what type checkers do not see
FOUND: list[int] = []


@lru_cache(maxsize=2)
def frame(path: str) -> Any:
    """The table in memory, read off the clock."""
    return pl.read_parquet(path)


def answer(source: Any, request: dict[str, Any]) -> Any:
    """Open a context, as a user would, and count every key that may be named."""
    most = max(request["groups"], 1)
    rows = source.height
    bounds = [dp.polars.Bound(per_group=most)]
    if most > 1:
        bounds.append(dp.polars.Bound(by=["key"], num_groups=most, per_group=1))
    context = dp.Context.compositor(
        data=source.lazy(),
        privacy_unit=dp.unit_of(contributions=bounds),
        privacy_loss=dp.loss_of(epsilon=request["epsilon"], delta=request["delta"]),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["key"], max_length=rows, max_groups=rows)],
    )
    return context.query().group_by("key").agg(pl.len().dp.noise().alias("n")).release().collect()


def seconds(request: dict[str, Any]) -> float:
    """Time one question, or say how many keys the last one named."""
    if request.get("want") == "found":
        return FOUND[-1]
    source = frame(request["path"])
    return clock(lambda: FOUND.append(answer(source, request).height))()


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve(seconds, "opendp", "polars")
