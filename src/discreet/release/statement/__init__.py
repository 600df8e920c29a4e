"""The privacy statement of a release: what was protected, how, how well, and what was not.

Its facts are gathered by the curator (``curator/statement.py``); here they are put into words.
"""

from discreet.release.statement.statement import Statement

__all__ = ["Statement"]
