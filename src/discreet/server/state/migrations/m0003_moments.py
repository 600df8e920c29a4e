"""Form 3: a release is made, and a conversation opened, when it leaves: also those of before."""

from __future__ import annotations

from sqlalchemy import Connection, text

_OPENED = """
UPDATE conversations SET opened_at = COALESCE(
    (SELECT MIN(jobs.leaves_at) FROM jobs
     WHERE jobs.person_id = conversations.person_id AND jobs.grant_id = conversations.grant_id
       AND jobs.request = conversations.about AND jobs.leaves_at >= conversations.opened_at),
    opened_at)
"""


def upgrade(connection: Connection) -> None:
    """Write the leaving moment where the end of the work was."""
    connection.execute(text("UPDATE releases SET made_at = leaves_at"))
    connection.execute(text(_OPENED))
