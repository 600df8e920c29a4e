"""What the first message says: who, and with which settings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.server.wire.messages import Startup

_LONGEST = 100
_OPTION = re.compile(r"\s*(?:-c\s*|--)([\w.\-]+)=((?:\\.|[^\s\\])*)")


@dataclass(frozen=True)
class StartupParameters:
    """A name, a database that is only shown back, and settings."""

    user: str
    database: str
    settings: dict[str, str]


def parameters_of(first: Startup) -> StartupParameters:
    """The parts of the first message."""
    rest = {name: value for name, value in first.parameters.items() if name[:5] != "_pq_."}
    user = rest.pop("user", "")
    database = rest.pop("database", user)
    if rest.pop("replication", "off").lower() not in ("off", "false", "no", "0"):
        raise _refused()
    if not 0 < len(user) <= _LONGEST or len(database) > _LONGEST:
        raise _refused()
    return StartupParameters(user, database, {**_options(rest.pop("options", "")), **rest})


def _options(text: str) -> dict[str, str]:
    r"""``-c name=value``, several times; a backslash before a blank that belongs to a value.

    >>> _options("-c discreet.purpose=planning\\ of\\ beds --timezone=UTC")
    {'discreet.purpose': 'planning of beds', 'timezone': 'UTC'}
    """
    found, place = {}, 0
    while text[place:].strip():
        option = _OPTION.match(text, place)
        if option is None:
            raise _refused()
        found[option[1].replace("-", "_")] = re.sub(r"\\(.)", r"\1", option[2])
        place = option.end()
    return found


def _refused() -> InvalidParameter:
    return InvalidParameter(
        code="startup_refused",
        expectation="a user, a database, and settings such as options='-c discreet.purpose=…'",
        remedy="Correct the connection string.",
    )
