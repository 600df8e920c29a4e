"""In what a question may be put: SQL text, a frame, an Ibis expression. All become SQL text.

So there is one door, one plan and one rule for which queries are identical.
"""

from __future__ import annotations

from typing import TypeAlias

from discreet.relational.frontends.frame.frame import Frame
from discreet.relational.frontends.ibis_tables import sql_of

Asked: TypeAlias = str | Frame
"""A question as it may be put; Ibis expressions have no type of their own here."""


def text_of(asked: object) -> str:
    """The SQL text of a question; what is none of these is refused where the text is read."""
    if isinstance(asked, Frame):
        return asked.sql()
    if type(asked).__module__.partition(".")[0] == "ibis":
        return sql_of(asked)
    return asked  # type: ignore[return-value]
