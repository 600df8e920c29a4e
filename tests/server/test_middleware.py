"""Around every request: limits on bodies, headers, refusals as problems, logs that tell nothing."""

import asyncio
import io
import json
import logging
import re
import socket
import time
from typing import Any

import httpx
import pytest

from discreet.server.api.proxy import ProxiedRequests
from discreet.server.operations.logs import JsonLines, to_stream
from discreet.server.operations.metrics import Metrics
from discreet.server.rights import PersonRole
from tests.server.running_service import COUNT, RunningService

pytestmark = pytest.mark.xdist_group("server")


def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    running_service: RunningService,
) -> None:
    host, port = running_service.address.removeprefix("http://").split(":")
    head = "POST /api/v1/questions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_a_body_without_a_length_is_refused_where_it_grows_too_large(
    running_service: RunningService,
) -> None:
    ann = running_service.analyst()

    def chunks() -> object:
        for _ in range(40):
            yield b"x" * 100_000

    reply = ann.http.post("/api/v1/questions", content=chunks())  # type: ignore[arg-type]
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"sql": 5, "epsilon": 1}',
        b'{"sql": "SELECT 1", "epsilon": "much"}',
        b'{"sql": "SELECT 1", "epsilon": NaN}',
        b'{"sql": "SELECT 1", "epsilon": 1e999}',
        b'{"sql": "SELECT 1", "epsilon": 1, "surprise": true}',
        b'{"kind": "profile", "sql": "SELECT 1"}',
        b'{"kind": 7}',
        b'{"sql": "\\ud800", "epsilon": 1}',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_what_is_no_request_is_refused_as_a_problem(
    running_service: RunningService, body: bytes
) -> None:
    ann = running_service.person()
    headers = {"Content-Type": "application/json"}
    reply = ann.http.post("/api/v1/questions", content=body, headers=headers)
    assert 400 <= reply.status_code < 500, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert {"code", "expectation", "remedy", "status", "type", "title"} <= set(reply.json())


def test_unknown_addresses_and_methods_are_problems_too(running_service: RunningService) -> None:
    for method, path in (("GET", "/nowhere"), ("PUT", "/api/v1/questions"), ("GET", "/docs")):
        reply = httpx.request(method, running_service.address + path, timeout=60)
        assert reply.status_code in (404, 405)
        assert reply.json()["code"] == "page_unknown"


def test_every_response_has_headers_that_browsers_obey(running_service: RunningService) -> None:
    for path in ("/health", "/api/v1/me", "/nowhere"):
        headers = httpx.get(running_service.address + path, timeout=60).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert re.fullmatch("[0-9a-f]{16}", headers["x-request-id"])
        assert "server" not in headers or "uvicorn" in headers["server"]


def test_a_request_that_is_sent_again_is_the_same_job(running_service: RunningService) -> None:
    ann = running_service.analyst()
    headers = {"Idempotency-Key": "retry-1"}
    asked = {"sql": COUNT, "epsilon": 0.1}
    first = ann.post("questions", asked, headers=headers).json()
    again = ann.post("questions", asked, headers=headers).json()
    assert again["job"] == first["job"]
    assert again["result"] == first["result"]
    other = ann.post("questions", {"sql": COUNT, "epsilon": 0.2}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")
    assert len(ann.get("history").json()["items"]) == 1
    bob = running_service.analyst()
    assert bob.post("questions", asked, headers=headers).json()["job"] != first["job"]


def test_health_is_open_and_metrics_are_for_those_who_monitor(
    running_service: RunningService,
) -> None:
    assert httpx.get(f"{running_service.address}/health", timeout=60).json() == {"status": "ok"}
    assert httpx.get(f"{running_service.address}/ready", timeout=60).json() == {"status": "ready"}
    assert httpx.get(f"{running_service.address}/metrics", timeout=60).status_code == 401
    ann = running_service.analyst()
    ann.ask()
    assert ann.http.get("/metrics").status_code == 403
    auditor = running_service.person(PersonRole.AUDITOR)
    text = auditor.http.get("/metrics").text
    assert 'route="/api/v1/questions"' in text
    assert re.search(r"^discreet_request_seconds_count \d+$", text, re.MULTILINE)
    assert ann.person.name not in text
    assert ann.person.id not in text


def test_metrics_are_in_prometheus_form() -> None:
    metrics = Metrics()
    metrics.count("GET", "/x/{y}", 200, 0.02)
    metrics.count("GET", "/x/{y}", 200, 99.0)
    lines = metrics.text(workers=3).splitlines()
    assert 'discreet_requests_total{method="GET",route="/x/{y}",status="200"} 2' in lines
    assert 'discreet_request_seconds_bucket{le="0.025"} 1' in lines
    assert 'discreet_request_seconds_bucket{le="30"} 1' in lines
    assert 'discreet_request_seconds_bucket{le="+Inf"} 2' in lines
    assert "discreet_workers 3" in lines
    for line in lines:
        assert line.startswith("# ") or re.fullmatch(r"\w+(\{[^}]*\}?[^}]*\})? \S+", line), line


def test_it_is_not_ready_while_the_state_or_the_ledger_is_away(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_service.service, "ledger_trouble", "ledger_busy")
    reply = httpx.get(f"{running_service.address}/ready", timeout=60)
    assert (reply.status_code, reply.json()["code"]) == (503, "ledger_busy")


def test_logs_are_json_and_hold_nothing_of_a_request_but_its_route(
    running_service: RunningService,
) -> None:
    stream = io.StringIO()
    handler = to_stream(stream)
    try:
        ann = running_service.analyst()
        ann.ask("SELECT COUNT(*) AS n FROM visits WHERE age > 76.5432198", 0.1)
        job = ann.ask("SELECT secret_word FROM visits").json()["job"]
        ann.get(f"jobs/{job}")
        time.sleep(0.1)
    finally:
        logging.getLogger().removeHandler(handler)
    text = stream.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    asked = [line for line in lines if line.get("route") == "/api/v1/questions"]
    assert {line["status"] for line in asked} == {200, 400}
    for private in ("secret_word", "76.5432198", ann.token, ann.person.name, ann.person.id, job):
        assert private not in text


def test_an_error_in_a_log_has_its_place_and_not_its_text() -> None:
    message = "age of a patient: 97"
    try:
        raise ValueError(message)
    except ValueError as error:
        record = logging.LogRecord(
            "discreet.server",
            logging.ERROR,
            "x.py",
            1,
            "failed",
            (),
            (ValueError, error, error.__traceback__),
        )
    line = json.loads(JsonLines().format(record))
    assert line["error"] == "ValueError"
    assert "test_middleware.py" in line["at"][0]
    assert "97" not in json.dumps(line)


def test_a_mistake_of_the_software_is_a_problem_without_a_word_about_it(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> object:
        message = "a patient's name"
        raise RuntimeError(message)

    monkeypatch.setattr(running_service.service.accounts, "own", broken)
    ann = running_service.analyst()
    reply = ann.get("account")
    assert (reply.status_code, reply.json()["code"]) == (500, "service_failed")
    assert "patient" not in reply.text


@pytest.mark.parametrize(
    ("headers", "client", "scheme"),
    [
        ([], "10.0.0.9", "http"),
        ([(b"x-forwarded-for", b"192.0.2.1")], "192.0.2.1", "http"),
        ([(b"x-forwarded-for", b"198.51.100.7, 192.0.2.1")], "192.0.2.1", "http"),
        ([(b"x-forwarded-for", b"1.1.1.1"), (b"x-forwarded-for", b"::2")], "::2", "http"),
        ([(b"x-forwarded-for", b"192.0.2.1, unknown")], "10.0.0.9", "http"),
        ([(b"x-forwarded-proto", b"https")], "10.0.0.9", "https"),
        ([(b"x-forwarded-proto", b"file")], "10.0.0.9", "http"),
    ],
)
def test_behind_a_proxy_its_own_word_counts_and_not_the_clients(
    headers: list[tuple[bytes, bytes]], client: str, scheme: str
) -> None:
    seen: dict[str, Any] = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)

    scope = {"type": "http", "headers": headers, "client": ("10.0.0.9", 1), "scheme": "http"}
    asyncio.run(ProxiedRequests(app)(scope, None, None))  # type: ignore[arg-type]
    assert (seen["client"][0], seen["scheme"]) == (client, scheme)
