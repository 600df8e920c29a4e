"""The privacy statement of a release: what was protected, how, how well, and what was not."""

from discreet.curator.statement.document import Statement
from discreet.curator.statement.facts import named, statement

__all__ = ["Statement", "named", "statement"]
