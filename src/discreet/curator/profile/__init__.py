"""The data as it is, for its owner alone: not private."""

from discreet.curator.profile.document import Profile
from discreet.curator.profile.tables import profile

__all__ = ["Profile", "profile"]
