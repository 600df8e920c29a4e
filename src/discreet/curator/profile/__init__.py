"""The data as it is, for its owner alone: not private.

Nothing here may reach an analyst, and no release depends on it.
"""

from discreet.curator.profile.profile import profile
from discreet.curator.profile.report import Profile

__all__ = ["Profile", "profile"]
