"""The privacy statement of a release: what was protected, how, how well, and what was not."""

from discreet.release.statement.statement import Statement

__all__ = ["Statement"]
