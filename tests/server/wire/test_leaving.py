"""Through the wire answers leave at the quantum too; a question can be given up, and is told so."""

import struct
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from discreet.server.settings import WireSettings
from tests.server.running_service import SERVICE, running
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


def test_answers_leave_at_the_quantum_and_columns_at_once(padded: OpenedWire) -> None:
    ann = padded.service.analyst()
    with psycopg.connect(padded.dsn(ann), autocommit=True) as connection:
        ask = f"{PRICED} COUNT(*) AS n FROM visits"
        connection.execute(f"{ask} LIMIT 0")
        began = time.monotonic()
        connection.execute(f"{ask} LIMIT 0")
        assert time.monotonic() - began < QUANTUM / 2
        began = time.monotonic()
        first = connection.execute(ask).fetchall()
        took = time.monotonic() - began
        slot = min((QUANTUM * 2**k for k in range(6)), key=lambda each: abs(took - each))
        assert -0.02 < took - slot < 0.3

        # Given up while it waits: charged, and told so; the next to ask is told the stored answer.
        stopping = threading.Timer(QUANTUM / 3, connection.cancel_safe)
        stopping.start()
        with pytest.raises(psycopg.errors.QueryCanceled, match="job_cancelled"):
            connection.execute(f"{ask} WHERE age > 3")
        stopping.join()
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
