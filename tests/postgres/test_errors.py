"""What a server reports is passed on in words of our own, and what it means is known."""

from __future__ import annotations

import psycopg
import pytest

from discreet.postgres.address import Address
from discreet.postgres.connection import connect
from discreet.postgres.errors import Failure, NoConnection, failure_of, reason_of, refusal

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("state", "failure"),
    [
        *(("08006", Failure.LOST), ("57P01", Failure.LOST), ("25P03", Failure.LOST)),
        *(("55P03", Failure.BUSY), ("40001", Failure.BUSY), ("57014", Failure.BUSY)),
        *(("23505", Failure.DAMAGED), ("42P01", Failure.DAMAGED), ("XX001", Failure.DAMAGED)),
        *(("42501", Failure.REFUSED), ("53100", Failure.REFUSED), ("22012", Failure.REFUSED)),
    ],
)
def test_a_state_says_what_became_of_a_statement(state: str, failure: Failure) -> None:
    assert failure_of(psycopg.errors.lookup(state)(SECRET)) is failure


@pytest.mark.parametrize("kind", [psycopg.OperationalError, psycopg.InterfaceError])
def test_without_a_state_the_connection_is_lost(kind: type[psycopg.Error]) -> None:
    assert failure_of(kind(SECRET)) is Failure.LOST


@pytest.mark.parametrize("state", ["42501", "53100", "22012", "42601"])
def test_a_refusal_holds_no_word_of_the_server(state: str) -> None:
    said = refusal(psycopg.errors.lookup(state)(f"row contains {SECRET}"))
    assert said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (f'password authentication failed for user "{SECRET}"', "refused user or password"),
        (f"could not translate host name {SECRET}", "the host name is not known"),
        ("connection refused", "nobody listens there"),
        (f"something of {SECRET}", "no connection"),
    ],
)
def test_a_reason_is_in_words_of_our_own(said: str, words: str) -> None:
    reason = reason_of(psycopg.OperationalError(said))
    assert words in reason
    assert SECRET not in reason


def test_a_failed_connection_has_no_error_of_the_server_attached() -> None:
    address = Address(f"postgresql://ann:{SECRET}@127.0.0.1:1/none")
    with pytest.raises(NoConnection) as refused:
        connect(address)
    assert refused.value.reason == "nobody listens there"
    assert refused.value.__context__ is None
    assert SECRET not in repr(vars(address)) + repr(address)
