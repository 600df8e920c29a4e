"""How long a ledger waits for other writers, the same wherever it lies."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 30.0
"""Seconds to wait for other writers, each of which needs about a thousandth."""

Result = TypeVar("Result")


def patiently(
    act: Callable[[], Result],
    *,
    passes: Callable[[Exception], bool],
    nap: float,
    longest_nap: float = 0.0,
) -> Result:
    """Do it again while it fails for a reason that passes, for as long as there is patience.

    Contract: what fails leaves no trace. Naps between the attempts double up to the longest.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except Exception as error:
            if not passes(error) or time.monotonic() > end:
                raise
        time.sleep(nap)
        nap = min(2 * nap, max(nap, longest_nap))
