"""What the peers of the suite ``accuracy`` have in common: how they are asked and answer.

A request has a ``query`` and three files: ``path`` is its table; ``thin`` a few rows of it;
``repeated`` those rows in a number of ``copies``. The noise is that of the whole table. The
answers are about the thin one, where a copy is a group, so that one answer is many releases. They
go to the file ``out``. This file needs the standard library only, because peers import it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accuracy_queries import Query
from timing import clock

Noise = list[dict[str, Any]]
AGREE = 0.01
ALONE = 15
"""How many answers there are of a question whose noise is another one when asked by copies."""


@dataclass(frozen=True)
class System:
    """A peer: the noise it says a question has, and its answers as pairs of key and value."""

    noise: Callable[[Query, str, int], Noise]
    release: Callable[[Query, str, int], Iterable[tuple[Any, float]]]

    def ask(self, request: dict[str, Any]) -> float:
        """Ask, and write the noise and the answers by key."""
        return clock(lambda: self._ask(request))()

    def _ask(self, request: dict[str, Any]) -> None:
        query = Query.from_json(request["query"])
        said = self.noise(query, request["path"], 1)
        alone = self.noise(query, request["thin"], 1)
        path, copies, times = request["repeated"], request["copies"], 1
        if not agree(alone, self.noise(query, path, copies)):
            path, copies, times = request["thin"], 1, ALONE
        values: dict[str, list[float]] = {str(key): [] for key in query.keys}
        for _ in range(times):
            for key, value in self.release(query, path, copies):
                values[str(key)].append(float(value))
        written = {"noise": said, "thin": alone, "values": values}
        Path(request["out"]).write_text(json.dumps(written))


def agree(first: Noise, second: Noise) -> bool:
    """Whether two noises have the same scales."""
    pairs = zip(first, second, strict=True)
    return all(abs(a["scale"] / b["scale"] - 1) < AGREE for a, b in pairs)
