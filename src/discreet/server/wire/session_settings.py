"""The settings of one session: what clients set and show, and what names the budget that pays.

Most settings change nothing here, and are kept because programs set them and read them back. Those
of ``discreet`` say how questions of this session are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.errors import InvalidParameter

_MOST, _LONGEST = 64, 500
_OWN = {"discreet.purpose": "", "discreet.account": "", "discreet.confidence": "0.95"}
"""Settings of ``discreet``, and what they are where nothing was said."""
_NAMES = {"datestyle": "DateStyle", "timezone": "TimeZone", "intervalstyle": "IntervalStyle"}
_FOLLOWED = ("application_name", "client_encoding", "DateStyle", "TimeZone", "IntervalStyle")
"""Settings of which clients are told when they change."""
_QUIET = ("warning", "error", "fatal", "panic")
VERSION = "15.0"
_BEGINNING = {
    "server_version": f"{VERSION} (discreet)",
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "in_hot_standby": "off",
    "is_superuser": "off",
    "search_path": "public",
    "max_identifier_length": "63",
    "extra_float_digits": "1",
    "client_min_messages": "notice",
    "statement_timeout": "0",
    "lc_collate": "C",
    "lc_ctype": "C",
    "bytea_output": "hex",
}
_FIXED = frozenset(
    {
        "server_version",
        "server_version_num",
        "server_encoding",
        "integer_datetimes",
        "standard_conforming_strings",
        "transaction_read_only",
        "is_superuser",
        "in_hot_standby",
        "max_identifier_length",
    }
)
_REPORTED = (
    *("server_version", "server_encoding", "client_encoding", "application_name", "DateStyle"),
    *("IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings"),
    *("default_transaction_read_only", "in_hot_standby", "is_superuser"),
)


class SessionSettings:
    """Settings by name, in any case of letters."""

    def __init__(self, person: str, given: Mapping[str, str]) -> None:
        """What every session begins with, and what the client asked for at the start."""
        self._values = {**_BEGINNING, "session_authorization": person}
        self._first = dict(self._values)
        for name, value in given.items():
            self.set(name, value)
        self._first = dict(self._values)

    def reported(self) -> list[tuple[str, str]]:
        """What clients are told at the beginning."""
        names = (*_REPORTED, "session_authorization")
        return [(name, self._values[name]) for name in names]

    def set(self, name: str, value: str | None) -> list[tuple[str, str]]:
        """Set, or with None go back to the beginning; what clients are told of it."""
        known = self._name(name)
        if value is None:
            value = self._first.get(known, "")
        if known in _FIXED or known == "session_authorization":
            if value.lower() != self._values[known].lower():
                raise _fixed(known)
            return []
        if known == "client_encoding" and value.replace("-", "").lower() not in _UNICODE:
            raise _fixed(known)
        if len(value) > _LONGEST or (known not in self._values and len(self._values) >= _MOST):
            raise _too_many()
        self._values[known] = "UTF8" if known == "client_encoding" else value
        return [(known, self._values[known])] if known in _FOLLOWED else []

    def reset(self) -> list[tuple[str, str]]:
        """All of them as they were at the beginning."""
        self._values = dict(self._first)
        return [(name, self._values[name]) for name in _FOLLOWED]

    def show(self, name: str) -> tuple[str, str]:
        """The proper name of a setting, and its value."""
        known = self._name(name)
        if known not in self._values and known not in _OWN:
            raise _unknown(name)
        return known, self._values.get(known) or _OWN.get(known, "")

    def everything(self) -> list[tuple[str, str]]:
        """All of them, by name."""
        return sorted({**_OWN, **{name: self.show(name)[1] for name in self._values}}.items())

    def terms(self) -> dict[str, Any]:
        """What requests take from the session: who pays, and what for."""
        named = {name: self._values.get(f"discreet.{name}") for name in ("purpose", "account")}
        return {name: value for name, value in named.items() if value}

    def confidence(self) -> float:
        """The confidence of the intervals that answers come with."""
        _, said = self.show("discreet.confidence")
        try:
            return float(said)
        except ValueError:
            raise _unknown(said) from None

    def wants_notices(self) -> bool:
        """Whether the client takes messages that are no warnings, as PostgreSQL reads it."""
        return self._values["client_min_messages"].strip("'").lower() not in _QUIET

    def _name(self, name: str) -> str:
        known = name.lower()
        if known.startswith("discreet.") and known not in _OWN:
            raise _unknown(name)
        return _NAMES.get(known, known)


_UNICODE = ("utf8", "unicode", "auto", "'utf8'")


def _unknown(name: str) -> InvalidParameter:
    return InvalidParameter(
        code="setting_unknown",
        expectation=f"a setting of this session, or one of {', '.join(_OWN)}",
        received=name[:64],
        remedy="SHOW ALL lists them; SHOW discreet.remaining says what is left of your budgets.",
    )


def _fixed(name: str) -> InvalidParameter:
    return InvalidParameter(
        code="setting_fixed",
        expectation=f"{name} as it is",
        remedy="Texts are UTF-8, and the server's own settings do not change.",
    )


def _too_many() -> InvalidParameter:
    return InvalidParameter(
        code="too_many_settings",
        expectation=f"at most {_MOST} settings, of {_LONGEST} letters each",
        remedy="RESET ALL forgets them.",
    )
