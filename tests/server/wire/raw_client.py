"""A client of the PostgreSQL protocol that sends any bytes: what drivers would never send."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


def message(letter: bytes, body: bytes = b"") -> bytes:
    return letter + struct.pack("!i", len(body) + 4) + body


def startup(**parameters: str) -> bytes:
    pairs = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items())
    body = struct.pack("!i", 3 << 16) + pairs + b"\0"
    return struct.pack("!i", len(body) + 4) + body


def parse(text: str, name: str = "", types: Sequence[int] = ()) -> bytes:
    given = struct.pack(f"!h{len(types)}I", len(types), *types)
    return message(b"P", f"{name}\0{text}\0".encode() + given)


def bind(portal: str = "", name: str = "", values: Sequence[bytes] = ()) -> bytes:
    given = b"".join(struct.pack("!i", len(each)) + each for each in values)
    counted = struct.pack("!hh", 0, len(values)) + given + struct.pack("!h", 0)
    return message(b"B", f"{portal}\0{name}\0".encode() + counted)


def describe(kind: bytes = b"P", name: str = "") -> bytes:
    return message(b"D", kind + f"{name}\0".encode())


def execute(portal: str = "", most: int = 0) -> bytes:
    return message(b"E", f"{portal}\0".encode() + struct.pack("!i", most))


SYNC = message(b"S")


def query(text: str) -> bytes:
    return message(b"Q", text.encode() + b"\0")


@dataclass
class RawClient:
    """One connection."""

    port: int
    timeout: float = 30
    sock: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.sock = socket.create_connection(("127.0.0.1", self.port), timeout=self.timeout)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def exactly(self, count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            part = self.sock.recv(count - len(parts))
            if not part:
                raise EOFError
            parts += part
        return parts

    def read(self) -> tuple[bytes, bytes]:
        letter = self.exactly(1)
        (length,) = struct.unpack("!i", self.exactly(4))
        return letter, self.exactly(length - 4)

    def until(self, last: bytes = b"Z") -> list[tuple[bytes, bytes]]:
        found = [self.read()]
        while found[-1][0] != last:
            found.append(self.read())
        return found

    def rest(self) -> list[tuple[bytes, bytes]]:
        """Everything until the server hangs up."""
        found = []
        while True:
            try:
                found.append(self.read())
            except (EOFError, ConnectionError):
                return found

    def enter(self, user: str, secret: str, **more: str) -> list[tuple[bytes, bytes]]:
        self.send(startup(user=user, **more))
        assert self.read() == (b"R", struct.pack("!i", 3))
        self.send(message(b"p", secret.encode() + b"\0"))
        return self.until()

    def ask(self, data: bytes) -> list[tuple[bytes, bytes]]:
        self.send(data)
        return self.until()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.sock.close()


def error_of(found: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The fields of the one error among messages."""
    (body,) = [body for letter, body in found if letter == b"E"]
    parts = body.decode().split("\0")
    return {part[0]: part[1:] for part in parts if part}


def letters(found: list[tuple[bytes, bytes]]) -> str:
    return b"".join(letter for letter, _ in found).decode()
