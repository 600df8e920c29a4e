"""The schema that everybody may know: from declarations, and from public tables."""

from __future__ import annotations

from typing import Any

from discreet.relational.plan.nodes import Field
from discreet.relational.schema.declarations import Category, Dates, Discovered, Integer, Number
from discreet.relational.schema.table import Table
from discreet.release.guarantee import guarantee_to_dict, protection_text
from discreet.server.jobs.json_values import plain_value
from discreet.server.spends import spend_to_dict
from discreet.server.workers.owner_tasks.task import OwnerTaskCall


def opened(call: OwnerTaskCall) -> dict[str, Any]:
    """Open the tables and the ledger: everything that can be wrong with them is found now."""
    context = call.curator.context
    found = []
    for name in context.database.names():
        entry = context.database.find(name)
        assert entry is not None
        private = isinstance(entry.table, Table)
        told: dict[str, Any] = {
            "name": entry.name,
            "private": private,
            "columns": [_column(each) for each in entry.fields.values()],
        }
        if isinstance(entry.table, Table):
            told["protects"] = protection_text(entry.table.unit)
        found.append(told)
    return {
        "tables": found,
        "protects": protection_text(context.unit),
        "budget": spend_to_dict(context.budget.total),
        "guarantee": guarantee_to_dict(context.budget.total.per(context.unit)),
        "adds_up": context.budget.name,
    }


def _column(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": field.domain.kind.value,
        "declared": field.declaration is not None or field.domain.declared,
        **_declared(field),
    }


def _declared(field: Field) -> dict[str, Any]:
    """What is public about its values."""
    match field.declaration:
        case Category(values=values):
            return {"values": [plain_value(each) for each in values]}
        case Number(low=low, high=high) | Integer(low=low, high=high):
            return {"low": low, "high": high}
        case Dates(first=first, last=last):
            return {"low": plain_value(first), "high": plain_value(last)}
        case Discovered(min_people=people):
            return {"discovered": people}
        case _:
            return {}
