"""The socket on which the service listens."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from discreet.core.errors import InvalidParameter
from discreet.server.operations import http_server
from discreet.server.operations.connection_limits import ConnectionLimits
from discreet.server.operations.http_server import HttpServer, listening_socket
from tests.server.certificates import self_signed


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_connections_send_small_answers_at_once(host: str) -> None:
    try:
        listening = listening_socket(host, 0)
    except InvalidParameter:
        pytest.skip(f"this machine has no address {host}")
    with listening, socket.create_connection(listening.getsockname()[:2]):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_refused_by_name() -> None:
    with listening_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidParameter, match="port_taken"):
            listening_socket("127.0.0.1", port)


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01"])
def test_handshakes_that_are_not_finished_keep_nobody_out_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    """Of forty, eight stay, of which each has the deadline of headers; others are served."""
    monkeypatch.setattr(http_server, "HEAD", 1.5)
    made = self_signed(tmp_path)
    trusted = ssl.create_default_context(cafile=str(made.certificate))
    limits = ConnectionLimits(most=16, waiting=12, from_one=8)

    async def ask(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusted)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        try:
            return await asyncio.wait_for(reader.readline(), 20)
        finally:
            writer.close()

    async def attack() -> None:
        with listening_socket("127.0.0.1", 0) as door:
            port = door.getsockname()[1]
            server = HttpServer(
                PlainTextResponse("here"),
                door,
                limits=limits,
                lifespan="off",
                ssl_certfile=str(made.certificate),
                ssl_keyfile=str(made.key),
            )
            serving = asyncio.create_task(server.serve())
            half = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
            for _, writer in half:
                writer.write(said)
            for _ in range(3):
                assert (await ask(port)).startswith(b"HTTP/1.1 200")
                assert limits.now <= 9
            ended = [asyncio.wait_for(reader.read(), 20) for reader, _ in half]
            await asyncio.gather(*ended, return_exceptions=True)
            await asyncio.sleep(0.1)
            assert limits.now == 0, "each ended by itself"
            server.should_exit = True
            await serving
            for _, writer in half:
                writer.close()

    asyncio.run(attack())
