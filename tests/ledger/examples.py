"""Terms and reservations for the tests of the ledger."""

from typing import Any

from discreet.ledger import LedgerAccount, LedgerTerms

LIMIT = (10, 4)
KEY = bytes(range(32))


def terms(**changes: Any) -> LedgerTerms:
    chosen: dict[str, Any] = {
        "unit": "Row()",
        "budget": {"notion": "ApproxDP", "epsilon": "1", "delta": "1e-6"},
        "filter": "epsilon+delta",
        "limit": LIMIT,
        "identities": "question/1",
    }
    return LedgerTerms(**{**chosen, **changes})


def reserve(
    ledger: LedgerAccount,
    charge: tuple[int, ...] = (1, 0),
    analyst: str = "ann",
    query: str = "count",
    any_snapshot: str | None = None,
) -> str:
    return ledger.reserve(
        analyst=analyst,
        query=query,
        charge=charge,
        event='{"kind":"laplace"}',
        detail={"rows": [1, 2.5, None]},
        any_snapshot=any_snapshot,
    )


def released(ledger: LedgerAccount, value: object, **how: Any) -> str:
    """A reservation and its commitment."""
    name = reserve(ledger, **how)
    ledger.commit(name, {"value": value})
    return name
