"""Whatever one analyst sends, no step of the event loop grows with it, and others are served.

``benchmarks/neighbours.py`` measures the whole matrix of actions and observations; here are the
largest inputs of every door, one by one, and the longest step that each of them causes.
"""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from discreet.core.guarantee import PureDP
from discreet.server.api.request_pace import MOST_ON_THEIR_WAY
from discreet.server.api.sent_answer import PIECE
from discreet.server.operations.connection_limits import Place
from discreet.server.operations.fair_loop import LoopShares
from discreet.server.operations.http_connection import HttpConnection
from discreet.server.settings import WireSettings
from discreet.server.wire.messages import read_message
from discreet.server.wire.statements import LONGEST
from tests.server.loop_steps import LONGEST as LONGEST_STEP
from tests.server.running_service import ApiUser, RunningService
from tests.server.web_user import WebUser
from tests.server.wire.opened_wire import OpenedWire, opened_wire
from tests.server.wire.raw_client import SYNC, bind, describe, error_of, parse, query

pytestmark = pytest.mark.xdist_group("server")

WIRE = {
    "signs": query("SELECT " + "+" * (LONGEST - 7)),
    "words": query("SELECT " + "a " * (LONGEST // 2 - 4)),
    "statements": query("BEGIN;" * (LONGEST // 6)),
    "few statements": query("BEGIN;" * 100),
    "comments": query("/**/" * (LONGEST // 4)),
    "names": query('SELECT "' + '""' * (LONGEST // 2 - 5) + '"'),
    "command": query("SET x = " + "1," * (LONGEST // 2 - 5)),
    "explained": query("EXPLAIN " + "(" * (LONGEST - 8)),
    "parameters": parse("SELECT " + "$1," * (LONGEST // 3 - 4) + "1") + SYNC,
    "filled in": parse("SELECT " + "$1," * 3000 + "1") + bind() + describe() + SYNC,
    "list": parse("SELECT $1", types=[1016])
    + bind(values=[b"{" + b"1," * (LONGEST // 2 - 5) + b"1}"])
    + SYNC,
    "long list": parse("SELECT $1", types=[1016])
    + bind(values=[b"{" + b"1," * 490_000 + b"1}"])
    + SYNC,
    "values": parse("SELECT 1" + "".join(f",${n}" for n in range(1, 1001)), types=[1700] * 1000)
    + bind(values=[b"1" * 90] * 1000)
    + SYNC,
    "tiny": SYNC * 2000,
}
HTTP = {
    "keys": json.dumps({f"k{n}": 1 for n in range(60_000)}),
    "numbers": "[" + "1," * 490_000 + "1]",
    "lists": '{"sql": [' + "[]," * 330_000 + "[]]}",
    "deep": "[" * 100_000 + "]" * 100_000,
    "long": json.dumps({"sql": "SELECT " + "+" * 99_000, "epsilon": 1}),
    "brackets": "[" * 900_000,
}


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for their turn: what is measured is each step, and not the shares."""
    monkeypatch.setattr(LoopShares, "missing", lambda *_: 0.0)


@pytest.fixture
def doors(running_service: RunningService) -> Iterator[OpenedWire]:
    with opened_wire(running_service, WireSettings(port=0)) as opened:
        yield opened


def stepped(service: RunningService) -> float:
    """The longest step since the last look."""
    found, service.longest_step.seconds = service.longest_step.seconds, 0.0
    return found


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("name", WIRE)
def test_no_message_holds_everybody_up(doors: OpenedWire, name: str) -> None:
    ann = doors.service.person()
    with doors.entered(ann) as client:
        stepped(doors.service)
        client.ask(WIRE[name])
    assert stepped(doors.service) < LONGEST_STEP / 4


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("name", HTTP)
def test_no_body_holds_everybody_up(running_service: RunningService, name: str) -> None:
    ann = running_service.person()
    stepped(running_service)
    headers = {"Content-Type": "application/json"}
    reply = ann.http.post("/api/v1/questions", content=HTTP[name], headers=headers)
    assert 400 <= reply.status_code < 500
    assert reply.json()["code"] != "page_unknown"
    assert stepped(running_service) < LONGEST_STEP


@pytest.fixture(scope="module")
def large_releases(running_service: RunningService) -> tuple[ApiUser, list[str]]:
    """Four releases of an analyst, with ten thousand rows each, which were published."""
    ann = running_service.analyst(PureDP(epsilon=10))
    sql = "SELECT FLOOR(age * 100) AS part, SUM(age) AS total FROM visits"
    found = [ann.ask(f"{sql} WHERE age > {n} GROUP BY part", epsilon=1).json() for n in range(4)]
    return ann, [each["release"] for each in found]


@pytest.mark.usefixtures("unhurried")
def test_no_large_answer_holds_everybody_up(
    running_service: RunningService, large_releases: tuple[ApiUser, list[str]]
) -> None:
    """A publication was read on the event loop: a tenth of a second for each of its releases."""
    (ann, keys), bob, owner = large_releases, running_service.person(), running_service.owner
    stepped(running_service)
    made = owner.post("publications", {"title": "all", "releases": keys}).json()
    assert made["verdict"] == "published"
    read = bob.get(f"publications/{made['publication']}")
    assert [len(each["result"]["rows"]) for each in read.json()["releases"]] == [10_001] * 4
    assert ann.get(f"releases/{keys[0]}").json()["result"]["rows"]
    assert ann.get("history").status_code == 200
    for user, path in ((bob, f"/published/{made['publication']}"), (ann, "/releases")):
        assert WebUser(running_service, user.person.name).get(path).status_code == 200
    assert stepped(running_service) < LONGEST_STEP / 4


def test_answers_that_somebody_does_not_take_are_not_kept_in_memory(
    running_service: RunningService, large_releases: tuple[ApiUser, list[str]]
) -> None:
    """Each connection kept a whole answer, with nobody reading it: megabytes for a line."""
    (ann, keys), bob = large_releases, running_service.person()
    said = f"GET /api/v1/releases/{keys[0]} HTTP/1.1\r\nHost: x\r\n"
    said += f"Authorization: Bearer {ann.token}\r\n\r\n"
    size = len(ann.get(f"releases/{keys[0]}").content)
    many = MOST_ON_THEIR_WAY // size + 5
    with running_service.little_is_sent_ahead():
        clients = half_open(running_service, said.encode(), many, room=2048)
    found = [client.recv(12)[9:] for client in clients]
    assert found.count(b"200") == MOST_ON_THEIR_WAY // size
    assert found.count(b"429") == many - found.count(b"200")
    kept = [each.transport.get_write_buffer_size() for each in running_service.connections()]
    assert 0 < max(kept) < 2 * PIECE
    assert bob.get("me").status_code == ann.get("me").status_code == 200
    for client in clients:
        client.close()
    eventually(lambda: ann.get(f"releases/{keys[0]}").status_code == 200)


def in_tiny_chunks(sender: ApiUser, count: int) -> bytes:
    """A body of so many chunks of one letter, of somebody whom the service has met."""
    assert sender.get("me").status_code == 200
    head = f"POST /x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {sender.token}\r\n"
    return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * count


@pytest.mark.usefixtures("unhurried")
def test_no_body_in_tiny_chunks_holds_everybody_up(
    running_service: RunningService, ann: ApiUser
) -> None:
    """Half a second in one step, which was nobody's: 43 000 chunks are what is taken at once."""
    said = in_tiny_chunks(ann, 43_000) + b"0\r\n\r\n"
    stepped(running_service)
    (client,) = half_open(running_service, said, 1)
    assert client.recv(12) == b"HTTP/1.1 405"
    client.close()
    assert stepped(running_service) < LONGEST_STEP / 4


def test_requests_that_come_ahead_of_answers_are_not_kept_in_memory(
    running_service: RunningService, ann: ApiUser
) -> None:
    """Twenty megabytes in five seconds: each answer made room for more than it took."""
    said = f"GET /health HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ann.token}\r\n\r\n"
    (client,) = half_open(running_service, b"", 1)
    client.settimeout(0.01)
    answers, held, end = 0, 0, time.monotonic() + 30
    unsent = said.encode() * 100_000
    while answers < 60 and time.monotonic() < end:
        with suppress(TimeoutError):
            unsent = unsent[client.send(unsent[:100_000]) :]
        with suppress(TimeoutError):
            answers += client.recv(100_000).count(b"HTTP/1.1 200")
        held = max([held, *map(unread, running_service.connections())])
    client.close()
    assert answers >= 60
    assert 0 < held < 600_000, "what comes at once, and what is taken apart"


def unread(connection: HttpConnection) -> int:
    return len(connection.conn.trailing_data[0]) + len(connection._unread)


def test_reading_messages_counts_towards_the_share_of_who_sends_them(
    doors: OpenedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand values each, for a statement that nobody prepared: only the refusal counted."""
    ann, spent, noted = doors.service.person(), [0.0], doors.server.shares.spend
    many = bind(name="unknown", values=[b"1"] * 1000)
    read = time.thread_time()
    for _ in range(300):
        read_message(many[:1], many[5:])
    read = time.thread_time() - read

    def spend(subject: str, seconds: float) -> None:
        spent[0] += seconds if subject == ann.person.id else 0.0
        noted(subject, seconds)

    with doors.entered(ann) as client:
        monkeypatch.setattr(doors.server.shares, "spend", spend)
        client.ask(many * 300 + SYNC)
    assert spent[0] > read / 2


def test_parameters_do_not_multiply_before_their_length_is_known(doors: OpenedWire) -> None:
    """Three thousand places of one parameter of a tenth of a megabyte made 300 megabytes."""
    long = b"x" * 90_000
    filled = b"\0\0" + (0).to_bytes(2, "big") + (1).to_bytes(2, "big")
    body = filled + len(long).to_bytes(4, "big") + long + (0).to_bytes(2, "big")
    message = b"B" + (len(body) + 4).to_bytes(4, "big") + body
    ann = doors.service.person()
    with doors.entered(ann) as client:
        found = client.ask(parse("SELECT " + "$1," * 3000 + "1") + message + SYNC)
    assert error_of(found)["R"] == "statement_too_long"


def test_length_counts_towards_the_rate(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = running_service.service.runtime.settings
    monkeypatch.setitem(settings.__dict__, "per_minute", 12)
    ann, bob = running_service.analyst(), running_service.analyst()
    long = {"sql": "SELECT " + "+" * 30_000, "epsilon": 1}
    found = [ann.post("previews", long).json()["code"] for _ in range(3)]
    assert "too_many_requests" in found
    assert found[0] != "too_many_requests" or time.time() % 60 < 2, "a new minute may begin"
    assert bob.ask(epsilon=0.1).status_code == 200


def test_who_uses_up_a_share_waits_and_nobody_else_does() -> None:
    now = 0.0
    shares = LoopShares(share=0.1, burst=0.1, clock=lambda: now)
    shares.spend("ann", 0.35)
    assert shares.missing("ann") == pytest.approx(2.5)
    assert shares.missing("bob") == 0
    now = 2.0
    assert shares.missing("ann") == pytest.approx(0.5)
    now = 1000.0
    shares.spend("ann", 0.05)
    assert shares.missing("ann") == 0, "no more than the burst is saved up"


def test_anothers_long_statements_cost_nobody_an_overrun_or_a_refusal(doors: OpenedWire) -> None:
    """The attack that used up another's overruns, in small: five answers during eight of them."""
    service = doors.service
    ann, bob = service.person(), service.analyst(PureDP(epsilon=1))
    bob.ask(epsilon=0.01)
    clients = [doors.entered(ann) for _ in range(8)]
    for client in clients:
        client.send(WIRE["signs"] + WIRE["statements"])
    took = []
    for number in range(1, 6):
        began = time.monotonic()
        assert bob.ask(epsilon=0.01 + number / 1000).status_code == 200
        took.append(time.monotonic() - began)
    for client in clients:
        client.sock.close()
    assert sorted(took)[2] < 1.0, took
    assert bob.get("account").json()["overruns_today"] == 0


def half_open(
    service: RunningService, said: bytes, count: int, *, room: int = 0
) -> list[socket.socket]:
    """Connections that said so much; with little ``room`` for what they are told."""
    host, port = service.address.removeprefix("http://").split(":")
    made = [socket.socket() for _ in range(count)]
    for each in made:
        each.settimeout(10)
        if room:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        each.connect((host, int(port)))
        each.sendall(said)
    return made


@pytest.mark.parametrize(
    "said",
    [b"", b"GET /hea", b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"],
)
def test_half_open_connections_keep_nobody_out(
    running_service: RunningService, ann: ApiUser, said: bytes
) -> None:
    waiting = half_open(running_service, said, 200)
    time.sleep(0.2)
    for _ in range(5):
        assert ann.get("me").status_code == 200
    assert waiting[0].recv(1) == b"", "who waited longest was let go of"
    for each in waiting:
        each.close()


@pytest.fixture
def ann(running_service: RunningService) -> ApiUser:
    return running_service.person()


def test_headers_and_bodies_have_a_deadline(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.server.api import middleware
    from discreet.server.operations import http_connection

    monkeypatch.setattr(http_connection, "HEAD", 0.3)
    monkeypatch.setattr(middleware, "_PATIENCE", 0.3)
    began = time.monotonic()
    (head,) = half_open(running_service, b"GET /health HTTP/1.1\r\nHost:", 1)
    for _ in range(4):
        time.sleep(0.05)
        head.sendall(b" ")  # a drop now and then changes nothing
    assert head.recv(10) == b""
    (body,) = half_open(
        running_service, b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", 1
    )
    assert body.recv(12) == b"HTTP/1.1 408"
    assert time.monotonic() - began < 5
    head.close()
    body.close()


def test_who_does_not_take_the_last_of_an_answer_is_let_go_of(
    running_service: RunningService, ann: ApiUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stayed for ever, and counted as at work, so that in time nobody else came in."""
    from discreet.server.operations import http_connection

    monkeypatch.setattr(http_connection, "TAKEN", 3.0)
    assert len(ann.http.get("/openapi.json").content) > 50_000
    limits = running_service.limits
    before = set(limits._places)

    def stay() -> set[Place]:
        return set(limits._places) - before

    def waits(place: Place) -> bool:
        return place in limits._waiting.get(place.address, {})

    said = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with running_service.little_is_sent_ahead():
        clients = half_open(running_service, said, 3, room=2048)
        eventually(lambda: len(stay()) == 3)
        here = stay()
        eventually(lambda: all(map(waits, here)))
    eventually(lambda: not stay())
    for each in clients:
        each.close()


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_length_in_two_ways_is_refused(running_service: RunningService) -> None:
    said = (
        b"POST /api/v1/questions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    (client,) = half_open(running_service, said, 1)
    reply = b""
    while part := client.recv(4096):
        reply += part
    client.close()
    assert reply.startswith(b"HTTP/1.1 400")
    assert b"request_misread" in reply
    assert b"connection: close" in reply.lower()
