"""A private folder for what an embedded engine cannot hold in memory.

What spills are rows: nobody but the user of this process can read the folder, no two engines
share one, and it is removed with the engine, at the latest when the interpreter ends. A process
that is killed leaves it behind.

Source: contract, "What may be seen" (spill files are private to the curator).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from discreet.core.errors import InvalidParameter


def private_folder(inside: str | Path | None) -> Path:
    """A new folder that only this user can enter, in ``inside`` or the system's own place."""
    try:
        if inside is not None:
            Path(inside).mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="discreet-", dir=inside)).absolute()
    except OSError:
        raise InvalidParameter(
            code="spill_folder",
            expectation="a folder in which this process may write",
            received="the system's temporary folder" if inside is None else str(inside),
            remedy="Write dp.DuckDB(temp_directory=...) with such a folder.",
        ) from None


def removed_with(owner: object, folder: Path, let_go: Callable[[], object]) -> Callable[[], object]:
    """Remove the folder once: when called, when ``owner`` is gone, or when the interpreter ends.

    ``let_go`` runs before; it must not refer to ``owner``. A forked child does neither: folder
    and engine are its parent's.
    """
    return weakref.finalize(owner, _remove, folder, let_go, os.getpid())


def _remove(folder: Path, let_go: Callable[[], object], process: int) -> None:
    if process == os.getpid():
        try:
            let_go()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
