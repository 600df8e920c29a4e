"""Hashed reports counted inside an engine that speaks SQL, value by value: Spark and others.

Reports are already private, and hold nothing else, so that rules for private rows do not apply.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.errors import InvalidData
from discreet.core.parameters import count
from discreet.local.hashing import LocalHashing
from discreet.local.tally import Tally


def support_sql(oracle: LocalHashing, *, table: str, candidates: str) -> str:
    """The statement that counts, inside an engine, the reports that support each candidate.

    ``table`` holds reports with columns a, b and cell; ``candidates`` one column ``value`` of
    numbers. Reports with impossible seeds are left out. Takes as many steps as reports times
    candidates; where the domain is small ``aggregate_files`` is faster.
    """
    prime, cells = oracle.prime, oracle.cells
    own = (
        f"(CAST(r.a AS BIGINT) * CAST(c.value AS BIGINT) + CAST(r.b AS BIGINT)) % {prime} % {cells}"
    )
    sound = f"r.a BETWEEN 0 AND {prime - 1} AND r.b BETWEEN 0 AND {prime - 1}"
    return (
        f"SELECT c.value AS value, SUM(CASE WHEN {own} = r.cell THEN 1 ELSE 0 END) AS supports, "
        f"COUNT(*) AS people FROM {table} r CROSS JOIN {candidates} c "
        f"WHERE {sound} AND r.cell BETWEEN 0 AND {cells - 1} GROUP BY c.value ORDER BY c.value"
    )


def tally_of_supports(oracle: LocalHashing, rows: Any) -> Tally:
    """The tally of what :func:`support_sql` returned: value, supports and people in each row."""
    listed = [(int(value), int(supports), int(people)) for value, supports, people in rows]
    people = {each[2] for each in listed}
    if len(people) != 1:
        raise InvalidData(
            code="local_supports_misfit",
            expectation="supports of several candidates among the same reports",
            remedy="Run the statement of support_sql on one snapshot of the reports.",
        )
    wanted = oracle.choices.numbers([each[0] for each in listed])
    table = np.array([each[1] for each in listed], dtype=np.int64)
    return Tally(oracle.digest, count("people", people.pop(), least=0), table, wanted)
