"""Running a user's function on private rows so that its failures stay inside.

A function that raises gives :data:`FAILED`; what it prints, warns or logs goes nowhere. So a
mapper that trips over one record says nothing about that record. In-process code can still keep
state, write files or take long: the contract of a user function is that it is pure, and a
curator runs no Python functions on private rows at all.

Source: 004d:F20; contract, "What may be seen".
"""

from __future__ import annotations

import io
import logging
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Failed:
    """The type of :data:`FAILED`."""

    def __repr__(self) -> str:
        return "FAILED"


FAILED: Final = _Failed()
"""What a function that raised is taken to have returned."""


class _Nowhere(io.TextIOBase):
    def write(self, text: str, /) -> int:
        return len(text)


@contextmanager
def contained() -> Iterator[None]:
    """Discard what user functions print, warn and log meanwhile, whatever the filters are."""
    before = logging.root.manager.disable
    nowhere = _Nowhere()
    with redirect_stdout(nowhere), redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(before)


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's value, or :data:`FAILED`; only the user's own interrupt passes through."""
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return FAILED
