"""The tables of the suite ``topdown``: real flights, and an invented country of many towns."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray
from peers import Missing, Peer

import discreet as dp
from discreet.queries.workload.universe import Universe
from discreet.synthetic import Hierarchy, Level


@dataclass(frozen=True)
class Flights:
    """Counts of flights over a universe, and the hierarchy of their destinations."""

    name: str
    universe: Universe
    counts: NDArray[np.int64]
    hierarchy: Hierarchy


def flights() -> list[Flights]:
    """Nation, time zone, airport, month; without and with the carriers of each as its detail."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flights.npz"
        try:
            with Peer("datasets", "peer_datasets_topdown.py") as peer:
                peer.seconds(to=str(path))
        except Missing as reason:
            print(f"MISSING flights: {reason}", file=sys.stderr)
            return []
        with np.load(path) as held:
            data = dict(held.items())
    zones = dict(zip(data["dests"].tolist(), data["zones"].tolist(), strict=True))
    levels = Hierarchy(
        (
            Level("nation"),
            Level("zone", by="dest", groups=zones),
            Level("airport", by="dest"),
            Level("month", by="month"),
        )
    )
    whole = Universe.of(dest=list(zones), month=range(12), carrier=data["carriers"].tolist())
    table = np.zeros(whole.shape, dtype=np.int64)
    np.add.at(table, (data["dest"], data["month"], data["carrier"]), 1)
    plain = Universe(whole.attributes[:2])
    return [
        Flights("flights", plain, table.sum(axis=2), levels),
        Flights("carriers", whole, table, levels),
    ]


TOWNS, REGION, AGES = 100_000, 100, 200


def country(path: Path, people: int) -> dp.Curator:
    """People in many towns of very different sizes, in a Parquet file."""
    duckdb.connect().execute(
        f"COPY (SELECT CAST({TOWNS} * pow(random(), 3) AS INTEGER) % {TOWNS} AS town,"
        f" CAST(random() * {AGES} AS INTEGER) % {AGES} AS age, random() < 0.5 AS woman"
        f" FROM range({people})) TO '{path}' (FORMAT parquet)"
    )
    table = dp.table(
        path,
        unit=dp.Row(),
        columns={
            "town": dp.Integer(0, TOWNS - 1),
            "age": dp.Integer(0, AGES - 1),
            "woman": dp.Boolean(),
        },
    )
    return dp.Curator(people=table, budget=dp.PureDP(epsilon=100), ledger=dp.ledger.Memory())


def towns() -> Hierarchy:
    """Nation, region, district, town."""
    return Hierarchy(
        (
            Level("nation"),
            Level("region", by="town", groups={t: t // (REGION * 100) for t in range(TOWNS)}),
            Level("district", by="town", groups={t: t // REGION for t in range(TOWNS)}),
            Level("town", by="town"),
        )
    )
