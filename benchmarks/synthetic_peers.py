"""Peers of the suite ``synthetic``: dpmm and SmartNoise, each table once, and what they did kept.

Peers take minutes for a table, so what they did is recorded in ``synthetic_peers.json``, and asked
again only where nothing is recorded: ``python benchmarks/synthetic_peers.py [contender …]`` fills
the record, as the suite does. A peer that has not finished within ``SYNTHETIC_PATIENCE`` seconds of
processor time is recorded as that. They see the same codes as discreet and run as their authors set
them.
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
WAITING = 4
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


def asked(contender: str, trial: Trial, epsilon: float) -> Made:
    """One synthetic table of a peer, from the record where it has one."""
    key = f"{contender}/{trial.name}/epsilon={epsilon:g}"
    content = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    kept = content.setdefault("tables", {}).get(key)
    if kept is None:
        versions, kept = _measured(contender, trial, epsilon)
        content = json.loads(RECORD.read_text()) if RECORD.is_file() else {"tables": {}}
        content.setdefault("versions", {}).update(versions)
        content["tables"] = dict(sorted({**content["tables"], key: kept}.items()))
        RECORD.write_text(json.dumps(content, indent=1) + "\n")
        print(key, kept, flush=True)
    if "unfinished" in kept:
        reason = f"{kept['unfinished']}, stopped after {kept['patience']} s"
        raise peers.Missing(reason)
    return Made(**kept)


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
    known = trials()
    for epsilon in EPSILONS:
        for contender in wanted or PEERS:
            for trial in known:
                try:
                    asked(contender, trial, epsilon)
                except peers.Missing as reason:
                    print(f"MISSING {contender}/{trial.name}: {reason}", flush=True)


if __name__ == "__main__":
    record(sys.argv[1:])
