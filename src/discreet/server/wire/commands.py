"""Words to the session: SET, SHOW, BEGIN and their like. All of them are free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.server.wire import messages
from discreet.server.wire.errors import unsupported_statement, warning
from discreet.server.wire.rowset import RowSet, WireColumn, done
from discreet.server.wire.session_settings import SessionSettings
from discreet.server.wire.statements import Token, WireStatement
from discreet.server.wire.transaction import STAYS, Transaction
from discreet.server.wire.types import TEXT

_IGNORED = {
    "SAVEPOINT": "SAVEPOINT",
    "RELEASE": "RELEASE",
    "UNLISTEN": "UNLISTEN",
    "CLOSE": "CLOSE CURSOR",
}
_SECOND = frozenset({"SESSION", "LOCAL"})


@dataclass
class SessionState:
    """What a session remembers, beside its statements and portals."""

    settings: SessionSettings
    transaction: Transaction = field(default_factory=Transaction)


@dataclass(frozen=True)
class CommandResult:
    """What a command gives, what clients are told beside, and which statements are forgotten."""

    result: RowSet
    beside: tuple[bytes, ...] = ()
    forgets: str | None = None
    forgets_all: bool = False


def shows_remaining(statement: WireStatement) -> bool:
    """Whether it is SHOW discreet.remaining, which the service answers and not the session."""
    said = [token.text.lower() for token in statement.tokens[1:5]]
    return statement.words[0] == "SHOW" and said == ["discreet", ".", "remaining"]


def columns_of(statement: WireStatement, state: SessionState) -> tuple[WireColumn, ...] | None:
    """The columns that a command will have; None for those without rows."""
    return _show_settings(statement, state).columns if statement.words[0] == "SHOW" else None


def executed(statement: WireStatement, state: SessionState) -> CommandResult:  # noqa: PLR0911
    """Do what a command says."""
    words, transaction = statement.words, state.transaction
    match words[0]:
        case "BEGIN" | "START":
            return CommandResult(done(transaction.begin()))
        case "COMMIT" | "END":
            return CommandResult(done(transaction.commit()))
        case "ROLLBACK" | "ABORT":
            return _rolled_back(statement, transaction)
        case "SET":
            return _set(statement.tokens[1:], state.settings)
        case "RESET":
            name = _name(statement.tokens[1:])
            told = state.settings.reset() if name == "all" else state.settings.set(name, None)
            return CommandResult(done("RESET"), _statuses(told))
        case "SHOW":
            return CommandResult(_show_settings(statement, state))
        case "DISCARD":
            told = state.settings.reset()
            return CommandResult(done("DISCARD ALL"), _statuses(told), forgets_all=True)
        case "DEALLOCATE":
            return _deallocated(statement.tokens[1:])
        case word if word in _IGNORED:
            return CommandResult(done(_IGNORED[word]))
        case word:
            raise unsupported_statement(word or statement.tokens[0].text)


def _rolled_back(statement: WireStatement, transaction: Transaction) -> CommandResult:
    if any(token.word == "TO" for token in statement.tokens):
        return CommandResult(done(transaction.back_to_savepoint()))
    charged = transaction.rollback()
    return CommandResult(done("ROLLBACK"), (warning(STAYS),) if charged else ())


def _show_settings(statement: WireStatement, state: SessionState) -> RowSet:
    rest = statement.tokens[1:]
    words = [token.word for token in rest]
    if words[:1] == ["ALL"]:
        columns = tuple(WireColumn(name, TEXT) for name in ("name", "setting", "description"))
        return RowSet(columns, [(*pair, "") for pair in state.settings.everything()], "SHOW")
    if words[:2] == ["TRANSACTION", "ISOLATION"]:
        name = "transaction_isolation"
    else:
        name = "timezone" if words[:2] == ["TIME", "ZONE"] else _name(rest)
    known, value = state.settings.show(name)
    return RowSet((WireColumn(known, TEXT),), [(value,)], "SHOW")


def _set(tokens: Sequence[Token], settings: SessionSettings) -> CommandResult:
    words = [token.word for token in tokens]
    if words[:2] == ["SESSION", "CHARACTERISTICS"] or words[:1] == ["TRANSACTION"]:
        return CommandResult(done("SET"))  # everything is read only, whatever is said
    if words[:1] and words[0] in _SECOND:
        tokens, words = tokens[1:], words[1:]
    if words[:2] == ["TIME", "ZONE"]:
        return CommandResult(done("SET"), _statuses(settings.set("timezone", _value(tokens[2:]))))
    if words[:1] == ["NAMES"]:
        return CommandResult(
            done("SET"), _statuses(settings.set("client_encoding", _value(tokens[1:])))
        )
    place = next((n for n, word in enumerate(words) if word in ("=", "TO")), None)
    if place is None:
        raise unsupported_statement("SET " + " ".join(words[:2]))
    told = settings.set(_name(tokens[:place]), _value(tokens[place + 1 :]))
    return CommandResult(done("SET"), _statuses(told))


def _deallocated(tokens: Sequence[Token]) -> CommandResult:
    words = [token.word for token in tokens]
    if words[:1] == ["PREPARE"]:
        tokens, words = tokens[1:], words[1:]
    if words == ["ALL"]:
        return CommandResult(done("DEALLOCATE ALL"), forgets_all=True)
    return CommandResult(done("DEALLOCATE"), forgets=_name(tokens))


def _name(tokens: Sequence[Token]) -> str:
    """A name, perhaps with a dot in it, as PostgreSQL reads it."""
    parts = [
        token.text.strip('"').replace('""', '"') if token.kind == "name" else token.text.lower()
        for token in tokens
        if token.kind in ("word", "name", "sign")
    ]
    if not parts or len(parts) != len(tokens):
        raise InvalidParameter(
            code="sql_syntax",
            expectation="the name of a setting or a statement",
            received=" ".join(token.text for token in tokens)[:64],
            remedy="Write for instance SHOW search_path.",
        )
    return "".join(parts)


def _value(tokens: Sequence[Token]) -> str | None:
    """The value after = or TO; None for DEFAULT."""
    words = [token.word for token in tokens]
    if words in (["DEFAULT"], []):
        return None
    return "".join(
        ", " if word == "," else _unquoted(token) for token, word in zip(tokens, words, strict=True)
    )


def _unquoted(token: Token) -> str:
    if token.kind == "text" and token.text.startswith("'"):
        return token.text[1:-1].replace("''", "'")
    if token.kind == "name":
        return token.text[1:-1].replace('""', '"')
    return token.text


def _statuses(told: Sequence[tuple[str, str]]) -> tuple[bytes, ...]:
    return tuple(messages.parameter_status(name, value) for name, value in told)
