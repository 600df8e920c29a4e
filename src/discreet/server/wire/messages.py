"""Messages of the PostgreSQL protocol, version 3: what comes in is read strictly, or refused.

Pure functions from bytes to values and back. Whatever does not fit to the last byte (a length, a
count, a text that is no UTF-8 or has no end) is a :class:`ProtocolViolation`, after which nothing
that came later on the connection can be trusted.

Source: the PostgreSQL documentation, "Frontend/Backend Protocol".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

LONGEST_STARTUP = 10_000
"""Bytes of the first message, as PostgreSQL has it."""
LONGEST_SECRET = 1_000
"""Bytes of the message with a password or a token."""
MOST_PARAMETERS = 1_000
SSL_REQUEST, CANCEL_REQUEST, GSS_REQUEST = 80877103, 80877102, 80877104
VERSION = 3
"""The major version of the protocol."""


class ProtocolViolation(Exception):
    """Bytes that are no message."""


@dataclass(frozen=True)
class EncryptionRequest:
    """Whether to encrypt, by TLS or otherwise."""

    tls: bool


@dataclass(frozen=True)
class CancelRequest:
    """Give up what another connection waits for, named by what only it was told."""

    process: int
    secret: int


@dataclass(frozen=True)
class Startup:
    """Who comes in, and settings for the whole session."""

    minor: int
    parameters: dict[str, str]


@dataclass(frozen=True)
class PasswordMessage:
    """A password or a token."""

    secret: str


@dataclass(frozen=True)
class SaslBegun:
    """The mechanism that a client chose, and what it says first."""

    mechanism: str
    data: bytes


@dataclass(frozen=True)
class SimpleQuery:
    """Statements to run, all of them at once."""

    text: str


@dataclass(frozen=True)
class Parse:
    """Remember a statement under a name."""

    name: str
    text: str
    types: tuple[int, ...]


@dataclass(frozen=True)
class Bind:
    """Give a statement its parameters, as a portal."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    parameters: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]


@dataclass(frozen=True)
class Describe:
    """Which columns a statement or a portal has; free."""

    portal: bool
    name: str


@dataclass(frozen=True)
class Execute:
    """Run a portal, and send at most so many rows; zero: all."""

    portal: str
    most: int


@dataclass(frozen=True)
class Close:
    """Forget a statement or a portal."""

    portal: bool
    name: str


@dataclass(frozen=True)
class Sync:
    """The end of a group of messages."""


@dataclass(frozen=True)
class Flush:
    """Send what there is."""


@dataclass(frozen=True)
class Terminate:
    """The client says good-bye."""


First: TypeAlias = EncryptionRequest | CancelRequest | Startup
Message: TypeAlias = (
    SimpleQuery | Parse | Bind | Describe | Execute | Close | Sync | Flush | Terminate
)


class _Body:
    """The bytes of one message, read from its beginning to exactly its end."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._place = 0

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self._body) - self._place:
            raise ProtocolViolation
        self._place += count
        return self._body[self._place - count : self._place]

    def whole(self, form: str) -> int:
        value: int = struct.unpack(f"!{form}", self.take(struct.calcsize(f"!{form}")))[0]
        return value

    def text(self) -> str:
        end = self._body.find(b"\0", self._place)
        if end < 0:
            raise ProtocolViolation
        found = self.take(end - self._place)
        self._place += 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise ProtocolViolation from None

    def several(self, form: str) -> tuple[int, ...]:
        count = self.whole("h")
        if not 0 <= count <= MOST_PARAMETERS:
            raise ProtocolViolation
        return tuple(self.whole(form) for _ in range(count))

    def value(self) -> bytes | None:
        size = self.whole("i")
        return None if size == -1 else self.take(size)

    def end(self) -> None:
        if self._place != len(self._body):
            raise ProtocolViolation


def length_of(header: bytes, *, most: int) -> int:
    """How many bytes follow the four that state a length, which counts these four too.

    >>> length_of(bytes([0, 0, 0, 9]), most=10)
    5
    """
    length: int = struct.unpack("!i", header)[0]
    if not 4 <= length <= most + 4:
        raise ProtocolViolation
    return length - 4


def read_first(body: bytes) -> First:
    """The first message of a connection, which has no letter in front."""
    rest = _Body(body)
    code = rest.whole("i")
    if code in (SSL_REQUEST, GSS_REQUEST):
        rest.end()
        return EncryptionRequest(tls=code == SSL_REQUEST)
    if code == CANCEL_REQUEST:
        made = CancelRequest(rest.whole("I"), rest.whole("I"))
        rest.end()
        return made
    if code >> 16 != VERSION:
        raise ProtocolViolation
    parameters: dict[str, str] = {}
    while name := rest.text():
        if name in parameters:
            raise ProtocolViolation
        parameters[name] = rest.text()
    rest.end()
    return Startup(code & 0xFFFF, parameters)


def read_sasl(letter: bytes, body: bytes) -> SaslBegun:
    """The answer to an offer of mechanisms."""
    if letter != b"p":
        raise ProtocolViolation
    rest = _Body(body)
    made = SaslBegun(rest.text(), rest.value() or b"")
    rest.end()
    return made


def read_password(letter: bytes, body: bytes) -> PasswordMessage:
    """The answer to the request for a password."""
    if letter != b"p":
        raise ProtocolViolation
    rest = _Body(body)
    made = PasswordMessage(rest.text())
    rest.end()
    return made


def read_message(letter: bytes, body: bytes) -> Message:
    """A message of somebody who was let in."""
    rest = _Body(body)
    made = _message(letter, rest)
    rest.end()
    return made


def _message(letter: bytes, rest: _Body) -> Message:  # noqa: PLR0911
    match letter:
        case b"Q":
            return SimpleQuery(rest.text())
        case b"P":
            return Parse(rest.text(), rest.text(), rest.several("I"))
        case b"B":
            return _bind(rest)
        case b"D":
            return Describe(_is_portal(rest), rest.text())
        case b"E":
            return Execute(rest.text(), _not_negative(rest.whole("i")))
        case b"C":
            return Close(_is_portal(rest), rest.text())
        case b"S":
            return Sync()
        case b"H":
            return Flush()
        case b"X":
            return Terminate()
        case _:
            raise ProtocolViolation


def _bind(rest: _Body) -> Bind:
    portal, statement = rest.text(), rest.text()
    formats = _formats(rest)
    count = rest.whole("h")
    if not 0 <= count <= MOST_PARAMETERS or len(formats) not in (0, 1, count):
        raise ProtocolViolation
    parameters = tuple(rest.value() for _ in range(count))
    each = formats if len(formats) == count else (formats or (0,)) * count
    return Bind(portal, statement, each, parameters, _formats(rest))


def _formats(rest: _Body) -> tuple[int, ...]:
    found = rest.several("h")
    if any(each not in (0, 1) for each in found):
        raise ProtocolViolation
    return found


def _is_portal(rest: _Body) -> bool:
    kind = rest.take(1)
    if kind not in (b"S", b"P"):
        raise ProtocolViolation
    return kind == b"P"


def _not_negative(count: int) -> int:
    return max(0, count)  # PostgreSQL takes a negative number for all rows too


# What goes out ----------------------------------------------------------------------------------


def message(letter: bytes, body: bytes = b"") -> bytes:
    """A message with its letter and its length."""
    return letter + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """A text with its end; what would end it before is left out."""
    return value.replace("\0", "").encode() + b"\0"


@dataclass(frozen=True)
class FieldForm:
    """A column of a result as it is announced: name, type, bytes of a value, text or binary."""

    name: str
    oid: int
    size: int
    binary: bool


def row_description(fields: Sequence[FieldForm]) -> bytes:
    """The columns of what comes next."""
    parts = [struct.pack("!h", len(fields))]
    for each in fields:
        form = struct.pack("!ihIhih", 0, 0, each.oid, each.size, -1, int(each.binary))
        parts.append(text(each.name) + form)
    return message(b"T", b"".join(parts))


def data_row(values: Sequence[bytes | None]) -> bytes:
    """One row of a result; None is NULL."""
    parts = [struct.pack("!h", len(values))]
    parts += [
        struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value
        for value in values
    ]
    return message(b"D", b"".join(parts))


def parameter_description(types: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return message(b"t", struct.pack(f"!h{len(types)}I", len(types), *types))


def parameter_status(name: str, value: str) -> bytes:
    """A setting that clients follow."""
    return message(b"S", text(name) + text(value))


def key_data(process: int, secret: int) -> bytes:
    """By which this connection's questions can be given up."""
    return message(b"K", struct.pack("!II", process, secret))


def negotiate(unknown: Sequence[str]) -> bytes:
    """That this is version 3.0, and which options of the first message nobody knows."""
    named = b"".join(text(each) for each in unknown)
    return message(b"v", struct.pack("!ii", 0, len(unknown)) + named)


def command_complete(tag: str) -> bytes:
    """That a statement is done."""
    return message(b"C", text(tag))


def ready(status: bytes) -> bytes:
    """That the next group of messages may come; idle, in a transaction, or in a failed one."""
    return message(b"Z", status)


def report(letter: bytes, fields: Iterable[tuple[str, str]]) -> bytes:
    """An error or a notice, of fields with a letter each."""
    parts = b"".join(name.encode() + text(value) for name, value in fields if value)
    return message(letter, parts + b"\0")


PASSWORD_WANTED = message(b"R", struct.pack("!i", 3))
AUTHENTICATED = message(b"R", struct.pack("!i", 0))


def sasl_offer(*mechanisms: str) -> bytes:
    """The mechanisms that a client may choose from."""
    names = b"".join(name.encode() + b"\0" for name in mechanisms)
    return message(b"R", struct.pack("!i", 10) + names + b"\0")


def sasl_challenge(text: str) -> bytes:
    """What the client is to answer to."""
    return message(b"R", struct.pack("!i", 11) + text.encode())


def sasl_over(text: str) -> bytes:
    """The service's own proof, after which the client is let in."""
    return message(b"R", struct.pack("!i", 12) + text.encode())


PARSED, BOUND, CLOSED = message(b"1"), message(b"2"), message(b"3")
NO_DATA, SUSPENDED, EMPTY_QUERY = message(b"n"), message(b"s"), message(b"I")
