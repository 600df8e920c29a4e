"""Synopses of private tables: made once, paid for once, answering for free afterwards."""

from discreet.curator.synopsis.release import SynopsisRelease

__all__ = ["SynopsisRelease"]
