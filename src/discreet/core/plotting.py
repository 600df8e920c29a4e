"""Altair, which draws the plots, loaded on first use: it is an extra."""

from __future__ import annotations

import importlib
from typing import Any

from discreet.core.errors import InvalidParameter


def plotting(module: str = "altair") -> Any:
    """Altair, or vl-convert which saves pictures; refused with what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_altair",
            expectation="Altair and vl-convert, which draw the plots",
            received=module,
            remedy="pip install 'discreet[plots]'.",
        ) from None
