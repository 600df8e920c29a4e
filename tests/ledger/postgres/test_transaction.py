"""Connections that break: an operation learns how it ended, or says that it could not."""

import logging
import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from discreet.errors import InvalidParameter
from discreet.ledger import (
    EntryKind,
    LedgerError,
    PostgreSQL,
    Role,
    SubAccount,
    SubAccountGrant,
    waiting,
)
from tests import postgres_server
from tests.ledger.examples import KEY, released, reserve, terms
from tests.postgres_server import PASSWORD, Server
from tests.tcp_proxy import Fault, Proxy, late_request, lost_reply, lost_request, orphaned

pytestmark = postgres_server.needed

COMMIT = b"COMMIT\x00"  # the statement as a whole: BEGIN names READ COMMITTED


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(LedgerError) as refusal:
        attempt()
    return refusal.value.code


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(postgres_server.shared().port) as made:
        yield made


@pytest.fixture
def far(proxy: Proxy, conninfo: str) -> Iterator[PostgreSQL]:
    """A ledger reached through a network that can fail, started."""
    from psycopg.conninfo import make_conninfo

    through = make_conninfo(conninfo, port=proxy.port)
    with PostgreSQL(through, name="visits", key=KEY) as ledger:
        ledger.open(terms())
        yield ledger


class TestABrokenCommit:
    """The connection breaks when COMMIT is sent: the ledger finds out, and charges once."""

    @pytest.mark.parametrize("fault", [lost_request, lost_reply, late_request, orphaned])
    def test_of_a_charge_is_settled(self, far: PostgreSQL, proxy: Proxy, fault: Fault) -> None:
        proxy.faults.append((COMMIT, fault))
        name = reserve(far, (3, 0))
        assert not proxy.faults
        assert far.spent() == (3, 0)
        far.commit(name, {"value": 1})
        far.verify()

    @pytest.mark.parametrize("fault", [lost_request, lost_reply, late_request, orphaned])
    def test_of_a_release_is_settled(self, far: PostgreSQL, proxy: Proxy, fault: Fault) -> None:
        name = reserve(far)
        proxy.faults.append((COMMIT, fault))
        far.commit(name, {"value": 17})
        assert far.find(analyst="ann", query="count") == {"value": 17}
        assert [e.kind for e in far.entries()] == [
            EntryKind.OPENED,
            EntryKind.RESERVED,
            EntryKind.COMMITTED,
        ]

    @pytest.mark.parametrize("fault", [lost_request, lost_reply, late_request, orphaned])
    def test_of_a_beginning_can_be_repeated(
        self, conninfo: str, proxy: Proxy, fault: Fault
    ) -> None:
        from psycopg.conninfo import make_conninfo

        through = make_conninfo(conninfo, port=proxy.port)
        with PostgreSQL(through, name="visits", key=KEY) as ledger:
            proxy.faults.append((COMMIT, lambda pair, data: True))  # of looking whether it is there
            proxy.faults.append((COMMIT, fault))
            with suppress(LedgerError):  # where it says that nothing was written
                ledger.open(terms())
            assert not proxy.faults
            ledger.open(terms())
            ledger.verify()
            assert ledger.checkpoint().number == 1

    def test_that_nobody_can_clear_up_shows_no_answer(
        self, far: PostgreSQL, proxy: Proxy, conninfo: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(waiting, "PATIENCE", 0.3)
        name = reserve(far)

        def vanish(pair: object, data: bytes) -> bool:
            proxy.refusing = True
            return lost_reply(pair, data)  # type: ignore[arg-type]

        proxy.faults.append((COMMIT, vanish))
        assert code_of(lambda: far.commit(name, {"value": 17})) == "ledger_outcome_unknown"
        assert code_of(far.spent) == "ledger_unreachable"
        proxy.refusing = False
        assert far.find(analyst="ann", query="count") == {"value": 17}  # it had arrived
        assert code_of_closed(far, name) == "reservation_closed"

    def test_whose_transaction_will_not_end_is_unknown(
        self, far: PostgreSQL, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The lost backend cannot be ended, and holds the lock: absence would prove nothing."""
        from discreet.ledger.postgres import transaction

        monkeypatch.setattr(waiting, "PATIENCE", 0.3)
        monkeypatch.setattr(transaction, "_END", "SELECT %s::bigint, %s::timestamptz")
        proxy.faults.append((COMMIT, orphaned))
        assert code_of(lambda: reserve(far)) == "ledger_outcome_unknown"

    def test_taken_for_undone_by_looking_without_the_lock_is_caught(
        self, far: PostgreSQL, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The broken twin: it looks at once, and repeats a charge that arrives late."""
        from discreet.ledger.postgres import schema as tables
        from discreet.ledger.postgres import transaction

        monkeypatch.setattr(transaction, "_END", "SELECT %s::bigint, %s::timestamptz")
        monkeypatch.setattr(transaction, "_ALONE", "SELECT %s")
        monkeypatch.setattr(tables, "lock", lambda connection: None)
        # Later than a busy machine needs to look; the repeated charge waits for it.
        proxy.faults.append((COMMIT, partial(late_request, seconds=3.0)))

        def spend_and_look() -> None:
            reserve(far)
            far.verify()

        assert code_of(spend_and_look) == "ledger_damaged"


def code_of_closed(ledger: PostgreSQL, name: str) -> str:
    with pytest.raises(InvalidParameter) as refusal:
        ledger.commit(name, {"value": 18})
    return refusal.value.code


def child(ledger: PostgreSQL, name: str = "team") -> SubAccount:
    """A budget within the budget."""
    grant = SubAccountGrant(
        name=name,
        role=Role.CHILD,
        charge=(4, 0),
        limit=(4, 0),
        filter="epsilon+delta",
        budget={},
        detail={},
    )
    return SubAccount.opened(ledger, "", grant)


EVERYWHERE = [COMMIT, b"FOR UPDATE", b"INSERT INTO discreet_ledger.entries"]
FAULTS = [lost_request, lost_reply, orphaned]


class TestEveryWriteIsRepeated:
    """A connection that breaks anywhere in it leaves one entry of each kind, not none or two."""

    @pytest.mark.parametrize("where", EVERYWHERE)
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_grant(self, far: PostgreSQL, proxy: Proxy, where: bytes, fault: Fault) -> None:
        if where == COMMIT:
            proxy.faults.append((COMMIT, lambda pair, data: True))  # of looking for the grant
        proxy.faults.append((where, fault))
        assert child(far).remaining() == (4, 0)
        assert not proxy.faults
        assert far.spent() == (4, 0)
        assert [e.kind for e in far.entries()] == [EntryKind.OPENED, EntryKind.GRANTED]
        far.verify()

    @pytest.mark.parametrize("where", EVERYWHERE)
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_drawing(self, far: PostgreSQL, proxy: Proxy, where: bytes, fault: Fault) -> None:
        team = child(far)
        proxy.faults.append((where, fault))
        name = reserve(team, (3, 0))
        assert not proxy.faults
        assert team.spent() == (3, 0)
        team.commit(name, {"value": 1})
        assert team.find(analyst="ann", query="count") == {"value": 1}
        kinds = [e.kind for e in far.entries()]
        assert kinds[2:] == [EntryKind.DRAWN, EntryKind.RESERVED, EntryKind.COMMITTED]
        far.verify()

    @pytest.mark.parametrize("where", EVERYWHERE)
    def test_an_amendment(self, far: PostgreSQL, proxy: Proxy, where: bytes) -> None:
        proxy.faults.append((where, lost_request))
        far.amend(limit=(20, 4), budget={}, reason="more")
        assert not proxy.faults
        assert far.limit() == (20, 4)
        assert far.checkpoint().number == 2

    @pytest.mark.parametrize("where", EVERYWHERE)
    def test_a_snapshot(self, far: PostgreSQL, proxy: Proxy, where: bytes) -> None:
        proxy.faults.append((where, lost_request))
        name = far.snapshot("people, May")
        assert not proxy.faults
        assert far.snapshot("people, May") == name
        assert far.checkpoint().number == 2


class TestABrokenConnection:
    def test_between_operations_is_not_noticed(self, far: PostgreSQL, proxy: Proxy) -> None:
        reserve(far)
        proxy.cut_all()
        reserve(far)
        proxy.cut_all()
        assert far.spent() == (2, 0)

    def test_ended_by_the_server_is_not_noticed(self, far: PostgreSQL, conninfo: str) -> None:
        from psycopg.conninfo import conninfo_to_dict

        reserve(far)
        assert postgres_server.shared().cut(str(conninfo_to_dict(conninfo)["dbname"])) == 1
        reserve(far)
        assert far.spent() == (2, 0)

    @pytest.mark.parametrize("where", [b"FOR UPDATE", b"INSERT INTO discreet_ledger.entries"])
    @pytest.mark.parametrize("fault", [lost_request, lost_reply, orphaned])
    def test_in_the_middle_repeats_the_charge_from_its_beginning(
        self, far: PostgreSQL, proxy: Proxy, where: bytes, fault: Fault
    ) -> None:
        proxy.faults.append((where, fault))
        reserve(far, (3, 0))
        assert not proxy.faults
        assert far.spent() == (3, 0)
        assert far.checkpoint().number == 2

    def test_in_the_middle_of_reading_is_an_error_in_words(
        self, far: PostgreSQL, proxy: Proxy
    ) -> None:
        proxy.faults.append((b"AND number >", lost_request))
        assert code_of(far.spent) == "ledger_unreachable"
        assert far.spent() == (0, 0)


class TestAServer:
    def test_that_crashes_is_waited_for_and_has_lost_nothing(self) -> None:
        with Server() as server, PostgreSQL(server.conninfo(), name="visits", key=KEY) as ledger:
            ledger.open(terms())
            released(ledger, 1)
            checkpoint = ledger.checkpoint()
            server.kill()
            server.start()
            released(ledger, 2)
            assert ledger.spent() == (2, 0)
            ledger.verify(checkpoint)

    def test_that_was_never_met_fails_at_once(self) -> None:
        ledger = PostgreSQL("host=127.0.0.1 port=1 dbname=x", name="visits", key=KEY)
        said = r"127\.0\.0\.1:1/x: nobody listens there"
        with ledger, pytest.raises(LedgerError, match=said):
            ledger.open(terms())

    def test_with_wrong_credentials_says_so_without_repeating_them(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        wrong = "swordfish"
        for change in ({"password": wrong}, {"user": wrong}, {"dbname": wrong}):
            conninfo = postgres_server.shared().conninfo("postgres", **change)
            ledger = PostgreSQL(conninfo, name="visits", key=KEY)
            with ledger, pytest.raises(LedgerError) as refusal:
                ledger.open(terms())
            assert refusal.value.code == "ledger_unreachable"
            whole = "".join(traceback.format_exception(refusal.value))
            assert PASSWORD not in whole + repr(ledger) + str(vars(ledger)) + caplog.text
            if "dbname" not in change:
                assert wrong not in whole

    @pytest.mark.parametrize(
        "conninfo",
        [
            "swordfish",
            "postgresql://ann:swordfish@db:99999999999/x",
            "host=localhost swordfish",
            "password='swordfish",
            "",
            7,
        ],
    )
    def test_whose_address_cannot_be_read_is_not_repeated(self, conninfo: object) -> None:
        with pytest.raises((InvalidParameter, LedgerError)) as refusal:
            PostgreSQL(conninfo, name="visits", key=KEY).open(terms())  # type: ignore[arg-type]
        assert refusal.value.code in {"not_a_conninfo", "ledger_unreachable"}
        assert "swordfish" not in "".join(traceback.format_exception(refusal.value))

    def test_a_password_with_an_at_sign_is_not_taken_for_a_host(self) -> None:
        ledger = PostgreSQL("postgresql://ann:sword@fish@db/x", name="visits", key=KEY)
        with ledger, pytest.raises(LedgerError) as refusal:
            ledger.open(terms())
        assert "fish" not in repr(ledger) + "".join(traceback.format_exception(refusal.value))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # threads, from Python 3.12
class TestForks:
    def test_a_child_connects_anew(self, served: PostgreSQL) -> None:
        reserve(served, (1, 0))
        child = multiprocessing.get_context("fork").Process(target=reserve, args=(served, (2, 0)))
        child.start()
        reserve(served, (3, 0))
        child.join(60)
        assert child.exitcode == 0
        reserve(served, (1, 0))
        assert served.spent() == (7, 0)
        served.verify()

    def test_a_fork_waits_for_a_transaction_under_way(self, served: PostgreSQL) -> None:
        entered, leave = threading.Event(), threading.Event()
        append = served.chain.store.append

        def slow(entry: object) -> None:
            append(entry)  # type: ignore[arg-type]
            entered.set()
            leave.wait(0.3)

        served.chain.store.append = slow  # type: ignore[method-assign]
        writer = threading.Thread(target=reserve, args=(served, (1, 0)))
        writer.start()
        entered.wait(10)
        child = multiprocessing.get_context("fork").Process(target=reserve, args=(served, (2, 0)))
        child.start()
        child.join(60)
        writer.join(60)
        assert child.exitcode == 0
        assert served.spent() == (3, 0)
        served.verify()


def test_a_path_that_looks_like_a_server_is_not_made_a_file(tmp_path: Path) -> None:
    from discreet.ledger import ledger_at

    with pytest.raises(InvalidParameter) as refusal:
        ledger_at("postgresql://ann:swordfish@db/x")
    assert refusal.value.code == "ledger_key_needed"
    assert "swordfish" not in str(refusal.value)
