"""Tumult Analytics naming keys that nobody listed, in local Spark; started by the suite ``keys``.

A request is as for ``peer_opendp_keys.py``. The rows are cached before the clock starts.
"""

from __future__ import annotations

from typing import Any

from peer_tumult_relational import frame
from peers import serve
from timing import clock

FOUND: list[int] = []


def answer(source: Any, request: dict[str, Any]) -> int:
    """Open a session, as a user would, and ask which keys there are."""
    from tmlt.analytics import (  # type: ignore[import-not-found,unused-ignore]
        AddOneRow,
        AddRowsWithID,
        ApproxDPBudget,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        QueryBuilder,
        Session,
    )

    groups = request["groups"]
    budget = ApproxDPBudget(request["epsilon"], request["delta"])
    change = AddRowsWithID("pid") if groups else AddOneRow()
    session = Session.from_dataframe(budget, "t", source, protected_change=change)
    query = QueryBuilder("t")
    if groups:
        query = query.enforce(MaxGroupsPerID("key", groups)).enforce(MaxRowsPerGroupPerID("key", 1))
    return int(session.evaluate(query.get_groups(["key"]), budget).count())


def seconds(request: dict[str, Any]) -> float:
    """Time one question, or say how many keys the last one named."""
    if request.get("want") == "found":
        return FOUND[-1]
    source = frame(request["path"])
    return clock(lambda: FOUND.append(answer(source, request)))()


if __name__ == "__main__":
    serve(seconds, "tmlt.analytics", "tmlt.core", "pyspark")
