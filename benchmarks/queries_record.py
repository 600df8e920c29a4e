"""Record the errors and times of peers: ``python benchmarks/queries_record.py [contender …]``.

Every contender releases each table at each epsilon, three times; what is recorded already is not
asked again. It takes hours, so the suite reads the record instead, and asks peers afresh about a
small table only. Peers see the same codes as discreet and run as their authors set them, except
where that does not end: SmartNoise's MWEM on all eight attributes at once is given fewer
rounds and passes, or two groups of four attributes each.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import peers
from queries_data import Table, tables

from discreet.queries.workload.workload import Workload

RECORD = Path(__file__).with_name("queries_peers.json")
EPSILONS = (0.1, 1.0)
WAYS = (2, 3)
RELEASES = 3
PATIENCE = 1800


@dataclass(frozen=True)
class Contender:
    """A peer and how it is asked."""

    name: str
    peer: str
    settings: dict[str, Any] = field(default_factory=dict)

    def ask(
        self, running: peers.Peer, table: Table, epsilon: float, ways: tuple[int, ...]
    ) -> dict[int, dict[str, float]]:
        """One release: its errors on all marginals of each number of ways, and its seconds."""
        found = {}
        with tempfile.TemporaryDirectory(prefix="queries-") as folder:
            source, to = Path(folder) / "table.npz", Path(folder) / "answers.npz"
            table.write(source)
            asked = {"table": str(source), "epsilon": epsilon, "to": str(to)}
            if self.peer == "synth":
                took = running.seconds(settings=self.settings, **asked)
                estimate = joined(dict(np.load(to)), table.universe.shape)
                for each in ways:
                    answers = Workload.marginals(table.universe, each).answers(estimate)
                    found[each] = {**errors(table, each, answers), "seconds": took}
            else:
                for each in ways:
                    took = running.seconds(ways=each, **asked)
                    found[each] = {**errors(table, each, np.load(to)["answers"]), "seconds": took}
        return found


CONTENDERS = (
    Contender("aim", "tables"),
    Contender("mwem_short", "synth", {"iterations": 10, "mult_weights_iterations": 2}),
)
DEFAULT = Contender("mwem", "synth")


def joined(parts: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """A table from histograms of groups of columns that are independent of each other."""
    whole, total = np.ones(shape), 0.0
    for place in range(len(parts) // 2):
        columns, histogram = parts[f"columns{place}"], parts[f"histogram{place}"]
        total = float(histogram.sum())
        axes = [size if axis in columns else 1 for axis, size in enumerate(shape)]
        whole = whole * np.transpose(histogram / total, np.argsort(columns)).reshape(axes)
    return total * whole


def errors(table: Table, ways: int, answers: Any) -> dict[str, float]:
    """Root mean squared and mean absolute error over all marginals."""
    off = np.asarray(answers) - Workload.marginals(table.universe, ways).answers(table.counts)
    return {"rmse": float(np.sqrt((off**2).mean())), "mae": float(np.abs(off).mean())}


def key(contender: Contender, table: str, epsilon: float, ways: int) -> str:
    """The name of an entry."""
    return f"{contender.name}/{table}/{ways}-way/epsilon={epsilon:g}"


def recorded() -> dict[str, list[dict[str, float]]]:
    """What has been recorded: for each entry, one set of numbers for each release."""
    return json.loads(RECORD.read_text())["releases"] if RECORD.is_file() else {}


def store(versions: dict[str, str], new: dict[str, dict[str, float]]) -> None:
    """Add one release to each of some entries."""
    content = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    content.setdefault("versions", {}).update(versions)
    releases = content.setdefault("releases", {})
    for name, numbers in new.items():
        rounded = {what: float(f"{value:.5g}") for what, value in numbers.items()}
        releases.setdefault(name, []).append(rounded)
        print(name, rounded, flush=True)
    content["releases"] = dict(sorted(releases.items()))
    RECORD.write_text(json.dumps(content, indent=1) + "\n")


def record(wanted: list[str]) -> None:
    """One release of everything before the second of anything."""
    peers.ANSWER_SECONDS = PATIENCE
    known = tables()
    for contender in CONTENDERS:
        if wanted and contender.name not in wanted:
            continue
        with peers.Peer(contender.peer, f"peer_{contender.peer}_mwem.py") as running:
            for turn in range(RELEASES):
                for table in known:
                    for epsilon in EPSILONS:
                        missing = tuple(
                            ways
                            for ways in WAYS
                            if len(recorded().get(key(contender, table.name, epsilon, ways), []))
                            <= turn
                        )
                        if not missing:
                            continue
                        found = contender.ask(running, table, epsilon, missing)
                        store(
                            running.versions,
                            {key(contender, table.name, epsilon, w): x for w, x in found.items()},
                        )


if __name__ == "__main__":
    record(sys.argv[1:])
