"""Reserve, release, commit: what is spent, and what is refused."""

import copy
import pickle

import pytest

from discreet.accounting.adaptive.steps import STEPS
from discreet.errors import Exhausted, InvalidParameter
from discreet.ledger import EntryKind, Ledger, LedgerError, Memory
from tests.ledger.examples import LIMIT, released, reserve, terms
from tests.ledger.test_sub_account import draw, granted


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.entries()]


def test_a_new_ledger_has_spent_nothing(ledger: Ledger) -> None:
    assert ledger.spent() == (0, 0)
    assert ledger.limit() == ledger.remaining() == LIMIT
    assert kinds(ledger) == ["opened"]


def test_a_reservation_is_spent_before_anything_is_released(ledger: Ledger) -> None:
    reserve(ledger, (3, 1))
    assert ledger.spent() == (3, 1)
    assert ledger.remaining() == (7, 3)


def test_an_unfinished_reservation_counts_as_spent(ledger: Ledger) -> None:
    reserve(ledger, (10, 0))
    with pytest.raises(Exhausted) as refusal:
        reserve(ledger, (1, 0))
    assert refusal.value.code == "budget_exhausted"


def test_a_failed_reservation_stays_spent(ledger: Ledger) -> None:
    ledger.fail(reserve(ledger, (10, 0)), "engine_failed")
    assert ledger.remaining() == (0, 4)


def test_committing_costs_nothing_more(ledger: Ledger) -> None:
    released(ledger, 17, charge=(4, 2))
    assert ledger.spent() == (4, 2)


@pytest.mark.parametrize("charge", [(11, 0), (0, 5), (11, 5)])
def test_a_charge_that_exceeds_any_component_writes_nothing(
    ledger: Ledger, charge: tuple[int, int]
) -> None:
    before = ledger.checkpoint()
    with pytest.raises(Exhausted):
        reserve(ledger, charge)
    with pytest.raises(Exhausted):
        ledger.record(charge=charge, event="{}", detail={})
    assert ledger.checkpoint() == before
    assert ledger.spent() == (0, 0)


def test_the_limit_may_be_spent_to_the_last_step(ledger: Ledger) -> None:
    for _ in range(10):
        reserve(ledger, (1, 0))
    reserve(ledger, (0, 4))
    assert ledger.remaining() == (0, 0)
    reserve(ledger, (0, 0))


def test_a_refusal_shows_charge_and_remainder_in_units() -> None:
    ledger = Memory()
    ledger.open(terms(limit=(STEPS, 0)))
    with pytest.raises(
        Exhausted, match=r"remains: 1 with delta 0.*Got 'a charge of 2 with delta 0'"
    ):
        reserve(ledger, (2 * STEPS, 0))
    with pytest.raises(Exhausted, match="rounding error"):
        reserve(ledger, (STEPS + 1, 0))


def test_spending_done_elsewhere_enters_at_once(ledger: Ledger) -> None:
    ledger.record(charge=(2, 1), event="{}", detail={"where": "an earlier project"})
    assert ledger.spent() == (2, 1)
    assert kinds(ledger) == ["opened", "recorded"]


@pytest.mark.parametrize("charge", [(1,), (1, 0, 0), (), (-1, 0), (0.5, 0), (True, 0), [1, 0], 1])
def test_charges_are_whole_steps_one_for_each_component(ledger: Ledger, charge: object) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        reserve(ledger, charge)  # type: ignore[arg-type]
    assert refusal.value.code == "not_amounts"
    assert kinds(ledger) == ["opened"]


class TestReservations:
    def test_are_committed_once(self, ledger: Ledger) -> None:
        name = released(ledger, 1)
        for again in (ledger.commit, ledger.answer):
            with pytest.raises(InvalidParameter) as refusal:
                again(name, {"value": 2})
            assert refusal.value.code == "reservation_closed"
        with pytest.raises(InvalidParameter) as refusal:
            ledger.fail(name, "engine_failed")
        assert refusal.value.code == "reservation_closed"
        assert kinds(ledger) == ["opened", "reserved", "committed"]

    def test_that_failed_cannot_be_committed(self, ledger: Ledger) -> None:
        name = reserve(ledger)
        ledger.fail(name, "engine_failed")
        with pytest.raises(InvalidParameter) as refusal:
            ledger.commit(name, {})
        assert refusal.value.code == "reservation_closed"

    def test_must_exist(self, ledger: Ledger) -> None:
        first = next(ledger.entries()).id
        for name in ("", "0" * 32, first):
            with pytest.raises(InvalidParameter) as refusal:
                ledger.commit(name, {})
            assert refusal.value.code == "reservation_unknown"

    def test_have_random_ids(self, ledger: Ledger) -> None:
        names = {reserve(ledger, (0, 0)) for _ in range(20)}
        assert len(names) == 20
        assert {len(name) for name in names} == {32}


class TestConversations:
    def test_keep_every_answer_in_order(self, ledger: Ledger) -> None:
        name, other = reserve(ledger), reserve(ledger)
        for step in range(3):
            ledger.answer(name, {"step": step})
            ledger.answer(other, {"step": -step})
        assert ledger.answers(name) == [{"step": 0}, {"step": 1}, {"step": 2}]
        assert ledger.spent() == (2, 0)

    def test_end_with_their_commitment(self, ledger: Ledger) -> None:
        name = reserve(ledger)
        ledger.answer(name, {"above": False})
        ledger.commit(name, {"steps": 1})
        assert ledger.answers(name) == [{"above": False}]
        assert ledger.find(analyst="ann", query="count") == {"steps": 1}


class TestCopies:
    def test_are_refused(self, ledger: Ledger) -> None:
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(LedgerError) as refusal:
                attempt(ledger)
            assert refusal.value.code == "ledger_not_copied"

    def test_are_refused_for_the_key_too(self, ledger: Ledger) -> None:
        with pytest.raises(LedgerError):
            pickle.dumps(ledger.chain.owner())


def test_a_closed_ledger_is_of_no_more_use(ledger: Ledger) -> None:
    ledger.close()
    with pytest.raises(LedgerError) as refusal:
        ledger.spent()
    assert refusal.value.code == "ledger_closed"
    ledger.close()


def test_every_operation_leaves_a_ledger_that_verifies(ledger: Ledger) -> None:
    released(ledger, 1)
    name = reserve(ledger)
    ledger.answer(name, {})
    ledger.session_log(name).keep({"hidden": 1})
    ledger.fail(name, "engine_failed")
    ledger.record(charge=(1, 1), event="{}", detail={})
    ledger.snapshot("today")
    ledger.amend(limit=(20, 4), budget={"epsilon": "2"}, reason="approved")
    draw(granted(ledger))
    ledger.verify()
    ledger.verify(ledger.checkpoint())
    assert set(kinds(ledger)) == {kind.value for kind in EntryKind} - {"restored"}
    numbers = [entry.number for entry in ledger.entries()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_long_history_is_read_page_by_page(ledger: Ledger) -> None:
    for _ in range(600):
        reserve(ledger, (0, 0))
    assert [entry.number for entry in ledger.entries()] == list(range(1, 602))
    ledger.verify()
