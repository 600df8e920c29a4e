"""What is to be synthesised, as JSON: mechanisms by their words, bins, and columns by name.

A word is what goes over the wire alone; who writes Python writes the same objects here and there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from discreet.client import loaded
from discreet.client.written import drop_none_values, not_offered


def synthesis_to_json(
    table: str,
    *,
    columns: object,
    bins: object,
    ways: int | None,
    target: str | None,
    mechanism: Callable[..., Any] | None,
    never_missing: Iterable[str],
) -> dict[str, Any]:
    """A table, and what of it is to be synthesised."""
    return {
        "kind": "synthesize",
        "table": table,
        **_bins_to_json(bins),
        **drop_none_values(
            columns=_names_of(columns),
            ways=ways,
            target=target,
            mechanism=None if mechanism is None else _synthesizer(mechanism),
            never_missing=list(never_missing) or None,
        ),
    }


def tables_to_json(
    parent: str,
    children: Sequence[str],
    *,
    columns: Mapping[str, Sequence[str] | Mapping[str, Any]] | None,
    bins: object,
) -> dict[str, Any]:
    """What is to be made of several tables."""
    return {
        "kind": "synthesize_tables",
        "parent": parent,
        "children": [children] if isinstance(children, str) else list(children),
        **_bins_to_json(bins),
        **drop_none_values(
            columns=None if columns is None else {n: _names_of(each) for n, each in columns.items()}
        ),
    }


def _bins_to_json(bins: object) -> dict[str, int]:
    """So many of equal width, or of about equal counts."""
    if isinstance(bins, int) and not isinstance(bins, bool):
        return {"bins": bins}
    kind = loaded.bins().PrivateBins
    if not isinstance(bins, kind) or bins != kind.with_cells(bins.bins):
        raise not_offered(
            expectation="a number of bins, or PrivateBins(n) of as many cells as usual",
            received=type(bins).__name__,
            remedy="Write bins=dp.synthetic.PrivateBins(16).",
        )
    return {"private_bins": bins.bins}


def _synthesizer(make: Callable[..., Any]) -> str:
    """What makes a synthetic table, by its word."""
    words = loaded.synthesizers()
    word = words.word_of(make)
    if word is None:
        every = [words.mechanism_of(each) for each in words.MechanismWord]
        names = [getattr(each, "__name__", "MWEMPGM with its usual rounds") for each in every]
        raise not_offered(
            expectation=f"one of dp.synthetic: {', '.join(names)}",
            received=getattr(make, "__name__", type(make).__name__),
            remedy="Write mechanism=dp.synthetic.MST, or leave it out.",
        )
    return str(word.value)


def _names_of(columns: object) -> list[str] | None:
    """Columns by name; columns of one's own are for whoever has the tables."""
    if columns is None:
        return None
    if isinstance(columns, Mapping) or not isinstance(columns, Iterable):
        raise not_offered(
            expectation="names of columns, which are synthesised as they are declared",
            received=type(columns).__name__,
            remedy='Write columns=["ward", "age"].',
        )
    return [columns] if isinstance(columns, str) else list(columns)
