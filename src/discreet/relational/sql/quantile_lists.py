"""Several quantiles in one call: a list of levels, or the borders of so many equal parts.

``QUANTILE(x, [0.25, 0.5, 0.75]) AS q`` becomes the columns ``q_0.25``, ``q_0.5`` and ``q_0.75``.
Levels of one column are chosen together, at one price. ``APPROX_QUANTILES(x, 4)`` and ``QUANTILES``
ask for the levels 0, 1/4, 2/4, 3/4 and 1, as in BigQuery; ``[OFFSET(2)]`` after either takes one.

Source: contract, "Columns" (quantiles use ranks). Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from discreet.relational.sql.parsed import number
from discreet.relational.sql.reading import copied
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.tree import has

_MOST = 100
"""Levels of one list."""
_PLACES = {"OFFSET": 0, "SAFE_OFFSET": 0, "ORDINAL": 1, "SAFE_ORDINAL": 1}


def lists_written_out(select: exp.Select) -> exp.Select:
    """The query with a column for each level of each list, and one level for each place in one."""
    if not has(select, exp.Array, exp.ApproxQuantiles, exp.Bracket, exp.Anonymous):
        return select
    made: Any = copied(select)
    for clause in ("expressions", "having", "order"):
        for node in _nodes(made, clause):
            for place in list(node.find_all(exp.Bracket)):
                found = _levels(place.this)
                if found is not None:
                    place.replace(_at(place.this, found[_place(place, len(found))]))
    items: list[Any] = []
    for item in made.expressions:
        inside = item.this if isinstance(item, exp.Alias) else item
        levels = _levels(inside)
        if levels is None:
            items.append(item)
            continue
        name = item.alias if isinstance(item, exp.Alias) else "quantile"
        items += [
            exp.alias_(_at(inside, level), f"{name}_{level}", quoted=True) for level in levels
        ]
    made.set("expressions", items)
    return made  # type: ignore[no-any-return]


def _nodes(select: exp.Select, clause: str) -> list[exp.Expression]:
    found = select.args.get(clause)
    return list(found) if isinstance(found, list) else [] if found is None else [found]


def _levels(node: exp.Expression) -> list[str] | None:
    """The levels of a list, as they are written; None where it is no list."""
    call = node.this if isinstance(node, exp.Filter) else node
    parts = _parts(call)
    if parts is not None:
        return [_format_level(place / parts) for place in range(parts + 1)]
    listed = _list(call)
    if listed is None:
        return None
    given = listed.expressions
    plain = all(isinstance(level, exp.Literal) and not level.is_string for level in given)
    if not given or not plain or len(given) > _MOST:
        raise unsupported(
            construct="a list of levels that are not constants, or of very many",
            remedy=f"Write QUANTILE(x, [0.25, 0.5, 0.75]), with at most {_MOST} levels.",
        )
    return list(dict.fromkeys(_format_level(float(number(level.name))) for level in given))


def _list(call: exp.Expression) -> exp.Array | None:
    """Where the levels stand: beside the column, or before WITHIN GROUP."""
    inside = call.this if isinstance(call, exp.WithinGroup) else call
    if not isinstance(inside, exp.AggFunc):
        return None
    given = (inside.args.get(key) for key in ("quantile", "expression", "this"))
    named = inside.expressions if isinstance(inside, exp.AnonymousAggFunc) else []
    return next((part for part in (*given, *named) if isinstance(part, exp.Array)), None)


def _parts(call: exp.Expression) -> int | None:
    """Into how many parts APPROX_QUANTILES or QUANTILES divides; None for other calls."""
    if isinstance(call, exp.ApproxQuantiles):
        size = call.args.get("expression")
    elif isinstance(call, exp.Anonymous) and call.name.upper() == "QUANTILES":
        size = call.expressions[1] if len(call.expressions) == 2 else None
    else:
        return None
    if isinstance(size, exp.Literal) and size.is_int and 1 <= int(size.name) < _MOST:
        return int(size.name)
    raise unsupported(
        construct="quantiles without a number of parts",
        remedy=f"Write APPROX_QUANTILES(x, 4), of at most {_MOST - 1} parts.",
    )


def _at(node: exp.Expression, level: str) -> exp.Expression:
    """The call for one level."""
    made = copied(node)
    call = made.this if isinstance(made, exp.Filter) else made
    if _parts(call) is not None:
        value = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
        one = exp.Quantile(this=value.copy(), quantile=exp.Literal.number(level))
        if call is made:
            return one
        call.replace(one)
        return made
    listed = _list(call)
    assert listed is not None
    listed.replace(exp.Literal.number(level))
    return made


def _place(node: exp.Bracket, size: int) -> int:
    """Which member of a list is meant, counted from zero."""
    (index, *more) = node.expressions
    named = index.name.upper() if isinstance(index, exp.Anonymous) else ""
    given = index.expressions[0] if named in _PLACES and len(index.expressions) == 1 else None
    if isinstance(given, exp.Literal) and given.is_int and not more:
        place = int(given.name) - _PLACES[named]
        if 0 <= place < size:
            return place
    raise unsupported(
        construct="a place in a list of quantiles",
        remedy=f"Write [OFFSET(0)] to [OFFSET({size - 1})], or ask for the level itself: "
        "QUANTILE(x, 0.5).",
    )


def _format_level(level: float) -> str:
    return repr(level).removesuffix(".0") if 0 < level < 1 else f"{level:g}"
