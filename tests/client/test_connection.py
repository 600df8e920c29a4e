"""Connections that break, and tokens that stay hidden: nothing is paid twice, nothing is shown."""

from __future__ import annotations

import http.server
import ipaddress
import pickle
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import discreet as dp
from discreet.client import RemoteCurator
from discreet.client import transport as sending
from discreet.client.address import ServiceAddress
from discreet.client.progress import Silent
from discreet.client.refusals import ServiceUnreachable
from discreet.client.token import AccessToken
from discreet.core.errors import DiscreetError, InvalidParameter
from tests.client.programs import COUNT, at_service, epsilon
from tests.server.running_service import ApiUser, RunningService
from tests.tcp_proxy import Fault, Proxy, late_request, lost_reply, lost_request

pytestmark = pytest.mark.xdist_group("server")
TOKEN = "dsc_" + "0123456789abcdef" * 4
FAULTS = (lost_request, lost_reply, late_request)


@pytest.fixture(scope="module")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(dp.PureDP(epsilon=100))


@pytest.fixture
def proxy(running_service: RunningService) -> Iterator[Proxy]:
    with Proxy(urlsplit(running_service.address).port or 0) as made:
        yield made


def through(proxy: Proxy, user: ApiUser, **options: Any) -> RemoteCurator:
    return dp.connect(f"http://127.0.0.1:{proxy.port}", user.token, progress=Silent, **options)


def jobs(user: ApiUser) -> list[dict[str, Any]]:
    """What somebody asked, the latest first."""
    found: list[dict[str, Any]] = user.get("history").json()["items"]
    return found


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_question_whose_connection_broke_is_one_job_and_paid_once(
    ann: ApiUser, proxy: Proxy, fault: Fault
) -> None:
    curator = through(proxy, ann)
    before, known = epsilon(curator.spent), len(jobs(ann))
    proxy.faults.append((b"POST /api/v1/questions", fault))
    asked = f"{COUNT} WHERE age > {FAULTS.index(fault)}"
    answer = curator.sql(asked, spend=dp.PureDP(epsilon=0.4))
    assert not proxy.faults, "the connection broke"
    job, *others = jobs(ann)
    assert (job["charged"], len(others)) == (True, known)
    assert epsilon(curator.spent) - before == pytest.approx(0.4)
    assert curator.stored(job["release"]).id == answer.id


def test_a_conversation_hears_a_question_once_however_often_it_is_sent(
    ann: ApiUser, proxy: Proxy
) -> None:
    curator = through(proxy, ann)
    talk = curator.converse(
        curator.universe("visits", "ward"),
        mechanism=partial(dp.queries.private_gap_weights, about=500, updates=3),
        spend=dp.PureDP(epsilon=20),
        questions=10,
    )
    proxy.faults.append((b"/questions", lost_reply))
    assert talk.ask("ward", "medicine").number == 1
    assert not proxy.faults
    assert talk.ask("ward", "surgery").number == 2


def test_what_cannot_be_repeated_is_sent_once(
    running_service: RunningService, proxy: Proxy
) -> None:
    owner = through(proxy, running_service.owner)
    proxy.faults.append((b"POST /api/v1/rounds", lost_request))
    with pytest.raises(ServiceUnreachable) as caught:
        owner._asking.transport.post_once("rounds", {})
    assert caught.value.code == "service_unreachable"


def test_a_service_that_is_away_is_tried_a_few_times(
    monkeypatch: pytest.MonkeyPatch, ann: ApiUser, proxy: Proxy
) -> None:
    monkeypatch.setattr(sending, "_PAUSES", (0.0, 0.0, 0.0))
    curator, before = through(proxy, ann), jobs(ann)
    proxy.refusing = True
    with pytest.raises(ServiceUnreachable) as caught:
        curator.sql(COUNT, spend=dp.PureDP(epsilon=0.1))
    assert caught.value.code == "service_unreachable"
    assert ann.token not in f"{caught.value!s}{caught.value!r}"
    assert jobs(ann) == before


class _Answering(http.server.BaseHTTPRequestHandler):
    """Answers as it is told, and counts."""

    replies: list[tuple[int, dict[str, str], bytes]]
    heard: list[str]

    def do_GET(self) -> None:
        status, headers, body = self.replies.pop(0)
        self.heard.append(self.path)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


Reply = tuple[int, dict[str, str], bytes]
Stranger = Callable[..., tuple[str, list[str]]]


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    """A server that is none of ours."""
    servers = []

    def made(*replies: Reply, certificate: Path | None = None) -> tuple[str, list[str]]:
        heard: list[str] = []
        kind = type("Told", (_Answering,), {"replies": [*replies], "heard": heard})
        server = http.server.HTTPServer(("127.0.0.1", 0), kind)
        servers.append(server)
        if certificate is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=partial(server.serve_forever, 0.01), daemon=True).start()
        scheme = "http" if certificate is None else "https"
        return f"{scheme}://127.0.0.1:{server.server_port}", heard

    yield made
    for server in servers:
        server.shutdown()
        server.server_close()


ME: Reply = (200, {}, b'{"name": "ann"}')


def test_a_certificate_that_nobody_vouches_for_is_refused(
    stranger: Stranger, tmp_path: Path
) -> None:
    certificate = tmp_path / "own.pem"
    certificate.write_bytes(own_certificate())
    url, heard = stranger(ME, certificate=certificate)
    with pytest.raises(ServiceUnreachable) as caught:
        dp.connect(url, TOKEN)
    assert (caught.value.code, heard) == ("certificate_untrusted", [])
    assert dp.connect(url, TOKEN, certificates=certificate).name == "ann"


def own_certificate() -> bytes:
    """A certificate of this machine with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "this machine")])
    now = datetime.now(UTC)
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + made.public_bytes(encoding)


def test_the_service_says_when_to_come_back(stranger: Stranger) -> None:
    url, heard = stranger((429, {"Retry-After": "0"}, b""), (503, {"Retry-After": "0"}, b""), ME)
    assert dp.connect(url, TOKEN).name == "ann"
    assert heard == ["/api/v1/me"] * 3


def test_a_redirection_is_not_followed(stranger: Stranger) -> None:
    elsewhere, heard = stranger(ME)
    url, _ = stranger((307, {"Location": f"{elsewhere}/api/v1/me"}, b""))
    with pytest.raises(ServiceUnreachable) as caught:
        dp.connect(url, TOKEN)
    assert caught.value.code == "reply_misread"
    assert heard == [], "the token is for one address"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"code": "x"}'])
def test_what_is_no_answer_of_the_service_is_refused(stranger: Stranger, body: bytes) -> None:
    url, _ = stranger((400, {}, body))
    with pytest.raises(ServiceUnreachable, match="reply_misread"):
        dp.connect(url, TOKEN)


@pytest.mark.parametrize("host", ["data.example.org", "10.0.0.1", "127.example.org", "0.0.0.0"])
def test_a_token_is_not_sent_in_the_clear(host: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        dp.connect(f"http://{host}", TOKEN)
    assert caught.value.code == "token_in_the_clear"


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.9", "http://[::1]:80"])
def test_within_this_machine_it_may_be(url: str) -> None:
    assert ServiceAddress.parse(url).scheme == "http"


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "x", "https://", "https://x:port", "https://a:b@x", "https://x?y", 5, "http://["],
)
def test_an_address_is_read_or_refused(url: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        dp.connect(url, TOKEN)
    assert caught.value.code == "address_misread"


def test_a_prefix_of_a_proxy_is_kept() -> None:
    address = ServiceAddress.parse("https://x.org/data/")
    assert (str(address), address.place("me")) == ("https://x.org:443/data", "/data/api/v1/me")


def test_a_token_shows_itself_nowhere(ann: ApiUser) -> None:
    curator = at_service(ann)
    asking = curator._asking
    shown = (curator, vars(curator), vars(asking), vars(asking.transport), AccessToken(ann.token))
    assert all(ann.token not in f"{each!r}{each!s}" for each in shown)
    assert ann.token not in repr(asking.transport._headers())
    with pytest.raises(InvalidParameter) as caught:
        pickle.dumps(curator)
    assert caught.value.code == "token_not_written"


@pytest.mark.parametrize("token", ["", "dsc_12", f"{TOKEN}\r\nX: y", TOKEN.upper(), 5])
def test_a_token_of_another_form_is_refused_unseen(token: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        dp.connect("https://data.example.org", token)
    assert caught.value.code == "token_misread"
    assert caught.value.received is None


def test_a_token_may_stand_in_the_environment(
    ann: ApiUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_TOKEN", ann.token)
    assert dp.connect(ann.running_service.address).name == ann.person.name


def test_a_token_that_nobody_has_is_not_let_in(running_service: RunningService) -> None:
    with pytest.raises(DiscreetError) as caught:
        dp.connect(running_service.address, TOKEN)
    assert caught.value.code == "not_let_in"
