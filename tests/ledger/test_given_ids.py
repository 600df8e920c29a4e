"""Reservations under ids that the caller has: each is charged once, and found by its id."""

from typing import Any

import pytest

from discreet.core.errors import DiscreetError
from discreet.ledger import Ledger, LedgerAccount, Memory
from tests.ledger.examples import terms
from tests.ledger.test_sub_account import granted

ID = "0123456789abcdef" * 2


def asked(query: str = "q", **more: Any) -> dict[str, Any]:
    return {
        "analyst": "ann",
        "query": query,
        "charge": (1, 0),
        "event": "{}",
        "detail": {},
        **more,
    }


@pytest.mark.parametrize("below", [False, True])
def test_one_id_is_charged_once(below: bool) -> None:  # noqa: FBT001
    ledger: Ledger = Memory()
    ledger.open(terms())
    account: LedgerAccount = granted(ledger) if below else ledger
    assert not ledger.was_reserved(ID)
    assert account.reserve(**asked(id=ID)) == ID
    assert ledger.was_reserved(ID)
    before = account.spent()
    for query in ("q", "another"):
        with pytest.raises(DiscreetError, match="reservation_closed"):
            account.reserve(**asked(query, id=ID))
    assert account.spent() == before
    ledger.verify()


@pytest.mark.parametrize("below", [False, True])
def test_what_is_unfinished_is_told_while_nobody_writes_and_may_refuse(
    below: bool,  # noqa: FBT001
) -> None:
    ledger: Ledger = Memory()
    ledger.open(terms())
    account: LedgerAccount = granted(ledger) if below else ledger
    first = account.reserve(**asked())
    account.reserve(**asked("another"))
    assert account.unfinished(analyst="ann", query="q") == [first]
    assert account.unfinished(analyst="bob", query="q") == []
    before = account.spent()

    def refuse() -> None:
        assert account.unfinished(analyst="ann", query="q") == [first]
        raise KeyError

    with pytest.raises(KeyError):
        account.reserve(**asked(admit=refuse))
    assert account.spent() == before
    account.commit(first, {"n": 1})
    assert account.unfinished(analyst="ann", query="q") == []
    second = account.reserve(**asked())
    account.fail(second, "engine_failed")
    assert account.unfinished(analyst="ann", query="q") == []
