"""The whole numbers of LIMIT, OFFSET and FETCH."""

from __future__ import annotations

from sqlglot import exp

from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.wording import shortened


def whole_number(node: exp.Expression | None, name: str) -> int | None:
    """The number of LIMIT n, OFFSET n, or FETCH FIRST n ROWS ONLY; without n, one row."""
    if node is None:
        return None
    value = node.expression
    if isinstance(node, exp.Fetch):
        value = node.args.get("count") or exp.Literal.number(1)
        _plain_fetch(node)
    elif any(part and key != "expression" for key, part in node.args.items()):
        value = None
    if isinstance(value, exp.Literal) and value.is_int:
        return int(value.name)
    raise unsupported(
        construct=f"{name} that is not a whole number", remedy="Write a number of rows."
    )


def _plain_fetch(node: exp.Fetch) -> None:
    options = node.args.get("limit_options")
    for key in ("percent", "with_ties"):
        if node.args.get(key) or (options is not None and options.args.get(key)):
            raise unsupported(
                construct=f"FETCH with {key.upper().replace('_', ' ')}",
                remedy="Write LIMIT n, or FETCH FIRST n ROWS ONLY.",
            )
    if options is not None:
        options.args.get("rows")  # ROW and ROWS, ONLY: they say nothing more
    if str(node.args.get("direction") or "FIRST").upper() not in ("FIRST", "NEXT"):
        raise unsupported(construct=shortened(node), remedy="Write FETCH FIRST n ROWS ONLY.")
