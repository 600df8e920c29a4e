"""Two replicas on one PostgreSQL server, 64 clients, ten thousand questions, replicas killed.

    python benchmarks/service_load.py
    python benchmarks/service_load.py --questions 1000 --kills 4

Ledger and clients are compared at the end, question by question: nothing overspent, no release
lost, and the ledger's totals are what clients received and the reservations that were left.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import postgres_server
from tests.server.replica_load import Load, run_load
from tests.server.replicas import shared_project
from tests.server.test_replica_load import hold_to_the_ledger

_MORE = {"max_connections": "300"}


def main() -> None:
    """Run it, compare, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--analysts", type=int, default=8)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    load = Load(
        analysts=given.analysts,
        clients=given.clients,
        questions=given.questions,
        answered_each=given.questions // given.analysts * 9 // 10,
        kills=given.kills,
        seed=given.seed,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server.Server(_MORE) as server,
    ):
        record, ledger, spent = run_load(shared_project(Path(folder), server.conninfo()), load)
    hold_to_the_ledger(load, record, ledger, spent)
    answered = sum(map(len, record.released.values()))
    print(f"{load.questions} questions of {load.analysts} analysts by {load.clients} clients")
    print(f"  {answered} answered, {record.exhausted.total()} refused: budget exhausted")
    print(f"  replicas killed {record.killed} times; clients met {dict(record.trouble)}")
    print(f"  reservations left unfinished and counted as spent: {ledger.unfinished.total()}")
    print(f"  {record.seconds:.0f} s, {load.questions / record.seconds:.1f} questions a second")


if __name__ == "__main__":
    main()
