"""Private counts and sums by group against the peers', each on as many rows as it can bear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from peers import Missing, Peer
from relational_data import make
from relational_ours import private
from timing import Figure, Timer, alternate, ratios

import discreet as dp

ROUNDS = 3


@dataclass(frozen=True)
class Rival:
    """A peer, what it is asked, and what we are asked in the same rounds."""

    peer: str
    case: str
    rows: int
    at_least: float = 1
    person: bool = False
    memory: bool = True
    rounds: int = ROUNDS

    @property
    def name(self) -> str:
        """The beginning of its figures' names."""
        return f"relational/{self.peer}/{self.case}"


RIVALS = (
    Rival("opendp", "parquet", 10_000_000, at_least=8, memory=False, rounds=5),
    Rival("opendp", "memory", 10_000_000, at_least=20),
    Rival("opendp", "person", 10_000_000, at_least=8, person=True),
    Rival("tumult", "row", 10_000_000),
    Rival("smartnoise", "row", 1_000_000),
    Rival("smartnoise", "person", 1_000_000, person=True),
    Rival("pipelinedp", "person_200k", 200_000, person=True),
    Rival("pipelinedp", "person_1M", 1_000_000, person=True, rounds=1),
)


def peer_figures(folder: Path) -> list[Figure]:
    """How many times as fast as each peer, on the same rows in the same rounds."""
    found = []
    for peer in dict.fromkeys(rival.peer for rival in RIVALS):
        rivals = [rival for rival in RIVALS if rival.peer == peer]
        try:
            with Peer(peer, f"peer_{peer}_relational.py") as running:
                for rival in rivals:
                    found += against(running, rival, folder)
        except Missing as reason:
            measured = {figure.name for figure in found}
            found += [
                Figure(
                    name=each,
                    values=(),
                    unit="x",
                    at_least=rival.at_least,
                    remark=f"MISSING {peer}: {reason}",
                )
                for rival in rivals
                if (each := f"{rival.name}/speedup") not in measured
            ]
    return found


def against(peer: Peer, rival: Rival, folder: Path) -> list[Figure]:
    """One rival: its seconds and ours."""
    path = make(folder, rival.rows)
    case = rival.case.partition("_")[0]
    timers: dict[str, Timer] = {
        "peer": partial(peer.seconds, path=str(path), rows=rival.rows, case=case),
        "discreet": ours(rival)(path),
    }
    seconds = alternate(rival.name, timers, rounds=rival.rounds)
    versions = ", ".join(f"{name} {number}" for name, number in peer.versions.items())
    remark = f"{rival.rows:.0e} rows; {versions}"
    return [
        Figure(name=f"{rival.name}/seconds", values=seconds["peer"], unit="s", remark=remark),
        Figure(name=f"{rival.name}/discreet_seconds", values=seconds["discreet"], unit="s"),
        Figure(
            name=f"{rival.name}/speedup",
            values=ratios(seconds["peer"], seconds["discreet"]),
            unit="x",
            at_least=rival.at_least,
        ),
    ]


def ours(rival: Rival) -> Callable[[Path], Timer]:
    """Our timer: the same unit, from the same kind of source."""
    unit = dp.Person("pid", max_rows=1, max_groups=1) if rival.person else dp.Row()

    def timer(path: Path) -> Timer:
        source: Any = path
        if rival.memory:
            import polars as pl

            source = pl.read_parquet(path)
        return private(source, unit)

    return timer
