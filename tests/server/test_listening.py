"""The socket on which the service listens."""

from __future__ import annotations

import socket

import pytest

from discreet.core.errors import InvalidParameter
from discreet.server.operations.http_server import listening_socket


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
