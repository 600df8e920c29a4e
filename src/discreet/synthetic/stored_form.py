"""A synthetic release read back from its line of JSON: the same model, bit for bit.

Reading it needs neither tables nor a ledger, and is free.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.events.event import from_json as event_from_json
from discreet.core.foreign_text import plain_json, refusing
from discreet.release.kept_guarantee import kept_guarantee
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.grouped_model import stored_model
from discreet.synthetic.synthetic_release import FORM, SyntheticRelease


def synthetic_from_json(text: str) -> SyntheticRelease:
    """The release that ``to_json`` wrote."""
    expected = f"a synthetic release of form {FORM}, as `save` wrote it"
    with refusing(code="synthetic_not_json", expectation=expected):
        found = _read_synthetic_release(plain_json(text))
        _ = repr(found), found.to_json(), found.sample(1)  # numbers and facts may be of any kind
        found.statement.try_words()
        return found


def load(path: str | PathLike[str]) -> SyntheticRelease:
    """The release that ``save`` wrote to a file."""
    return synthetic_from_json(Path(path).read_text(encoding="utf-8", errors="replace"))


def _read_synthetic_release(plain: dict[str, Any]) -> SyntheticRelease:
    if plain["form"] != FORM:
        raise ValueError(plain["form"])
    encoding = TableEncoding.from_dict(plain["encoding"])
    event = event_from_json(json.dumps(plain["event"]))
    return SyntheticRelease(
        id=plain["id"],
        query=plain["query"],
        encoding=encoding,
        model=stored_model(plain["model"], encoding.universe, event),
        guarantee=kept_guarantee(plain["guarantee"], event, plain["facts"]),
        event=event,
        budget_split=plain["split"],
        facts=plain["facts"],
        noise=CountNoise.from_dict(plain["noise"]) if "noise" in plain else None,
    )
