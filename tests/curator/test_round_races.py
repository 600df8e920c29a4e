"""Rounds that are opened at once keep one limit together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import discreet as dp
from discreet.errors import Exhausted
from discreet.ledger import Ledger, Memory, PostgreSQL, SQLite
from discreet.noise import Noiseless
from discreet.queries import Workload
from discreet.queries.analysts.guarantee import OneAnalyst
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.query_class import Conjunctions
from tests import postgres_server
from tests.curator.test_round import ONE, opened, private

TOLD = dp.ApproxDP(epsilon=1.5, delta=1e-5)  # room for one round at ONE


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledgers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Ledger]]:
    """Two hands on one ledger, as two processes have them; one in memory has one."""
    if request.param == "memory":
        yield [Memory()] * 2
    elif request.param == "sqlite":
        yield [SQLite(tmp_path / "people.ledger") for _ in range(2)]
    else:
        if postgres_server.missing():
            pytest.skip(str(postgres_server.missing()))
        name, key = f"people-{uuid4().hex}", tmp_path / "people.key"
        with postgres_server.database() as conninfo:
            hands: list[Ledger] = [PostgreSQL(conninfo, name=name, key=key) for _ in range(2)]
            yield hands
            for hand in hands:
                hand.close()


def test_two_rounds_opened_at_once_do_not_pass_one_limit(
    ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked at the sum before either is paid for."""
    together = threading.Barrier(2, timeout=60)
    reserve = Ledger.reserve

    def late(self: Ledger, **given: Any) -> str:
        together.wait()
        return reserve(self, **given)

    monkeypatch.setattr(Ledger, "reserve", late)
    sources = [private(ledger=ledger) for ledger in ledgers]

    def ask(source: dp.Curator) -> bool:
        try:
            opened(
                source,
                protects=OneAnalyst(),
                promise=ONE,
                mechanism=ProfiledMarginals,
                asked=Conjunctions(2),
                limit=TOLD,
            )
        except Exhausted:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(ask, sources)) == [False, True]
    spent = sources[0].analyst_spending
    assert spent.rounds == 1
    assert spent.analyst is not None
    assert spent.analyst.epsilon <= TOLD.epsilon
    assert len(list(sources[0].history())) == 1  # the other one cost nothing
    sources[0].ledger.verify()


class TestUnderReplace:
    """How many rows a table has is public, by one rule: beside others, here or elsewhere."""

    def table(self, rows: int) -> Any:
        frame = {"ward": np.array(["A", "B"] * rows)}
        columns = {"ward": dp.Category(["A", "B"])}
        return dp.table(frame, unit=dp.Replace(dp.Row()), columns=columns, snapshot=str(rows))

    def sizes(self, source: dp.Curator, *names: str) -> list[int]:
        """The number that each table's synopsis adds up to."""
        found = []
        for name in names:
            workload = Workload.marginal(source.universe(name, "ward"), ["ward"])
            release = source.synopsis(
                workload, mechanism=dp.queries.MatrixMechanism, spend=dp.PureDP(epsilon=1)
            )
            found.append(round(float(release.answers(workload).sum())))
        return found

    def test_one_curator_of_two_tables_and_two_of_one_each_take_the_same_numbers(self) -> None:
        given: dict[str, Any] = {"budget": dp.PureDP(epsilon=10), "randomness": Noiseless()}
        one, two = self.table(50), self.table(80)
        both = dp.Curator(one=one, two=two, ledger=Memory(), **given)
        together = self.sizes(both, "one", "two")
        ledger = Memory()
        first = dp.Curator(one=one, ledger=ledger, **given)
        second = dp.Curator(two=two, ledger=ledger, **given)
        assert self.sizes(first, "one") + self.sizes(second, "two") == together == [100, 160]
        assert first.spent == both.spent  # two tables, two prices, in either case
