"""A journal that cannot be written tells nothing about the data."""

import numpy as np
import pytest

import discreet as dp
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.journal import Entry, make_threshold_entry
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.linear_query import Region


class FullDisk:
    """A journal that takes entries until its disk is full."""

    def __init__(self) -> None:
        self.lines: list[Entry] = []
        self.full = False

    def entries(self) -> list[Entry]:
        return list(self.lines)

    def write(self, entry: Entry) -> None:
        if self.full:
            message = "disk full"
            raise OSError(message)
        self.lines.append(entry)

    keep = write


def test_a_journal_that_fails_tells_no_yes_from_a_no() -> None:
    # Were only updates written down, the failure would be the yes, and the threshold live on.
    plan = OnlineConstruction(
        MultiplicativeUpdater(2, 0.4), dp.PureDP(epsilon=1), PublicCount(40), 1, cutoff=1
    )
    first = Region((2,), (slice(0, 1),))
    for counts in ([40, 0], [20, 20]):
        journal = FullDisk()
        session = plan.open(np.array(counts), journal)
        session.ask(first)
        if not session.updates_left:
            continue
        journal.full = True
        for _ in range(50):
            with pytest.raises(OSError, match="disk full"):
                session.ask(first)
            session = plan.open(np.array(counts), journal)


def test_a_failed_update_does_not_show_in_what_is_left() -> None:
    plan = OnlineConstruction(
        MultiplicativeUpdater(2, 0.4), dp.PureDP(epsilon=100), PublicCount(4000), 1, cutoff=5
    )
    journal = FullDisk()
    session = plan.open(np.array([4000, 0]), journal)
    session._journal.keep(make_threshold_entry(session._comparisons.begin()))
    journal.full = True
    with pytest.raises(OSError, match="disk full"):  # the data says far with certainty
        session.ask(Region((2,), (slice(0, 1),)))
    assert session.updates_left == 5
