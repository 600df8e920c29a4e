"""Through the wire answers leave at the quantum too; a question can be given up, and is told so."""

import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from discreet.core.guarantee import PureDP
from discreet.server.settings import WireSettings
from tests.server.running_service import SERVICE, ApiUser, running
from tests.server.wire.opened_wire import PRICED, OpenedWire, opened_wire, spent
from tests.server.wire.raw_client import RawClient, error_of, letters, query

pytestmark = pytest.mark.xdist_group("server")

QUANTUM = 0.6
APPROVAL = "\n[service.approval]\nepsilon = 0.9\n"


@pytest.fixture(scope="module")
def padded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedWire]:
    service = (
        SERVICE.replace('quantum = "off"', f"quantum = {QUANTUM}\nstep = 2\noverruns = 50")
        + APPROVAL
    )
    with (
        running(tmp_path_factory.mktemp("padded"), service=service) as made,
        opened_wire(made, WireSettings(port=0)) as wire,
    ):
        yield wire


def _seconds(connection: psycopg.Connection[Any], text: str) -> float:
    began = time.monotonic()
    connection.execute(text)
    return time.monotonic() - began


def _code_after_cancel(
    padded: OpenedWire, ann: ApiUser, connection: psycopg.Connection[Any], text: str
) -> str:
    """What a question is told that is given up as soon as it is worked on."""

    def cancel() -> None:
        end = time.monotonic() + 30
        while not padded.service.at_work(ann) and time.monotonic() < end:
            time.sleep(0.01)
        connection.cancel_safe()

    stopping = threading.Thread(target=cancel)
    stopping.start()
    try:
        connection.execute(text)
    except psycopg.errors.QueryCanceled as refusal:
        return str(refusal)
    finally:
        stopping.join()
    return "answered"  # it had left before it was given up


def test_answers_leave_at_the_quantum_and_columns_at_once(padded: OpenedWire) -> None:
    ann = padded.service.analyst(PureDP(epsilon=9))
    with psycopg.connect(padded.dsn(ann), autocommit=True) as connection:
        ask = f"{PRICED} COUNT(*) AS n FROM visits"
        connection.execute(f"{ask} LIMIT 0")
        assert min(_seconds(connection, f"{ask} LIMIT 0") for _ in range(5)) < QUANTUM / 2
        first = connection.execute(ask).fetchall()
        late = []
        for age in range(3):  # a busy machine may hold up some of them, after their moment
            took = _seconds(connection, f"{ask} WHERE age > {age}")
            assert took > QUANTUM - 0.02
            late.append(took % QUANTUM)
        assert min(late) < QUANTUM / 3

        # Given up while it waits: charged, and told so; the next to ask is told the stored answer.
        texts = (f"{ask} WHERE age > {7 + n}" for n in range(5))
        told = (_code_after_cancel(padded, ann, connection, text) for text in texts)
        assert any("job_cancelled" in code for code in told)
        assert connection.execute(ask).fetchall() == first


def test_a_cancel_request_needs_the_secret(padded: OpenedWire) -> None:
    ann = padded.service.analyst()
    with RawClient(padded.port) as client:
        entered = client.enter(ann.person.name, ann.token)
        (key,) = [body for letter, body in entered if letter == b"K"]
        ask = f"{PRICED} COUNT(*) AS n FROM visits"
        client.ask(query(f"{ask} LIMIT 0"))
        client.send(query(ask))
        time.sleep(QUANTUM / 3)
        with RawClient(padded.port) as other:
            wrong = bytes([key[-1] ^ 1])
            other.send(struct.pack("!ii", 16, 80877102) + key[:-1] + wrong)
            assert other.rest() == []
        assert letters(client.until()).replace("N", "") == "TDCZ"


def test_an_expensive_question_waits_for_approval(padded: OpenedWire) -> None:
    ann = padded.service.analyst()
    ask = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) AS n FROM visits"
    with padded.entered(ann) as client:
        told = error_of(client.ask(query(ask)))
        assert (told["C"], told["R"]) == ("55000", "waiting_for_approval")
        assert spent(ann) == 0
        owner = padded.service.owner
        (waiting,) = owner.get("approvals").json()["items"]
        verdict = owner.post(f"approvals/{waiting['approval']}/agree", {})
        assert verdict.status_code == 200, verdict.text
        found = client.ask(query(ask))
        assert found[0][0] == b"T"
    assert spent(ann) == 1
