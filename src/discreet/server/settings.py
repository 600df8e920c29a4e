"""The settings of the service: ``[service]`` of the project file, checked before anything starts.

A mistake is refused by the name of its field and its line. Only what decides about privacy has no
default: ``quantum``, after which answers leave, is written out, also where it is "off".

Source: contract, "What may be seen"; 004d:D11.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.project.fields import NUMBER, TABLE, TEXT, TRUTH, VARIABLE, Fields, Shape
from discreet.curator.project.project import Project
from discreet.curator.project.tables import PrivateEntry
from discreet.ledger.durable_files import file_name
from discreet.server.spends import spend_of, spend_to_dict
from discreet.server.timing import STEP, Quanta, most_bits, most_levels


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _is_seconds(value: object) -> bool:
    return NUMBER.accepts(value) and _positive(value)


_SECONDS = Shape[float]("a positive number of seconds", "30", _is_seconds)
_COUNT = Shape[int]("a whole number of one or more", "8", lambda v: type(v) is int and v >= 1)
_PORT = Shape[int](
    "the number of a port, at most 65535; 0: any that is free",
    "5433",
    lambda v: type(v) is int and 0 <= v <= 65535,
)
_MANY = Shape[int]("a whole number of zero or more", "20", lambda v: type(v) is int and v >= 0)
USUAL_PORT = 8000
_ONE_QUANTUM = Shape[object](
    'a positive number of seconds, or "off"', "1.0", lambda v: v == "off" or _is_seconds(v)
)
_QUANTUM = Shape[object](
    'a positive number of seconds, "off", or a table with one for each private table',
    "1.0",
    lambda v: isinstance(v, dict) or _ONE_QUANTUM.accepts(v),
)
_STEP = Shape[int](
    "a power of two, from 2 to 1024",
    "8",
    lambda v: type(v) is int and 2 <= v <= 1024 and v.bit_count() == 1,
)
_ADDRESS = Shape[str](
    "an address that begins with http:// or https://",
    '"https://data.example.org"',
    lambda v: isinstance(v, str) and re.fullmatch(r"https?://[^\s/]+\S*", v) is not None,
)
_NUMBERS: dict[str, Shape[Any]] = {
    "overruns": _MANY,
    "workers": _COUNT,
    "per_analyst": _COUNT,
    "per_minute": _COUNT,
    "wait": _SECONDS,
    "longest": _SECONDS,
    "idle": _SECONDS,
    "body": _COUNT,
    "threads": _COUNT,
}


@dataclass(frozen=True)
class SQLiteState:
    """The state in a file, for one front process."""

    path: Path


@dataclass(frozen=True)
class PostgresState:
    """The state on a PostgreSQL server that replicas share; its address is in a variable."""

    variable: str


@dataclass(frozen=True, kw_only=True)
class IssuerSettings:
    """An OpenID Connect issuer: who vouches for people; it gives nobody any right."""

    issuer: str
    client_id: str
    secret_from: str


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, for TLS without a proxy."""

    certificate: Path
    key: Path


class WireEntry(StrEnum):
    """How people come in through the PostgreSQL door."""

    PASSWORD = "password"
    """By a token or a password, which they send."""
    SCRAM = "scram"
    """By proof of having a token, which they do not send; passwords let nobody in."""


@dataclass(frozen=True, kw_only=True)
class WireSettings:
    """The PostgreSQL door.

    Attributes:
        port: Where it listens.
        entry: How people come in.
        host: At which host; None: where the rest of the service listens.
        connections: Of one person, to each front process.
        patience: Seconds in which somebody comes in, a message is complete, and an answer taken.
        idle: Seconds that a connection may be silent.
    """

    port: int
    entry: WireEntry = WireEntry.PASSWORD
    host: str | None = None
    connections: int = 8
    patience: float = 10.0
    idle: float = 3600.0

    def plain(self) -> dict[str, object]:
        """What everybody may know, for JSON."""
        names = ("port", "connections", "patience", "idle")
        return {"entry": self.entry.value, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """What the owner decided about the service.

    Attributes:
        state: Where people, grants and jobs are kept.
        quanta: When answers leave.
        overruns: How many answers of one analyst may leave later than the quantum, in a day.
        workers: How many analysts may have grants; each has a process of their own.
        per_analyst: Questions of one analyst that are worked on at a time.
        per_minute: Requests of one person in a minute.
        wait: Seconds that a request waits for its answer before it is told to come back.
        longest: Seconds after which work is ended, whatever it does.
        idle: Seconds after which an analyst's process ends that has nothing to do.
        body: The most bytes of a request.
        threads: Of the engine in each worker; None: cores shared out among the workers.
        approval: A price above which a question waits for the owner or a steward; None: never.
        oidc: Who else vouches for people; None: passwords and tokens alone.
        certificate: For TLS; None without.
        behind_proxy: Whether a proxy in front ends TLS.
        address: The public address, for links; None: where it listens.
        port: Where it listens, unless the command says otherwise.
        wire: The PostgreSQL door; None: there is none.
        streams: Files of released ticks that everybody here may see, by name.
    """

    state: SQLiteState | PostgresState
    quanta: Quanta
    overruns: int = 20
    workers: int = 8
    per_analyst: int = 1
    per_minute: int = 600
    wait: float = 20.0
    longest: float = 600.0
    idle: float = 900.0
    body: int = 1_000_000
    threads: int | None = None
    approval: Guarantee | None = None
    oidc: IssuerSettings | None = None
    certificate: Certificate | None = None
    behind_proxy: bool = False
    address: str | None = None
    port: int = USUAL_PORT
    wire: WireSettings | None = None
    streams: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, place: Path) -> ServiceSettings:
        """The settings in the project file at ``place``."""
        fields = project.service
        if fields is None:
            raise InvalidParameter(
                code="project_field_missing",
                expectation="the part [service] of the project file",
                remedy="`discreet service init` writes it, and [record], with comments.",
            )
        folder = place.absolute().parent
        private = [name for name, each in project.tables.items() if isinstance(each, PrivateEntry)]
        given = {name: fields.maybe(name, shape) for name, shape in _NUMBERS.items()}
        numbers: dict[str, Any] = {name: v for name, v in given.items() if v is not None}
        step = fields.maybe("step", _STEP) or STEP
        port = fields.maybe("port", _PORT)
        made = cls(
            state=_state(fields, folder, SQLiteState(folder / f"{place.stem}.service")),
            quanta=_quanta(fields, private, step),
            approval=_approval(fields, project),
            oidc=_issuer(fields),
            certificate=_certificate(fields, folder),
            behind_proxy=fields.maybe("behind_proxy", TRUTH) or False,
            address=fields.maybe("address", _ADDRESS),
            port=USUAL_PORT if port is None else port,
            wire=_wire(fields),
            streams=_streams(fields, folder),
            **numbers,
        )
        fields.finish()
        return made

    def plain(self) -> dict[str, object]:
        """What everybody may know, for JSON."""
        return {
            "quantum": {name: each or "off" for name, each in self.quanta.seconds.items()},
            "step": self.quanta.step,
            "levels": {name: self._levels(each) for name, each in self.quanta.seconds.items()},
            "bits": {
                name: round(most_bits(1000, overruns=self.overruns, levels=self._levels(each)), 1)
                for name, each in self.quanta.seconds.items()
            },
            **{name: getattr(self, name) for name in _NUMBERS},
            "approval": None if self.approval is None else spend_to_dict(self.approval),
            "wire": None if self.wire is None else self.wire.plain(),
        }

    def _levels(self, quantum: float) -> int:
        return most_levels(quantum, self.longest, step=self.quanta.step)


def _state(fields: Fields, folder: Path, usual: SQLiteState) -> SQLiteState | PostgresState:
    """``state = "clinic.service"``, or a part that names a server."""
    if not isinstance(fields.values.get("state"), dict):
        named = fields.maybe("state", TEXT)
        return usual if named is None else SQLiteState(folder / file_name(named))
    part = fields.part("state")
    part.choice("kind", ("postgres",))
    made = PostgresState(part.take("address_from", VARIABLE))
    part.finish()
    return made


def _quanta(fields: Fields, private: Iterable[str], step: int) -> Quanta:
    """``quantum = 1.0`` for all tables, or ``[service.quantum]`` with a line for each."""
    value = fields.take("quantum", _QUANTUM)
    if not isinstance(value, dict):
        return Quanta(dict.fromkeys(private, _seconds(value)), step)
    part = fields.part("quantum")
    made = Quanta({name: _seconds(part.take(name, _ONE_QUANTUM)) for name in private}, step)
    part.finish()
    return made


def _seconds(value: object) -> float:
    return 0.0 if value == "off" else float(str(value))


def _approval(fields: Fields, project: Project) -> Guarantee | None:
    """``[service.approval]``: the price up to which nobody is asked."""
    if fields.maybe("approval", TABLE) is None:
        return None
    part = fields.part("approval")
    stated = {name: part.maybe(name, NUMBER) for name in ("epsilon", "delta", "rho")}
    part.finish()
    with fields.at("approval"):
        made = spend_of(**stated)
        if made is None:
            part.take("epsilon", NUMBER)
        assert made is not None
        project.guarded.check(made)
    return made


def _issuer(fields: Fields) -> IssuerSettings | None:
    if fields.maybe("oidc", TABLE) is None:
        return None
    part = fields.part("oidc")
    made = IssuerSettings(
        issuer=part.take("issuer", _ADDRESS).rstrip("/"),
        client_id=part.take("client_id", TEXT),
        secret_from=part.take("secret_from", VARIABLE),
    )
    part.finish()
    return made


def _wire(fields: Fields) -> WireSettings | None:
    """``[service.wire]``: where tools for PostgreSQL ask."""
    if fields.maybe("wire", TABLE) is None:
        return None
    part = fields.part("wire")
    shapes: dict[str, Shape[Any]] = {
        "host": TEXT,
        "connections": _COUNT,
        "patience": _SECONDS,
        "idle": _SECONDS,
    }
    given = {name: part.maybe(name, shape) for name, shape in shapes.items()}
    stated: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if part.maybe("entry", TEXT) is not None:
        stated["entry"] = WireEntry(part.choice("entry", tuple(WireEntry)))
    made = WireSettings(port=part.take("port", _PORT), **stated)
    part.finish()
    return made


def _streams(fields: Fields, folder: Path) -> dict[str, Path]:
    """``[service.streams]``: files that ``discreet stream --publish`` writes, by name."""
    if fields.maybe("streams", TABLE) is None:
        return {}
    part = fields.part("streams")
    made = {name: folder / part.take(name, TEXT) for name in list(part.values)}
    part.finish()
    return made


def _certificate(fields: Fields, folder: Path) -> Certificate | None:
    if fields.maybe("tls", TABLE) is None:
        return None
    part = fields.part("tls")
    made = Certificate(folder / part.take("certificate", TEXT), folder / part.take("key", TEXT))
    part.finish()
    for path in (made.certificate, made.key):
        if not path.is_file():
            raise InvalidParameter(
                code="certificate_missing",
                expectation="files with a certificate and its key, in [service.tls]",
                received=path.name,
                remedy="Check the paths; they are taken relative to the project file.",
            )
    return made
