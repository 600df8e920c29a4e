"""Exact fractions in JSON: numerator and denominator as text, which no reader rounds."""

from __future__ import annotations

from fractions import Fraction


def fraction_to_json(value: Fraction) -> dict[str, list[str]]:
    """The fraction as a JSON object.

    >>> fraction_to_json(Fraction(1, 3))
    {'ratio': ['1', '3']}
    """
    return {"ratio": [str(value.numerator), str(value.denominator)]}


def fraction_from_json(value: object) -> Fraction | None:
    """The fraction that :func:`fraction_to_json` wrote; None for anything else."""
    if not isinstance(value, dict) or set(value) != {"ratio"}:
        return None
    numerator, denominator = value["ratio"]
    return Fraction(int(numerator), int(denominator))
