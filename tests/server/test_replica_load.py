"""Replicas on one PostgreSQL server, killed while many ask: what is charged is what was received.

`benchmarks/service_load.py` asks ten thousand questions in the same way.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests import postgres_server
from tests.server.replica_load import PRICE, ClientRecord, LedgerRecord, Load, run_load
from tests.server.replicas import shared_project

pytestmark = [pytest.mark.xdist_group("server"), pytest.mark.slow, postgres_server.needed]


def test_charges_equal_what_clients_received_and_what_was_left_unfinished(tmp_path: Path) -> None:
    load = Load(analysts=2, clients=16, questions=200, answered_each=80, kills=3)
    with postgres_server.database() as conninfo:
        record, ledger, spent = run_load(shared_project(tmp_path, conninfo), load)
    assert record.killed == 3
    hold_to_the_ledger(load, record, ledger, spent)


def hold_to_the_ledger(
    load: Load, record: ClientRecord, ledger: LedgerRecord, spent: dict[str, float]
) -> None:
    """No question is lost, nothing is overspent, no release is lost, and the totals agree."""
    assert record.trouble["given up"] == 0
    assert record.done == load.questions
    for name, total in spent.items():
        received = set(record.released[name].values())
        assert len(received) == len(record.released[name]), "every question has its own release"
        left = ledger.unfinished[name] + ledger.failed[name]
        assert ledger.committed[name] == received, "nothing was released that nobody received"
        assert ledger.reserved[name] == len(received) + left
        assert total == PRICE * (len(received) + left)
        assert ledger.reserved[name] <= load.answered_each, "no overspending"
        if load.each > load.answered_each:
            assert ledger.reserved[name] == load.answered_each, "and all of it can be spent"


def test_the_comparison_notices_what_it_should() -> None:
    load = Load(analysts=1, clients=1, questions=2, answered_each=2, kills=0)
    record = ClientRecord(released={"ann": {0: "a", 1: "b"}})
    whole = LedgerRecord(reserved=Counter(ann=2), committed={"ann": {"a", "b"}})
    hold_to_the_ledger(load, record, whole, {"ann": float(2 * PRICE)})
    lost = LedgerRecord(reserved=Counter(ann=3), committed={"ann": {"a", "b", "c"}})
    for ledger, total in ((whole, 3), (lost, 3), (lost, 2)):
        with pytest.raises(AssertionError):
            hold_to_the_ledger(load, record, ledger, {"ann": float(total * PRICE)})
