"""Coming in by proof of having a token: the RFC's example, real drivers, what lets nobody in."""

import base64
import hashlib
import hmac
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, update

from discreet.server.identity.scram import Verifier, base64_text, salt_of, verifier_of
from discreet.server.settings import WireEntry, WireSettings
from discreet.server.state.schema import tokens
from discreet.server.state.store import StateStore
from discreet.server.state.tokens import verifiers
from discreet.server.wire.messages import ProtocolViolation
from discreet.server.wire.scram_exchange import MECHANISM, ScramExchange
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.opened_wire import PRICED, OpenedWire, opened_wire
from tests.server.wire.raw_client import RawClient, error_of, message, query, startup

pytestmark = pytest.mark.xdist_group("server")

NONCE = "rOprNGfwEbeRWgbNEkqO"


@pytest.fixture(scope="module")
def proving(running_service: RunningService) -> Iterator[OpenedWire]:
    with opened_wire(running_service, WireSettings(port=0, entry=WireEntry.SCRAM)) as made:
        yield made


def proof_of(secret: str, salt: bytes, conversation: bytes) -> bytes:
    """A client's part, written here from the RFC."""
    salted = hashlib.pbkdf2_hmac("sha256", secret.encode(), salt, 4096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(hashlib.sha256(key).digest(), conversation, "sha256")
    return bytes(a ^ b for a, b in zip(key, signature, strict=True))


def test_the_example_of_rfc_7677() -> None:
    server_nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    begun = ScramExchange.begun("user", f"n,,n=user,r={NONCE}".encode(), nonce=server_nonce)
    salt = "W22ZaJ0SNY7soEsUEjb6gQ=="
    begun = replace(begun, challenge=f"r={NONCE}{server_nonce},s={salt},i=4096")
    final = f"c=biws,r={NONCE}{server_nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    said = begun.proof(final.encode())
    verifier = verifier_of("pencil", salt=base64.b64decode(salt))
    assert verifier.accepts(said.proof, said.conversation)
    told = base64_text(verifier.signature(said.conversation))
    assert told == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert Verifier.from_text(verifier.to_text()) == verifier
    assert not verifier.accepts(said.proof[:-1] + b"\0", said.conversation)
    assert not verifier.accepts(b"", said.conversation)
    assert not verifier_of("pencils", salt=base64.b64decode(salt)).accepts(
        said.proof, said.conversation
    )


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"n,,n=user",
        b"n,,r=abcdefgh,n=user",
        f"p=tls-unique,,n=user,r={NONCE}".encode(),
        f"n,,n=user,r={NONCE},x=1".encode(),
        f"n,,m=1,n=user,r={NONCE}".encode(),
        b"n,,n=user,r=short",
        f"n,,n=\xff,r={NONCE}".encode("latin-1"),
    ],
)
def test_a_first_message_that_does_not_fit_is_refused(first: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        ScramExchange.begun("user", first)


@pytest.mark.parametrize(
    ("final", "fits"),
    [
        ("c=biws,r={n},p=AAAA", True),
        ("c=eSws,r={n},p=AAAA", False),
        ("c=biws,r={n}x,p=AAAA", False),
        ("c=biws,r=rOprNGfwEbeRWgbNEkqO,p=AAAA", False),
        ("c=biws,r={n},p=A", False),
        ("c=biws,r={n},m=1,p=AAAA", False),
        ("c=biws,r={n}", False),
    ],
)
def test_a_second_message_answers_the_first(final: str, fits: bool) -> None:  # noqa: FBT001
    begun = ScramExchange.begun("user", f"n,,n=,r={NONCE}".encode())
    text = final.replace("{n}", begun.nonce).encode()
    if fits:
        assert begun.proof(text).proof == base64.b64decode("AAAA")
    else:
        with pytest.raises(ProtocolViolation):
            begun.proof(text)


def test_no_two_conversations_are_alike() -> None:
    first, second = (ScramExchange.begun("u", f"n,,n=,r={NONCE}".encode()) for _ in range(2))
    assert first.challenge != second.challenge


def test_real_drivers_prove_and_ask(proving: OpenedWire, ann: ApiUser) -> None:
    ask = f"{PRICED} COUNT(*) AS n FROM visits"
    with psycopg.connect(
        proving.dsn(ann, require_auth="scram-sha-256"), autocommit=True
    ) as connection:
        asked = connection.execute(ask).fetchall()
    told = subprocess.run(
        ["psql", "-X", "-A", "-t", "-F,", proving.dsn(ann), "-c", ask],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert told.stdout.strip() == ",".join(map(str, asked[0]))


def test_a_second_token_of_the_same_person_lets_in_too_and_a_revoked_one_does_not(
    proving: OpenedWire, running_service: RunningService
) -> None:
    made = running_service.analyst()
    people = running_service.service.people
    second = running_service.call(people.new_token(made.person, label="second"))
    for token in (made.token, second.token):
        with psycopg.connect(proving.dsn(made, password=token), autocommit=True) as connection:
            assert connection.execute("SELECT current_user").fetchone() == (made.person.name,)
    running_service.call(people.revoke(made.person, second.entry.id))
    with pytest.raises(psycopg.OperationalError, match="not_let_in"):
        psycopg.connect(proving.dsn(made, password=second.token))
    with psycopg.connect(proving.dsn(made), autocommit=True) as connection:
        running_service.call(people.disable(running_service.owner.person, made.person.name))
        with pytest.raises(psycopg.Error, match="not_let_in"):
            connection.execute("SELECT 1")


def exchanged(client: RawClient, name: str, secret: str) -> list[tuple[bytes, bytes]]:
    """Come in by hand; all that comes after the proof."""
    client.send(startup(user=name))
    assert client.read() == (b"R", struct.pack("!i", 10) + MECHANISM.encode() + b"\0\0")
    bare = f"n=,r={NONCE}"
    first = f"n,,{bare}".encode()
    body = MECHANISM.encode() + b"\0" + struct.pack("!i", len(first)) + first
    client.send(message(b"p", body))
    letter, challenge = client.read()
    assert (letter, challenge[:4]) == (b"R", struct.pack("!i", 11))
    text = challenge[4:].decode()
    parts = dict(part.split("=", 1) for part in text.split(","))
    opened = f"c=biws,r={parts['r']}"
    proof = proof_of(secret, base64.b64decode(parts["s"]), f"{bare},{text},{opened}".encode())
    client.send(message(b"p", f"{opened},p={base64_text(proof)}".encode()))
    return client.rest()


def test_unknown_names_and_wrong_tokens_look_alike(
    proving: OpenedWire, running_service: RunningService, ann: ApiUser
) -> None:
    told = []
    for name, secret in (
        (ann.person.name, f"dsc_{'0' * 64}"),
        (ann.person.name, running_service.person().token),
        ("nobody", ann.token),
    ):
        with RawClient(proving.port) as client:
            told.append(error_of(exchanged(client, name, secret)))
    assert {each["C"] for each in told} == {"28P01"}
    assert len({tuple(each.items()) for each in told}) == 1
    assert salt_of("nobody") == salt_of("nobody") != salt_of("somebody")


def test_an_old_proof_is_worth_nothing_later(proving: OpenedWire, ann: ApiUser) -> None:
    """Whoever recorded a conversation cannot have it again."""
    kept: dict[str, Any] = {}
    for _ in range(2):
        with RawClient(proving.port) as client:
            client.send(startup(user=ann.person.name))
            client.read()
            first = f"n,,n=,r={NONCE}".encode()
            client.send(
                message(b"p", MECHANISM.encode() + b"\0" + struct.pack("!i", len(first)) + first)
            )
            text = client.read()[1][4:].decode()
            if not kept:
                opened = "c=biws," + text.split(",")[0]
                conversation = f"n=,r={NONCE},{text},{opened}".encode()
                proof = proof_of(ann.token, salt_of(ann.person.name), conversation)
                kept["final"] = f"{opened},p={base64_text(proof)}".encode()
                client.send(message(b"p", kept["final"]))
                assert client.read()[1][:4] == struct.pack("!i", 12)
                client.until()
                assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"I")
            else:
                client.send(message(b"p", kept["final"]))
                assert error_of(client.rest())["C"] == "08P01"


def test_another_mechanism_or_a_password_is_no_way_in(proving: OpenedWire, ann: ApiUser) -> None:
    for body in (
        b"SCRAM-SHA-1\0" + struct.pack("!i", -1),
        b"SCRAM-SHA-256-PLUS\0" + struct.pack("!i", 4) + b"n,,n",
        ann.token.encode() + b"\0",
    ):
        with RawClient(proving.port) as client:
            client.send(startup(user=ann.person.name))
            client.read()
            client.send(message(b"p", body))
            assert error_of(client.rest())["C"] == "08P01"


def test_a_token_that_expired_proves_nothing(
    proving: OpenedWire, running_service: RunningService
) -> None:
    made = running_service.analyst()
    state: StateStore = running_service.service.runtime.state

    def expired(connection: Connection) -> None:
        ours = tokens.c.person_id == made.person.id
        connection.execute(update(tokens).where(ours).values(expires_at=1))

    assert state.read_now(verifiers, made.person.name)
    state.write_now(expired)
    assert state.read_now(verifiers, made.person.name) == []
    with pytest.raises(psycopg.OperationalError, match="not_let_in"):
        psycopg.connect(proving.dsn(made))
