"""Coming in: tokens and passwords, never in the clear; limits that depend on nobody else."""

import asyncio
import select
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from discreet.core.errors import DiscreetError
from discreet.server.operations.connection_limits import Place
from discreet.server.services.login_attempts import Visitor
from discreet.server.settings import Certificate, WireSettings
from discreet.server.wire.connection import ConnectionSetup
from discreet.server.wire.server import WireServer
from tests.server.certificates import self_signed
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.opened_wire import OpenedWire, opened_wire
from tests.server.wire.raw_client import RawClient, error_of, message, query, startup

pytestmark = pytest.mark.xdist_group("server")

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def small(running_service: RunningService, certificate: Certificate) -> Iterator[OpenedWire]:
    """With TLS, and two connections for each person."""
    settings = WireSettings(port=0, connections=2)
    with opened_wire(running_service, settings, certificate) as made:
        yield made


def refused(client: RawClient, name: str, secret: str) -> dict[str, str]:
    client.send(startup(user=name))
    client.read()
    client.send(message(b"p", secret.encode() + b"\0"))
    return error_of(client.rest())


def test_unknown_names_and_wrong_secrets_look_alike(
    wire: OpenedWire, ann: ApiUser, running_service: RunningService
) -> None:
    other = running_service.person()
    told = []
    for name, secret in (
        (ann.person.name, f"dsc_{'0' * 64}"),
        (ann.person.name, other.token),
        ("nobody", ann.token),
        ("nobody", "a password of nobody"),
        (ann.person.name, ""),
    ):
        with RawClient(wire.port) as client:
            told.append(refused(client, name, secret))
    assert [each["C"] for each in told] == ["28P01"] * 5
    assert len({tuple(each.items()) for each in told}) == 1


def test_a_password_lets_in_for_as_long_as_the_connection_lasts(
    wire: OpenedWire, running_service: RunningService
) -> None:
    made = running_service.analyst()
    service = running_service.service
    link = running_service.call(
        service.people.new_link(running_service.owner.person, made.person.name)
    )
    password = "correct horse battery"
    running_service.call(
        service.authentication.by_link(link, password=password, visitor=Visitor("127.0.0.1"))
    )
    with psycopg.connect(wire.dsn(made, password=password), autocommit=True) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (made.person.name,)
    with RawClient(wire.port) as client:
        assert refused(client, made.person.name, password + "x")["C"] == "28P01"


def test_whoever_is_shut_out_is_so_from_the_next_statement_on(
    wire: OpenedWire, running_service: RunningService
) -> None:
    made = running_service.analyst()
    with wire.entered(made) as client:
        assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")
        people = running_service.service.people
        running_service.call(people.disable(running_service.owner.person, made.person.name))
        assert error_of(client.ask(query("SELECT 1")))["C"] == "28P01"


def test_tls_carries_secrets_and_bytes_that_came_too_early_do_not(
    small: OpenedWire, ann: ApiUser, certificate: Certificate
) -> None:
    more = {"sslmode": "verify-full", "sslrootcert": str(certificate.certificate)}
    with psycopg.connect(small.dsn(ann, **more), autocommit=True) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with RawClient(small.port) as client:
        client.send(SSL_REQUEST + startup(user=ann.person.name))
        assert client.exactly(1) == b"S"
        wrapped = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        wrapped.check_hostname, wrapped.verify_mode = False, ssl.CERT_NONE
        with pytest.raises((ssl.SSLError, ConnectionError)):
            wrapped.wrap_socket(client.sock)


def from_far_away(service: RunningService, server: WireServer) -> socket.socket:
    """A connection that seems to come from another machine."""
    near, far = socket.socketpair()
    far.setblocking(False)  # noqa: FBT003
    near.settimeout(10)
    with ThreadPoolExecutor(1) as thread:
        setup = ConnectionSetup(server, far, Place("192.0.2.7"))

        async def begun() -> asyncio.Task[None]:
            return asyncio.ensure_future(setup.go())

        thread.submit(service.call, begun()).result()
    return near


def test_no_secret_is_asked_for_in_the_clear_by_another_machine(
    running_service: RunningService, small: OpenedWire, ann: ApiUser
) -> None:
    client = RawClient.__new__(RawClient)
    client.sock = from_far_away(running_service, small.server)
    with client:
        client.send(startup(user=ann.person.name))
        (found,) = client.rest()
        assert found[0] == b"E", "instead of the request for a password"
        assert error_of([found])["C"] == "28000"
        assert error_of([found])["R"] == "not_encrypted"


def test_elsewhere_than_here_the_door_needs_tls(
    running_service: RunningService, certificate: Certificate, tmp_path: Path
) -> None:
    service, settings = running_service.service, WireSettings(port=0)
    with pytest.raises(DiscreetError, match="not_loopback"):
        WireServer(service, settings, host="0.0.0.0")
    WireServer(service, settings, host="0.0.0.0", certificate=certificate)
    (tmp_path / "k.pem").write_text("no key")
    wrong = Certificate(certificate.certificate, tmp_path / "k.pem")
    with pytest.raises(DiscreetError, match="certificate_missing"):
        WireServer(service, settings, host="127.0.0.1", certificate=wrong)


def test_each_person_has_so_many_connections_whatever_others_have(
    small: OpenedWire, ann: ApiUser, running_service: RunningService
) -> None:
    other = running_service.person()
    first, second = small.entered(ann), small.entered(ann)
    with first, second:
        with RawClient(small.port) as third:
            assert refused(third, ann.person.name, ann.token)["C"] == "53300"
        with small.entered(other) as theirs:
            assert theirs.ask(query("SELECT 1"))[-1] == (b"Z", b"I")
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with RawClient(small.port) as again:
            again.send(startup(user=ann.person.name))
            again.read()
            again.send(message(b"p", ann.token.encode() + b"\0"))
            if again.read()[0] == b"R":
                return
    pytest.fail("a place is free again")


def test_who_does_not_finish_is_let_go(running_service: RunningService, ann: ApiUser) -> None:
    with opened_wire(running_service, WireSettings(port=0, patience=0.5, idle=0.5)) as hurried:
        silent, half = hurried.entered(ann), hurried.entered(ann)
        nobody, unnamed = RawClient(hurried.port), RawClient(hurried.port)
        began = time.monotonic()
        with silent, half, nobody, unnamed:
            half.send(query("SELECT 1")[:7])
            unnamed.send(startup(user=ann.person.name)[:6])
            nobody.send(startup(user=ann.person.name))
            assert unnamed.rest() == []
            assert error_of(nobody.rest())["C"] == "57P05", "a password that never comes"
            assert error_of(half.rest())["C"] == "57P05", "half a message"
            assert error_of(silent.rest())["C"] == "57P05", "no message at all"
        assert time.monotonic() - began < 10


def test_an_address_has_so_many_connections_that_are_not_let_in(
    wire: OpenedWire, ann: ApiUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire.server._limits, "from_one", 32)
    waiting = [RawClient(wire.port) for _ in range(40)]
    deadline = time.monotonic() + 5
    turned_away: list[socket.socket] = []
    while len(turned_away) < 8 and time.monotonic() < deadline:
        turned_away = select.select([each.sock for each in waiting], [], [], 0.05)[0]
    assert turned_away == [each.sock for each in waiting[:8]], "who waited longest"
    assert all(each.recv(1) == b"" for each in turned_away)
    with wire.entered(ann) as client:  # while all the others wait
        assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")
    for each in waiting:
        each.sock.close()
