"""Bytes that are no messages: the connection ends with an error, nothing is charged, all go on.

More than 300 generated messages, each certain to be malformed by how it is made.
"""

import struct
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.server.wire.messages import ProtocolViolation, read_first, read_message
from tests.server.running_service import ApiUser
from tests.server.wire.opened_wire import PRICED, OpenedWire, spent
from tests.server.wire.raw_client import (
    SYNC,
    RawClient,
    bind,
    describe,
    error_of,
    execute,
    message,
    parse,
    query,
    startup,
)

pytestmark = pytest.mark.xdist_group("server")

COUNT = f"{PRICED} COUNT(*) AS n FROM visits WHERE age > 61".encode()
KNOWN = b"QPBDECSHX"
LEAST = {b"Q": 1, b"P": 4, b"B": 8, b"D": 2, b"E": 5, b"C": 2}
"""Bytes that the body of each message has at least."""

texts = st.binary(max_size=30).map(lambda each: each.replace(b"\0", b"x"))
small = st.integers(-(2**15), 2**15 - 1)


@st.composite
def malformed(draw: st.DrawFn) -> bytes:  # noqa: PLR0911
    """One message that cannot be read, around the text of a question with a price."""
    whole = {
        b"Q": COUNT + b"\0",
        b"P": b"\0" + COUNT + b"\0\0\0",
        b"B": b"\0\0" + struct.pack("!hhh", 0, 0, 0),
        b"D": b"P\0",
        b"E": b"\0" + struct.pack("!i", 0),
        b"C": b"S\0",
        b"S": b"",
        b"H": b"",
    }
    letter = draw(st.sampled_from(sorted(whole)))
    body = whole[letter]
    kind = draw(st.integers(0, 8))
    if kind == 0:  # a letter that nobody knows
        other = draw(st.binary(min_size=1, max_size=1).filter(lambda each: each not in KNOWN))
        return message(other, body)
    if kind == 1:  # more than there should be
        return message(letter, body + draw(st.binary(min_size=1, max_size=20)))
    if kind == 2 and letter in LEAST:  # less than there should be
        return message(letter, body[: draw(st.integers(0, LEAST[letter] - 1))])
    if kind == 3:  # a length that is none
        length = draw(st.integers(-(2**31), 3) | st.integers(2_000_000, 2**31 - 1))
        return letter + struct.pack("!i", length) + body
    if kind == 4:  # no end of the text
        return message(b"Q", COUNT + draw(texts))
    if kind == 5:  # no UTF-8
        return message(b"Q", COUNT + b"\xff\xfe" + draw(texts) + b"\0")
    if kind == 6:  # so many types that are not there
        count = draw(small.filter(lambda each: each != 0))
        return message(b"P", b"\0" + COUNT + b"\0" + struct.pack("!h", count))
    if kind == 7:  # formats and values that are not there, or are none
        count = draw(st.integers(2, 2**15 - 1) | st.integers(-(2**15), -1))
        form = draw(st.integers(2, 99))
        return message(
            b"B",
            draw(
                st.sampled_from(
                    [
                        b"\0\0" + struct.pack("!hhh", 0, count, 0),
                        b"\0\0" + struct.pack("!hhh", count, 0, 0),
                        b"\0\0" + struct.pack("!hhhh", 1, form, 0, 0),
                        b"\0\0" + struct.pack("!hhih", 0, 1, -2, 0),
                        b"\0\0" + struct.pack("!hhih", 0, 1, 2**31 - 1, 0),
                        b"\0\0" + struct.pack("!hhhh", 0, 0, 1, form),
                    ]
                )
            ),
        )
    other = draw(st.binary(min_size=1, max_size=1).filter(lambda each: each not in b"SP"))
    return message(draw(st.sampled_from([b"D", b"C"])), other + b"\0")


def _first(code: int, rest: bytes) -> bytes:
    return struct.pack("!ii", 8 + len(rest), code) + rest


@st.composite
def malformed_start(draw: st.DrawFn) -> bytes:
    """A first message that cannot be read."""
    code = draw(
        st.integers(-(2**31), 2**31 - 1).filter(
            lambda each: each >> 16 != 3 and each not in (80877102, 80877103, 80877104)
        )
    )
    tail = draw(st.binary(min_size=1, max_size=8))
    length = draw(st.integers(-(2**31), 7) | st.integers(10_010, 2**31 - 1))
    odd = [
        _first(code, tail),
        struct.pack("!ii", length, 3 << 16),
        _first(80877103, tail),
        _first(80877102, b"1234567" + tail + b"x"),
        _first(3 << 16, b"user\0ann\0\0" + tail),
        _first(3 << 16, b"user\0\xff\xfe" + tail + b"\0\0"),
        _first(3 << 16, b"user\0a\0user\0b\0" + tail),
        _first(3 << 16, b"user\0ann" + tail.replace(b"\0", b"x")),
    ]
    return draw(st.sampled_from(odd))


generated = settings(
    max_examples=280,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_whoever_sends_what_is_no_message_is_told_and_let_go(
    wire: OpenedWire, ann: ApiUser
) -> None:
    before = spent(ann)
    seen = set()

    @generated
    @given(malformed())
    def sent(data: bytes) -> None:
        seen.add(data)
        with wire.entered(ann) as client:
            client.send(data + SYNC)
            told = error_of(client.rest())
        assert (told["S"], told["C"], told["R"]) == ("FATAL", "08P01", "protocol_violation")

    sent()
    assert len(seen) >= 200
    assert spent(ann) == before
    with wire.entered(ann) as client:
        assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")


def test_before_anybody_is_let_in_too(wire: OpenedWire, ann: ApiUser) -> None:
    seen = set()

    @settings(generated, max_examples=160)
    @given(malformed_start())
    def sent(data: bytes) -> None:
        seen.add(data)
        with RawClient(wire.port) as client:
            client.send(data)
            assert error_of(client.rest())["C"] == "08P01"

    sent()
    assert len(seen) >= 60
    with RawClient(wire.port) as client:
        client.send(startup(user=ann.person.name))
        client.read()
        client.send(query(COUNT.decode()))
        assert error_of(client.rest())["C"] == "08P01", "a question instead of a password"
    with wire.entered(ann) as client:
        assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")


@settings(generated, max_examples=150)
@given(malformed())
def test_the_reader_refuses_them_all(data: bytes) -> None:
    letter, (length,), body = data[:1], struct.unpack("!i", data[1:5]), data[5:]
    if length == len(body) + 4:
        with pytest.raises(ProtocolViolation):
            read_message(letter, body)


@settings(generated, max_examples=300)
@given(st.binary(min_size=1, max_size=1), st.binary(max_size=60))
def test_any_bytes_are_a_message_or_a_violation(letter: bytes, body: bytes) -> None:
    for read in (lambda: read_message(letter, body), lambda: read_first(body)):
        with suppress(ProtocolViolation):
            read()


def test_mutated_conversations_never_break_the_server(wire: OpenedWire, ann: ApiUser) -> None:
    whole = parse("SELECT 1", "q") + bind("p", "q") + describe(b"P", "p") + execute("p", 1) + SYNC

    @settings(generated, max_examples=60)
    @given(st.integers(0, len(whole) - 1), st.integers(1, 255))
    def sent(place: int, change: int) -> None:
        changed = bytearray(whole)
        changed[place] ^= change
        with wire.entered(ann) as client:
            client.send(bytes(changed) + message(b"X"))
            client.sock.shutdown(1)
            client.rest()

    sent()
    with wire.entered(ann) as client:
        assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")
