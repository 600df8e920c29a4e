"""Rows of a release as plain JSON: dates as ISO 8601, what is infinite as null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

from discreet.release import Release


def plain_rows(release: Release) -> list[dict[str, Any]]:
    """Each row by the names of its columns."""
    return [{name: plain_value(value) for name, value in row.items()} for row in release]


def json_text(plain: Any) -> str:
    """JSON, with null for numbers that are none."""
    try:
        return json.dumps(plain, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(plain), allow_nan=False)


def _finite(plain: Any) -> Any:
    if isinstance(plain, Mapping):
        return {name: _finite(value) for name, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_finite(value) for value in plain]
    return plain_value(plain)


def plain_value(value: Any) -> Any:
    """A value in what JSON knows.

    >>> plain_value(date(2024, 1, 31)), plain_value(float("inf"))
    ('2024-01-31', None)
    """
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
