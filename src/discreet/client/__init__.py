"""The service from a program: ``discreet.connect(url, token)`` asks as a curator is asked.

Only the standard library speaks with the service. Answers are the library's own types.
"""

from discreet.client.connect import connect
from discreet.client.curator import RemoteCurator

__all__ = ["RemoteCurator", "connect"]
