"""Peers of the suite ``synthetic``: dpmm and SmartNoise, and what they did with each table, kept.

Peers take minutes for a table, so what they did is recorded in ``synthetic_peers.json``, run by
run: ``python benchmarks/synthetic_peers.py [contender …]`` adds runs until there are
``SYNTHETIC_PEER_RUNS`` (one, if not said) at every one of ``SYNTHETIC_PEER_EPSILONS`` (1), on the
tables ``SYNTHETIC_PEER_TABLES`` (all). The suite itself reads the record, and asks a peer only
where it has nothing. A peer that has not finished within ``SYNTHETIC_PATIENCE`` seconds of
processor time is recorded as that, and not asked again. They see the same codes as discreet and run
as their authors set them.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import peers
from synthetic_data import Trial, trials
from synthetic_scores import accuracy, three_way

RECORD = Path(__file__).with_name("synthetic_peers.json")
DELTA = 1e-9
PATIENCE = int(os.environ.get("SYNTHETIC_PATIENCE", "300"))
EPSILONS = tuple(float(each) for each in os.environ.get("SYNTHETIC_PEER_EPSILONS", "1").split())
RUNS = int(os.environ.get("SYNTHETIC_PEER_RUNS", "1"))
TABLES = os.environ.get("SYNTHETIC_PEER_TABLES", "adult survey insurance").split()
WAITING = 8
"""How many seconds on the wall are granted for one of the processor: machines are busy."""
PEERS = {
    "dpmm_mst": ("dpmm", "mst"),
    "dpmm_privbayes": ("dpmm", "privbayes"),
    "smartnoise_mst": ("synth", "mst"),
    "dpmm_aim": ("dpmm", "aim"),
    "smartnoise_aim": ("synth", "aim"),
}


@dataclass(frozen=True)
class Made:
    """One synthetic table: how wrong, how well learnt from, how long it took."""

    error: float
    learning: float
    seconds: float


def scored(trial: Trial, rows: Any, seconds: float) -> Made:
    """Marginals against the rows that were synthesised, learning against those held out."""
    shape = trial.table.universe.shape
    error = three_way(trial.table.codes, rows, shape)
    return Made(error, accuracy(rows, trial.held_out, shape, trial.place), seconds)


def asked(contender: str, trial: Trial, epsilon: float, runs: int = 1) -> list[Made]:
    """Synthetic tables of a peer: those in the record, and new ones until there are ``runs``."""
    known = recorded(contender, trial, epsilon)
    while len(known) < runs:
        versions, made = _measured(contender, trial, epsilon)
        content = _record()
        content["versions"].update(versions)
        runs_of = content["tables"].setdefault(_key(contender, trial, epsilon), [])
        runs_of.append(made)
        content["tables"] = dict(sorted(content["tables"].items()))
        RECORD.write_text(json.dumps(content, indent=1) + "\n")
        print(_key(contender, trial, epsilon), made, flush=True)
        known = recorded(contender, trial, epsilon)
    return known


def recorded(contender: str, trial: Trial, epsilon: float) -> list[Made]:
    """What the record has; :class:`peers.Missing` where the peer did not finish."""
    kept = _record()["tables"].get(_key(contender, trial, epsilon), [])
    for each in kept:
        if "unfinished" in each:
            reason = f"{each['unfinished']}, stopped after {each['patience']} s"
            raise peers.Missing(reason)
    return [Made(**each) for each in kept]


def _key(contender: str, trial: Trial, epsilon: float) -> str:
    return f"{contender}/{trial.name}/epsilon={epsilon:g}"


def _record() -> dict[str, Any]:
    content = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    return {"tables": {}, "versions": {}, **content}


def _measured(
    contender: str, trial: Trial, epsilon: float
) -> tuple[dict[str, str], dict[str, Any]]:
    """The peer in a process of its own; that it did not finish is a result too."""
    peer, kind = PEERS[contender]
    peers.ANSWER_SECONDS = WAITING * PATIENCE
    with tempfile.TemporaryDirectory(prefix="synthetic-") as folder:
        given, to = Path(folder) / "table.npz", Path(folder) / "made.npz"
        trial.table.write(given)
        with peers.Peer(peer, f"peer_{peer}_synthetic.py") as worker:
            try:
                took = worker.seconds(
                    table=str(given),
                    kind=kind,
                    epsilon=epsilon,
                    delta=DELTA,
                    to=str(to),
                    patience=PATIENCE,
                )
            except peers.Missing as reason:
                return worker.versions, {"unfinished": str(reason)[:200], "patience": PATIENCE}
            made = scored(trial, np.load(to)["codes"], took)
            numbers = {name: float(f"{value:.4g}") for name, value in vars(made).items()}
            return worker.versions, numbers


def record(wanted: list[str]) -> None:
    """Everything that has no record yet; the quickest peers first."""
    known = [trial for trial in trials() if trial.name in TABLES]
    for epsilon in EPSILONS:
        for contender in wanted or PEERS:
            for trial in known:
                try:
                    asked(contender, trial, epsilon, RUNS)
                except peers.Missing as reason:
                    print(f"MISSING {contender}/{trial.name}: {reason}", flush=True)


if __name__ == "__main__":
    record(sys.argv[1:])
