"""The first entry fixes whose privacy, which budget, in which currency."""

from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InvalidParameter, Mismatch
from discreet.ledger import Ledger, Memory, SQLite, ledger_at
from tests.ledger.examples import LIMIT, reserve, terms


def test_opening_again_on_the_same_terms_goes_on_where_it_was(ledger: Ledger) -> None:
    reserve(ledger, (3, 0))
    assert ledger.open(terms()) == terms()
    assert ledger.spent() == (3, 0)


def test_terms_outlive_the_process(place: Path) -> None:
    with SQLite(place) as first:
        first.open(terms())
        reserve(first, (3, 0))
    with SQLite(place) as second:
        assert second.open(terms()) == terms()
        assert second.spent() == (3, 0)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"unit": "Person('id')"}, "unit"),
        ({"filter": "rho"}, "filter"),
        ({"limit": (10,)}, "filter"),
        ({"budget": {"epsilon": "100"}}, "budget"),
    ],
)
def test_other_terms_are_refused_by_name(
    ledger: Ledger, changes: dict[str, Any], part: str
) -> None:
    with pytest.raises(Mismatch, match=f"the {part} that the ledger") as refusal:
        ledger.open(terms(**changes))
    assert refusal.value.code == "ledger_terms"
    assert ledger.limit() == LIMIT


def test_the_written_limit_holds_not_the_one_computed_anew(ledger: Ledger) -> None:
    assert ledger.open(terms(limit=(11, 4))).limit == LIMIT


class TestAmendments:
    def test_enlarge_the_limit_for_a_reason(self, ledger: Ledger) -> None:
        reserve(ledger, (10, 0))
        ledger.amend(limit=(12, 4), budget={"epsilon": "1.2"}, reason="ethics board, 3 May")
        reserve(ledger, (2, 0))
        assert ledger.remaining() == (0, 4)
        *_, amended, _ = ledger.entries()
        assert amended.body == {"budget": {"epsilon": "1.2"}, "reason": "ethics board, 3 May"}

    def test_are_in_force_for_the_old_and_the_new_budget(self, ledger: Ledger) -> None:
        for limit in ((12, 4), (15, 4)):
            ledger.amend(limit=limit, budget={"epsilon": limit[0]}, reason="more")
        latest = terms(limit=(15, 4), budget={"epsilon": 15})
        assert ledger.open(terms()) == latest
        assert ledger.open(latest) == latest
        with pytest.raises(Mismatch):
            ledger.open(terms(budget={"epsilon": 12}))

    def test_may_lower_the_limit_but_not_below_what_is_spent(self, ledger: Ledger) -> None:
        reserve(ledger, (5, 1))
        ledger.amend(limit=(5, 1), budget={}, reason="enough")
        assert ledger.remaining() == (0, 0)
        with pytest.raises(InvalidParameter) as refusal:
            ledger.amend(limit=(4, 1), budget={}, reason="too little")
        assert refusal.value.code == "limit_below_spent"

    def test_keep_the_currency(self, ledger: Ledger) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            ledger.amend(limit=(100,), budget={}, reason="another currency")
        assert refusal.value.code == "not_amounts"


def test_terms_are_plain(place: Path) -> None:
    for changes in ({"budget": {"epsilon": float("nan")}}, {"budget": {1: 2}}, {"budget": [1]}):
        with pytest.raises(InvalidParameter) as refusal:
            terms(**changes)
        assert refusal.value.code == "not_plain_json"
    with pytest.raises(InvalidParameter) as refusal:
        terms(unit=3)
    assert refusal.value.code == "not_text"
    with pytest.raises(InvalidParameter) as refusal:
        terms(limit=(1 << 9000, 0))
    assert refusal.value.code == "not_amounts"


def test_terms_keep_their_own_copy_of_the_budget() -> None:
    budget: dict[str, object] = {"epsilon": [1]}
    kept = terms(budget=budget)
    budget["epsilon"] = 100
    assert kept.budget == {"epsilon": [1]}


class TestResolution:
    def test_a_path_is_a_file(self, place: Path) -> None:
        for value in (place, str(place)):
            found = ledger_at(value)
            assert isinstance(found, SQLite)
            assert found.path == place.resolve()
        assert not place.exists()

    def test_a_ledger_is_itself(self) -> None:
        memory = Memory()
        assert ledger_at(memory) is memory
        assert not memory.durable

    @pytest.mark.parametrize("value", [None, "", 3, b"path"])
    def test_nothing_else_is(self, value: object) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            ledger_at(value)  # type: ignore[arg-type]
        assert refusal.value.code == "ledger_expected"
