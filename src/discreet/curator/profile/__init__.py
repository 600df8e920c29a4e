"""The data as it is, for its owner alone: not private."""

from discreet.curator.profile.profile import profile
from discreet.curator.profile.report import Profile

__all__ = ["Profile", "profile"]
