"""Clocks that jump, stand still or go backwards: they label entries, and decide nothing.

Order is that of the numbers, which the seals hold; spending, answers and refusals follow from the
entries before, whatever time those say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from discreet.errors import Exhausted
from discreet.ledger import EntryKind, Ledger, LedgerError, SQLite, restore
from discreet.ledger import entry as entries
from tests.ledger.examples import LIMIT, released, reserve
from tests.ledger.test_sub_account import draw, granted

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
CLOCKS: dict[str, Callable[[int], timedelta]] = {
    "stands still": lambda _: timedelta(),
    "goes backwards": lambda count: timedelta(seconds=-count),
    "jumps between reserving and committing": lambda count: timedelta(days=900 * (-1) ** count),
    "is set back at the third entry": lambda count: timedelta(days=-9999 * (count > 2)),
}


@pytest.fixture(params=CLOCKS)
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that entries are given."""
    count = itertools.count()

    def now() -> str:
        time = NOON + CLOCKS[request.param](next(count))
        return time.isoformat(timespec="microseconds")

    monkeypatch.setattr(entries, "now", now)


pytestmark = pytest.mark.usefixtures("clock")


def test_no_spend_is_lost_and_no_limit_passed(ledger: Ledger) -> None:
    """Finished, failed and left unfinished; from a sub-account, too."""
    released(ledger, 5)
    ledger.fail(reserve(ledger, query="fails"), "engine_failed")
    reserve(ledger, query="never ends")
    team = granted(ledger)
    draw(team, (2, 0))
    assert ledger.spent() == (6, 1)
    assert team.spent() == (2, 0)
    for account, charge in ((ledger, (LIMIT[0] - 5, 0)), (team, (2, 0))):
        with pytest.raises(Exhausted):
            account.reserve(analyst="ann", query="x", charge=charge, event="{}", detail={})
    ledger.amend(limit=(20, 4), budget={"epsilon": "2"}, reason="more")
    reserve(ledger, (LIMIT[0] - 5, 0))
    assert ledger.spent() == (11, 1)
    ledger.verify()


def test_entries_stand_as_they_were_written(ledger: Ledger) -> None:
    names = [released(ledger, value, query=f"q{value}") for value in range(3)]
    found = list(ledger.entries())
    assert [entry.number for entry in found] == list(range(1, len(found) + 1))
    assert [entry.id for entry in found if entry.kind is EntryKind.RESERVED] == names
    spent = [entry.spent for entry in found]
    assert spent == sorted(spent)


def test_the_latest_answer_is_the_one_written_last(ledger: Ledger) -> None:
    for value in range(3):
        released(ledger, value)
    assert ledger.find(analyst="ann", query="count") == {"value": 2}


def test_a_checkpoint_is_known_again_whatever_time_it_says(ledger: Ledger) -> None:
    released(ledger, 1)
    checkpoint = ledger.checkpoint()
    released(ledger, 2, query="later")
    ledger.verify(checkpoint)


def test_a_back_up_that_says_it_is_younger_is_not_taken_for_more(
    kept: SQLite, place: Path, tmp_path: Path
) -> None:
    """What a back-up holds is decided by its entries: one with fewer is refused."""
    released(kept, 1)
    kept.backup(tmp_path / "copy")
    reserve(kept, query="after the back-up")
    with pytest.raises(LedgerError, match="restore_refused"):
        restore(tmp_path / "copy", place)
    assert kept.spent() == (2, 0)
    kept.verify()
