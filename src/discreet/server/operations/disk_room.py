"""Whether there is room to write where the ledger and the state lie in files."""

from __future__ import annotations

import shutil

from discreet.server.runtime import Runtime

_LEAST = 256 * 1024
"""Bytes below which reservations may fail: some pages, and their log."""


def disk_trouble(runtime: Runtime) -> str:
    """The code of what writing would say; empty where there is room, or a server keeps it."""
    places = {
        "ledger_unwritable": getattr(runtime.project.ledger, "path", None),
        "state_unavailable": getattr(runtime.settings.state, "path", None),
    }
    for code, place in places.items():
        try:
            full = place is not None and shutil.disk_usage(place.parent).free < _LEAST
        except OSError:
            full = True  # the folder is gone
        if full:
            return code
    return ""
