"""From the fields of a project file to units, columns and budgets.

Nothing here has a default: a bound, a unit or a price that is not written is refused (004d:D11).
"""

from __future__ import annotations

from typing import Any

from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.unit import Person, PrivacyUnit, Replace, Row
from discreet.curator.project.fields import DAY, LIST, NUMBER, TABLE, TEXT, TRUTH, WHOLE, Fields
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Declaration,
    Discovered,
    Integer,
    Number,
    Text,
)


def unit(table: Fields) -> PrivacyUnit:
    """Whose privacy: ``kind`` is row or person; ``relation = "replace"`` makes n public."""
    fields = table.part("unit")
    made: Row | Person = Row()
    if fields.choice("kind", ("person", "row")) == "person":
        with table.at("unit"):
            made = Person(
                fields.take("id", TEXT),
                max_rows=fields.take("max_rows", WHOLE),
                max_groups=fields.maybe("max_groups", WHOLE),
                max_rows_per_group=fields.maybe("max_rows_per_group", WHOLE),
                via=fields.maybe("via", TEXT),
                of=fields.maybe("of", TEXT),
                row=fields.maybe("row", TEXT),
            )
    replaced = fields.maybe("relation", TEXT) is not None and (
        fields.choice("relation", ("add/remove", "replace")) == "replace"
    )
    fields.finish()
    return Replace(made) if replaced else made


def unit_without_tables(project: Fields) -> PrivacyUnit | None:
    """``[unit]`` of a project for streams alone; how many events count, each stream says."""
    if project.maybe("unit", TABLE) is None:
        return None
    fields = project.part("unit")
    made: Row | Person = Row()
    if fields.choice("kind", ("person", "row")) == "person":
        with project.at("unit"):
            made = Person(fields.take("id", TEXT), of=fields.maybe("of", TEXT))
    fields.finish()
    return made


def columns(table: Fields) -> dict[str, Declaration]:
    """The declared columns, by name."""
    made = {}
    for name, fields in table.parts("columns"):
        with _inside(fields):
            made[name] = _KINDS[fields.choice("kind", tuple(_KINDS))](fields)
        fields.finish()
    return made


def budget(project: Fields) -> Guarantee:
    """What may be spent in all, in its own privacy definition."""
    fields = project.part("budget")
    kind = fields.choice("kind", ("approx", "pure", "zcdp", "approx_zcdp", "renyi"))
    made: Guarantee
    with project.at("budget"):
        if kind == "pure":
            made = PureDP(epsilon=fields.take("epsilon", NUMBER))
        elif kind == "zcdp":
            made = ZCDP(rho=fields.take("rho", NUMBER))
        elif kind == "approx_zcdp":
            rho = fields.take("rho", NUMBER)
            made = ApproxZCDP(rho=rho, delta=fields.take("delta", NUMBER))
        elif kind == "renyi":
            alpha = fields.take("alpha", NUMBER)
            made = RenyiDP(alpha=alpha, epsilon=fields.take("epsilon", NUMBER))
        else:
            epsilon, delta = fields.take("epsilon", NUMBER), fields.take("delta", NUMBER)
            by = fields.maybe("by", TEXT) and fields.choice("by", tuple(_CONVERTED))
            made = ApproxDP(epsilon=epsilon, delta=delta, by=_CONVERTED[by] if by else None)
    fields.finish()
    return made


def _inside(fields: Fields) -> Any:
    """Refusals get the name of the column."""
    return Fields({}, fields.place[:-1], fields.text).at(fields.place[-1])


def _number(fields: Fields) -> Declaration:
    low, high = fields.take("low", NUMBER), fields.take("high", NUMBER)
    return Number(low, high, step=fields.maybe("step", NUMBER))


def _integer(fields: Fields) -> Declaration:
    return Integer(fields.take("low", WHOLE), fields.take("high", WHOLE))


def _boolean(_: Fields) -> Declaration:
    return Boolean()


def derived(table: Fields) -> dict[str, str]:
    """``[tables.NAME.derived]``: expressions in SQL, by the names of the columns they make."""
    if table.maybe("derived", TABLE) is None:
        return {}
    inside = table.part("derived")
    return {name: inside.take(name, TEXT) for name in inside.values}


def _category(fields: Fields) -> Declaration:
    values = fields.take("values", LIST)
    # TOML has no word for NULL, so that a field of its own makes NULL a key.
    null = [None] if fields.maybe("null", TRUTH) else []
    return Category([*values, *null])


def _dates(fields: Fields) -> Declaration:
    return Dates(fields.take("first", DAY), fields.take("last", DAY))


def _discovered(fields: Fields) -> Declaration:
    return Discovered(min_people=fields.maybe("min_people", WHOLE) or 1)


def _text(fields: Fields) -> Declaration:
    most, elements = fields.maybe("max_elements", WHOLE), None
    if fields.maybe("elements", TABLE) is not None:
        inside = fields.part("elements")
        with fields.at("elements"):
            elements = _KINDS[inside.choice("kind", tuple(_KINDS))](inside)
        inside.finish()
    return Text(most, elements)  # type: ignore[arg-type]  # refused there, by name


_CONVERTED: dict[str, type[Guarantee]] = {"zcdp": ZCDP, "approx_zcdp": ApproxZCDP}
_KINDS = {
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "category": _category,
    "dates": _dates,
    "discovered": _discovered,
    "text": _text,
}
