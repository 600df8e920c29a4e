"""Sharing a budget: children, partitions and blocks of time below a session.

Source: contract, "Units and neighbours", "What may be seen"; 004d:F16, F17. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from discreet.core.guarantee import Guarantee
from discreet.curator.session import Session

if TYPE_CHECKING:
    from discreet.curator.blocks import Blocks
    from discreet.curator.children import Child
    from discreet.curator.partition import Partition


class Sharing(Session):
    """A session that can set parts of its budget aside."""

    def child(self, name: str, *, budget: Guarantee) -> Child:
        """A session with a budget of its own, set aside here in full, now and for ever.

        The same name with the same budget opens the same child again, with what it has spent.
        """
        from discreet.curator.children import open_child  # a child is a session itself

        return open_child(self, name, budget)

    def partition(
        self,
        table: str,
        *,
        by: str,
        budget: Guarantee,
        k: int | None = None,
        name: str | None = None,
    ) -> Partition:
        """Parts of a table by a public list of keys, each with ``budget``, paid for once.

        ``by`` is what GROUP BY would take. Under ``Person`` ``k`` is needed: each person is kept
        in at most so many parts, and this session pays ``k`` budgets. Under ``Replace``, twice.
        It is made for one snapshot of the data; ``name`` tells several of a kind apart.
        """
        from discreet.curator.partition import open_partition

        return open_partition(self, table, by=by, budget=budget, k=k, name=name)

    def blocks(
        self,
        table: str,
        *,
        by: str,
        budget: Guarantee,
        k: int | None = None,
        settled: date | None = None,
        name: str | None = None,
    ) -> Blocks:
        """Blocks of time of a growing table, each with ``budget``, paid for once.

        ``by`` is ``date_trunc('month', day)`` or the like. Under ``Person``, ``k``, ``settled``
        and ``name`` are needed: each person counts in their first ``k`` blocks, rows before the
        day ``settled`` are all there and stay as they are, and the name stands for this table.
        """
        from discreet.curator.blocks import open_blocks

        return open_blocks(self, table, by=by, budget=budget, k=k, settled=settled, name=name)
