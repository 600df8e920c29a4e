"""What is charged through the wire: an executed question, once, and nothing else."""

import psycopg
import pytest

from discreet.core.guarantee import PureDP
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.opened_wire import PRICED, OpenedWire, spent
from tests.server.wire.raw_client import (
    SYNC,
    bind,
    describe,
    error_of,
    execute,
    letters,
    parse,
    query,
)

pytestmark = pytest.mark.xdist_group("server")

COUNT = f"{PRICED} COUNT(*) AS n FROM visits WHERE age > "


@pytest.fixture(scope="module")
def bob(running_service: RunningService) -> ApiUser:
    return running_service.analyst(PureDP(epsilon=50))


def test_parse_bind_and_describe_are_free_and_execute_charges_once(
    wire: OpenedWire, bob: ApiUser
) -> None:
    before = spent(bob)
    with wire.entered(bob) as client:
        prepared = client.ask(parse(f"{COUNT} 1", "q") + describe(b"S", "q") + SYNC)
        assert letters(prepared) == "1tTZ"
        described = client.ask(bind("", "q") + describe() + SYNC)
        assert letters(described) == "2TZ"
        assert spent(bob) == before
        first = client.ask(bind("", "q") + describe() + execute() + SYNC)
        assert letters(first).replace("N", "") == "2TDCZ"
        assert letters(first).endswith("DNCZ") or letters(first).endswith("NNCZ"), "and notices"
        assert spent(bob) == pytest.approx(before + 0.5)
        again = client.ask(bind("", "q") + execute() + execute() + SYNC)
        assert letters(again).replace("N", "") == "2DCCZ", "a portal gives its rows once"
        assert letters(again).endswith("NCCZ"), "and its notices too"
        assert [body for letter, body in again if letter == b"D"] == [
            body for letter, body in first if letter == b"D"
        ], "the stored release"
    assert spent(bob) == pytest.approx(before + 0.5)


def test_a_retry_on_another_connection_is_the_stored_release(
    wire: OpenedWire, bob: ApiUser
) -> None:
    before = spent(bob)
    with wire.entered(bob) as client:
        client.send(query(f"{COUNT} 2"))  # and gone before the answer
    answers = []
    for _ in range(2):
        with wire.entered(bob) as client:
            answers.append(client.ask(query(f"{COUNT} 2")))
    assert answers[0] == answers[1]
    assert spent(bob) == pytest.approx(before + 0.5)


def test_what_only_prepares_or_looks_is_free(wire: OpenedWire, bob: ApiUser) -> None:
    before = spent(bob)
    with psycopg.connect(wire.dsn(bob), autocommit=True) as connection:
        for text in (
            *("BEGIN", "SHOW search_path", "SHOW ALL", "SET statement_timeout = 5", "COMMIT"),
            *("SET discreet.purpose TO 'planning'", "SHOW discreet.purpose", "RESET ALL"),
            *("SELECT 1", "SELECT current_user, version()", "DEALLOCATE ALL", "DISCARD ALL"),
            "SELECT count(*) FROM information_schema.columns",
            f"EXPLAIN {COUNT} 3",
            f"{COUNT} 3 LIMIT 0",
            f"/* {COUNT} 3 */ SELECT '{PRICED}'",
        ):
            connection.execute(text)
    assert spent(bob) == before


def test_rollback_refunds_nothing(wire: OpenedWire, bob: ApiUser) -> None:
    before = spent(bob)
    with psycopg.connect(wire.dsn(bob)) as connection:
        told: list[str] = []
        connection.execute("SET client_min_messages = warning")
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        first = connection.execute(f"{COUNT} 4").fetchall()
        connection.rollback()
        assert len(told) == 1
        assert "stays charged" in told[0]
        assert connection.execute(f"{COUNT} 4").fetchall() == first
        connection.rollback()
    assert spent(bob) == pytest.approx(before + 0.5)


def test_after_an_error_nothing_is_executed_before_sync(wire: OpenedWire, bob: ApiUser) -> None:
    before = spent(bob)
    with wire.entered(bob) as client:
        failed = client.ask(
            parse("SELECT * FROM visits") + bind() + execute() + parse(f"{COUNT} 5") + bind()
            + execute() + SYNC
        )  # fmt: skip
        assert letters(failed) == "12EZ"
        assert error_of(failed)["C"] == "42601"
        several = client.ask(query(f"SELECT 1; SELECT * FROM visits; {COUNT} 5"))
        assert letters(several) == "TDCEZ"
    assert spent(bob) == before


def test_a_refusal_is_sent_before_sync(wire: OpenedWire, bob: ApiUser) -> None:
    with wire.entered(bob) as client:
        client.sock.settimeout(20)
        client.send(parse("SELECT 1; SELECT 2"))
        assert client.read()[0] == b"E", "some clients wait for it before they send Sync"
        assert letters(client.ask(SYNC)) == "Z"


def test_a_failed_transaction_executes_nothing_but_its_end(wire: OpenedWire, bob: ApiUser) -> None:
    before = spent(bob)
    with wire.entered(bob) as client:
        assert client.ask(query("BEGIN; SELECT * FROM visits"))[-1] == (b"Z", b"E")
        assert error_of(client.ask(query(f"{COUNT} 6")))["C"] == "25P02"
        assert client.ask(query("COMMIT"))[0] == (b"C", b"ROLLBACK\0")
        assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")
    assert spent(bob) == before


def test_a_question_that_costs_too_much_is_refused(
    wire: OpenedWire, running_service: RunningService
) -> None:
    carl = running_service.analyst(PureDP(epsilon=0.6))
    running_service.grant(carl, PureDP(epsilon=0.5), "research")
    with psycopg.connect(wire.dsn(carl), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="account_unclear"):
            connection.execute(f"{COUNT} 7")
        connection.execute("SET discreet.purpose = 'research'")
        connection.execute(f"{COUNT} 7")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="budget_exhausted"):
            connection.execute(f"{COUNT} 8")
    options = "-c discreet.purpose=planning"
    with psycopg.connect(wire.dsn(carl, options=options), autocommit=True) as connection:
        connection.execute(f"{COUNT} 7")
