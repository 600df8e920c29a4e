"""Form 2: what is kept of a token for SCRAM; tokens of before have none."""

from __future__ import annotations

from sqlalchemy import Connection, text


def upgrade(connection: Connection) -> None:
    """Add the column."""
    connection.execute(text("ALTER TABLE tokens ADD COLUMN verifier TEXT"))
