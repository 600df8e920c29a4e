"""A network that fails on command: a loopback proxy whose connections can be cut anywhere.

``cut`` breaks connections at any moment. ``faults`` break the next ones that carry given bytes to
the server: before they arrive, after they arrived but before the reply, or with their arrival
delayed until long after the client has given up.
"""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self

Fault = Callable[["_Pair", bytes], bool]


def lost_request(pair: _Pair, data: bytes) -> bool:
    """The server never hears of it."""
    pair.close()
    return False


def lost_reply(pair: _Pair, data: bytes) -> bool:
    """The server hears of it and does it; the client never hears of that."""
    pair.deaf = True
    return True


def late_request(pair: _Pair, data: bytes, *, seconds: float = 0.4) -> bool:
    """The client's end breaks at once; the server hears of it much later."""
    _reset(pair.client)

    def deliver() -> None:
        time.sleep(seconds)
        with suppress(OSError):
            pair.server.sendall(data)
        time.sleep(0.2)
        pair.close()

    threading.Thread(target=deliver, daemon=True).start()
    return False


def orphaned(pair: _Pair, data: bytes) -> bool:
    """The client's end breaks; the server hears nothing, and waits on an open connection."""
    _reset(pair.client)
    return False


class _Pair:
    """One connection through the proxy."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.deaf = False

    def close(self) -> None:
        _reset(self.client)
        _reset(self.server)


class Proxy:
    """Listens on ``port`` and passes everything on to a port of this machine, until told not to."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.faults: list[tuple[bytes, Fault]] = []
        self.refusing = False
        self._pairs: list[_Pair] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, chance: random.Random) -> bool:
        """Break one connection, or lose its next reply; False if there is none."""
        with self._lock:
            if not self._pairs:
                return False
            pair = chance.choice(self._pairs)
        if chance.random() < 0.5:
            pair.deaf = True
        else:
            pair.close()
        return True

    def cut_all(self) -> None:
        """Break every connection."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            pair.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                _reset(client)
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                _reset(client)
                continue
            pair = _Pair(client, server)
            with self._lock:
                self._pairs.append(pair)
            threading.Thread(target=self._requests, args=(pair,), daemon=True).start()
            threading.Thread(target=self._replies, args=(pair,), daemon=True).start()

    def _requests(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.client.recv(1 << 16):
                if not self._passes(pair, data):
                    return
                pair.server.sendall(data)
        self._forget(pair)

    def _passes(self, pair: _Pair, data: bytes) -> bool:
        for place, (needle, fault) in enumerate(self.faults):
            if needle in data:
                del self.faults[place]
                return fault(pair, data)
        return True

    def _replies(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.server.recv(1 << 16):
                if pair.deaf:
                    break
                pair.client.sendall(data)
        self._forget(pair)

    def _forget(self, pair: _Pair) -> None:
        pair.close()
        with self._lock, suppress(ValueError):
            self._pairs.remove(pair)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.cut_all()


def _reset(end: socket.socket) -> None:
    """Close at once, as a machine does that has forgotten the connection."""
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        end.close()
