"""The owner's log in a file: why questions failed, for as long as a curator is open.

It may quote private values, so it is readable by its owner alone.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.curator.purchase import OWNER


@contextmanager
def owner_log(path: Path | None) -> Iterator[None]:
    """Write what the owner alone may read to a file, inside the block; nothing without a path."""
    if path is None:
        yield
        return
    try:
        handler = _OwnerLog(path, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(
            code="owner_log_unwritable",
            expectation="an owner's log that can be written to",
            received=path.name,
            remedy=f"Fix owner_log in the project file: {error.strerror}.",
        ) from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    OWNER.addHandler(handler)
    try:
        yield
    finally:
        OWNER.removeHandler(handler)
        handler.close()


class _OwnerLog(logging.FileHandler):
    """A log that is silent about its own troubles: they would quote what was to be logged."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing."""

    def _open(self) -> Any:
        """For the owner alone: it may quote private values."""
        return open(
            self.baseFilename,
            self.mode,
            encoding=self.encoding,
            opener=lambda path, flags: os.open(path, flags, 0o600),
        )
