"""What made a release: name and version of this software, for privacy statements."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def software() -> str:
    """Name and version of this software, as installed."""
    try:
        return f"discreet {metadata.version('discreet')}"
    except metadata.PackageNotFoundError:
        return "discreet"
