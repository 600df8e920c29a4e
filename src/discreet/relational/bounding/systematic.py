"""At most so many of the rows that belong together, spread evenly along their content.

Of N rows in the order of their content, place p = 0, 1, ... is kept where (p * limit + u) div N
grows with p; u below N follows from a salted hash of whom the rows belong to. That is every
N/limit-th row from a random start: exactly min(N, limit) of them, each with the same chance, and
rows of equal content are in the sample in proportion, not kept or dropped as one.

Where the owner names a column that tells rows apart, the order is by a salted hash of it first, and
by content after it: which rows are kept then does not depend on the columns that a query reads.
That column need not tell them apart: rows with equal hashes stand side by side, and each has the
same chance as before.

How many rows of each content are kept is a function of the rows that belong together and of the
salt: rows of equal hash and content may change places, and are alike.

Source: contract, "Bounding inside the engine". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.relational.bounding.hashing import Content, Hashed, Shuffle
from discreet.relational.compile.dialect import ordered

_MOST = 1 << 30
"""Limits beyond it are held to it, so that products of places and limits fit 62 bits."""


def systematic_sample(
    inside: str,
    columns: Sequence[str],
    within: Sequence[Hashed],
    contents: Sequence[Content],
    *,
    limit: int,
    by: Shuffle,
    rows: Sequence[Content] = (),
) -> str:
    """The ``columns`` of at most ``limit`` rows of ``inside`` for each combination ``within``.

    ``rows`` tell them apart, where somebody says so; ``contents`` do whether or not it is true.
    """
    most, named = min(limit, _MOST), ", ".join(columns)
    together = ", ".join(part.text for part in within)
    first = [by.hash([within[0], *rows])] if rows else []
    order = ordered([*first, *(content.text for content in contents)]) or "1"
    place = f"row_number() OVER (PARTITION BY {together} ORDER BY {order}) - 1 AS p"
    size = f"COUNT(*) OVER (PARTITION BY {together}) AS n"
    placed = f"SELECT {named}, {by.number(within)} AS u, {place}, {size} FROM ({inside}) AS q"
    passed, before = (
        by.dialect.whole_quotient(f"({at} * {most} + u % n)", "n") for at in ("(p + 1)", "p")
    )
    kept = f"CASE WHEN n <= {most} THEN TRUE ELSE {passed} > {before} END"
    return f"SELECT {named} FROM ({placed}) AS q WHERE {kept}"
