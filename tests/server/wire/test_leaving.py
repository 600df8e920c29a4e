"""Through the wire answers leave at the quantum too; a question can be given up, and is told so."""

import struct
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from discreet.core.guarantee import PureDP
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


TRIES = 6
"""Of which one has to be on time: what else the machine does delays some, and makes none early."""


def test_answers_leave_at_the_quantum_and_columns_at_once(padded: OpenedWire) -> None:
    ann = padded.service.analyst(PureDP(epsilon=9))
    with psycopg.connect(padded.dsn(ann), autocommit=True) as connection:

        def timed(ask: str) -> float:
            began = time.monotonic()
            connection.execute(ask)
            return time.monotonic() - began

        ask = f"{PRICED} COUNT(*) AS n FROM visits"
        assert min(timed(f"{ask} LIMIT 0") for _ in range(TRIES)) < QUANTUM / 2
        took: list[float] = []
        while len(took) < TRIES and not any(each % QUANTUM < 0.15 for each in took):
            took.append(timed(f"{ask} WHERE age > {len(took)}"))
        assert min(took) > QUANTUM - 0.02
        assert any(each % QUANTUM < 0.15 for each in took), took


def test_a_question_that_is_given_up_while_it_waits_is_told_so(padded: OpenedWire) -> None:
    """It is charged all the same, and who asks what was answered before has the stored answer."""
    ann = padded.service.analyst(PureDP(epsilon=9))
    with psycopg.connect(padded.dsn(ann), autocommit=True) as connection:
        ask = f"{PRICED} COUNT(*) AS n FROM visits"
        first = connection.execute(ask).fetchall()
        told = None
        for number in range(TRIES):  # one that is late finds nothing to stop
            stopping = threading.Timer(QUANTUM / 3, connection.cancel_safe)
            stopping.start()
            try:
                connection.execute(f"{ask} WHERE age > {3 + number}")
            except psycopg.errors.QueryCanceled as error:
                told = str(error)
                break
            finally:
                stopping.join()
        assert told is not None
        assert "job_cancelled" in told
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
