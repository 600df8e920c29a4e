"""Synopses of private tables: made once, paid for once, answering for free afterwards.

Which tables are counted, previews, plots and the identity of a request. The mechanisms are in
:mod:`discreet.queries`.
"""

from discreet.curator.synopsis.release import SynopsisRelease

__all__ = ["SynopsisRelease"]
