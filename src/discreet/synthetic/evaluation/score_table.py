"""Scores of several tables beside each other, as texts: what prints and reports show."""

from __future__ import annotations

from collections.abc import Mapping


def score_table(
    listed: Mapping[str, Mapping[str, float | None]],
) -> tuple[tuple[str, ...], list[list[str]]]:
    """A table of scores: the heads of those columns that have anything in them, and the rows."""
    first = next(iter(listed.values()))
    heads = [head for head in first if any(each[head] is not None for each in listed.values())]
    rows = [[name, *(_format_score(each[head]) for head in heads)] for name, each in listed.items()]
    return ("table", *heads), rows


def _format_score(score: float | None) -> str:
    return "–" if score is None else f"{score:.4f}"
