"""Suite ``keys``: how many keys that nobody listed are found, and how fast, against the peers.

A hundred thousand keys by Zipf's law, at one epsilon and delta. Either each row is a person, or
each person has twelve draws and counts in at most G keys. A figure is the number of keys that our
law names on average over the peer's on the same rows, or the peer's seconds over ours. The peer's
number is drawn; PipelineDP tells its law, so that the same rule gives the same number.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from keys_data import EACH, bounded, distinct, make
from peers import Missing, Peer
from timing import Figure, clock

import discreet as dp
from discreet.mechanisms.key_selection import plan_names

EPSILON, DELTA = 1.0, 1e-5
PEOPLE = 25_000
CASES = (0, 1, 3, 10)
"""Keys a person counts in; 0 where each row is a person."""

STRATEGIES = ("truncated_geometric", "laplace", "gaussian")
PEERS = ("opendp", "pipelinedp", "tumult")
SAME = 1 - 1e-9
"""The same rule in another's floating point."""


@dataclass(frozen=True)
class Run:
    """How many keys are named on average or were drawn, and in how many seconds."""

    found: float
    drawn: float
    seconds: float


def figures() -> list[Figure]:
    """Every case: ours, what the law says, and each peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, people = make(folder, PEOPLE * EACH, 1), make(folder, PEOPLE, EACH)
        paths = {groups: people if groups else rows for groups in CASES}
        own = {groups: ours(path, groups) for groups, path in paths.items()}
        made = []
        for groups, path in paths.items():
            there, run = distinct(path), own[groups]
            made.append(
                Figure(
                    name=f"keys/{case(groups)}/recall",
                    values=(100 * run.found / there,),
                    unit="%",
                    remark=f"{run.found:.0f} of {there} by law, {run.drawn:.0f} drawn; "
                    f"{run.seconds:.2f} s",
                )
            )
        for peer in PEERS:
            made += against(peer, paths, own)
        return made


def case(groups: int) -> str:
    """The name of a case."""
    return f"groups_{groups}" if groups else "row"


def ours(path: Path, groups: int) -> Run:
    """Ask for the keys alone, as a user would; the curator is opened on the clock."""
    unit: Any = dp.Person("pid", max_groups=groups) if groups else dp.Row()
    spend = dp.ApproxDP(epsilon=EPSILON, delta=DELTA)
    found: list[int] = []

    def ask() -> None:
        table = dp.table(path, unit=unit, columns={"key": dp.Discovered()})
        with dp.Curator(t=table, budget=spend, ledger=dp.ledger.Memory()) as curator:
            found.append(len(curator.sql("SELECT key FROM t GROUP BY key", spend=spend)))

    clock(ask)()  # warm
    seconds = clock(ask)()
    return Run(expected(path, groups), found[-1], seconds)


def expected(path: Path, groups: int) -> float:
    """How many keys the law of our rule names on average, on one bounding of the rows."""
    source = bounded(path, groups) if groups else path
    with duckdb.connect() as engine:
        counts = engine.execute(f"SELECT COUNT(*) AS n FROM '{source}' GROUP BY key").fetchnumpy()
    rule = plan_names(epsilon=EPSILON, delta=DELTA, groups=max(groups, 1))
    values, times = np.unique(counts["n"], return_counts=True)
    return float(sum(k * rule.keep_probability(int(n)) for n, k in zip(values, times, strict=True)))


def against(peer: str, paths: dict[int, Path], own: dict[int, Run]) -> list[Figure]:
    """One peer in every case."""
    made = []
    try:
        with Peer(peer, f"peer_{peer}_keys.py") as running:
            ask(running, make(next(iter(paths.values())).parent, 1000, 1), 0)  # warm
            for groups, path in paths.items():
                made += compared(peer, groups, own[groups], ask(running, path, groups))
    except Missing as reason:
        made += [
            Figure(
                name=f"keys/{peer}/{case(groups)}/found",
                values=(),
                unit="x",
                at_least=1,
                remark=f"MISSING {peer}: {reason}",
            )
            for groups in list(paths)[len(made) // 2 :]
        ]
    return made


def ask(peer: Peer, path: Path, groups: int) -> Run:
    """One question to a peer; PipelineDP's best strategy, by its law."""
    cut = bounded(path, groups) if groups else path
    source = cut if peer.name == "opendp" else path
    asked: dict[str, Any] = {"groups": groups, "epsilon": EPSILON, "delta": DELTA}
    seconds = peer.seconds(path=str(source), **asked)
    drawn = peer.seconds(want="found")
    if peer.name != "pipelinedp":
        return Run(drawn, drawn, seconds)
    laws = (
        peer.seconds(want="law", path=str(cut), strategy=strategy, **asked)
        for strategy in STRATEGIES
    )
    return Run(max(laws), drawn, seconds)


def compared(peer: str, groups: int, own: Run, other: Run) -> list[Figure]:
    """Keys and seconds."""
    return [
        Figure(
            name=f"keys/{peer}/{case(groups)}/found",
            values=(own.found / max(other.found, 1),),
            unit="x",
            at_least=SAME,
            remark=f"{own.found:.0f} against {other.found:.0f}",
        ),
        Figure(
            name=f"keys/{peer}/{case(groups)}/speedup",
            values=(other.seconds / own.seconds,),
            unit="x",
            at_least=1,
            remark=f"{own.seconds:.2f} s against {other.seconds:.2f} s",
        ),
    ]
