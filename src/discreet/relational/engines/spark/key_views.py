"""Public keys as temporary views of Spark, under names that nobody else has.

In Spark a temporary view hides the table of the same name in the current schema. So names of ours
are random, and tables of the catalogue are written in full.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from discreet.noise.randomness import random_id
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.key_tables import Entries, Kinds, at_least_one
from discreet.relational.engines.spark.session import Session, quiet


def unmistakable(word: str) -> str:
    """A name with 128 random bits in it."""
    return f"discreet_{word}_{random_id()}"


@dataclass(frozen=True)
class TemporaryViews:
    """Makes and drops them in a session of ours."""

    session: Session
    dialect: Dialect

    def make(self, entries: Entries, kinds: Kinds) -> str:
        """The name of a new view."""
        literal, types = self.dialect.literal, self.dialect.types
        some, none = at_least_one(entries, kinds)
        rows = ", ".join(
            f"({code}L, {', '.join(map(literal, entry))})" for code, entry in enumerate(some)
        )
        names = [f"v{place}" for place in range(len(kinds))]
        typed = ", ".join(
            f"CAST({name} AS {types[kind]}) AS {name}"
            for name, kind in zip(names, kinds, strict=True)
        )
        values = f"VALUES {rows} AS entries(code, {', '.join(names)})"
        text = f"SELECT code, {typed} FROM {values}{none}"
        view = unmistakable("keys")
        # From a frame the view keeps its plan; as text it would be parsed at each use.
        self.session.sql(text).createTempView(view)
        return view

    def drop(self, view: str) -> None:
        """Free its room; a lost session took the view with it."""
        with suppress(Exception), quiet():
            self.session.catalog.dropTempView(view)
