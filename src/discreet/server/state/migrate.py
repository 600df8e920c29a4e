"""Bringing the state up to this version's form: numbered steps, forward only, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from sqlalchemy import Connection, insert, inspect, select, text
from sqlalchemy.sql.functions import max as largest

from discreet.core.errors import InvalidParameter
from discreet.server.state.clock import now
from discreet.server.state.schema import versions

Migration = Callable[[Connection], None]

_STEPS = ("m0001_first",)


def steps() -> tuple[Migration, ...]:
    """All of them, oldest first; the first leads from nothing to form 1."""
    folder = "discreet.server.state.migrations"
    return tuple(import_module(f"{folder}.{name}").upgrade for name in _STEPS)


def form_of(connection: Connection) -> int:
    """The form that the state has; zero where there is none."""
    if not inspect(connection).has_table(versions.name):
        return 0
    return connection.scalar(select(largest(versions.c.number))) or 0


def migrate(connection: Connection, wanted: Sequence[Migration] | None = None) -> int:
    """Take the steps that are missing, while nobody else does; the form it then has."""
    every = steps() if wanted is None else wanted
    found = form_of(connection)
    if found > len(every):
        raise InvalidParameter(
            code="state_newer",
            expectation=f"a state of form {len(every)} or older, which this version knows",
            received=found,
            remedy="Install the version of discreet that wrote it, or a newer one. Forms only go "
            "forward; a back-up from before the upgrade opens with the older version.",
        )
    if found == 0:
        connection.execute(
            text("CREATE TABLE versions (number INTEGER PRIMARY KEY, applied_at BIGINT NOT NULL)")
        )
    for number, step in enumerate(every[found:], start=found + 1):
        step(connection)
        connection.execute(insert(versions).values(number=number, applied_at=now()))
    return len(every)
