"""A policy: what the data owner allows to be asked, at what price, by whom and for what.

It narrows what the budget and the unit allow; it never widens it. Refusals are free, name the
rule, and depend on the question and the policy alone.

Source: 004d:D2, 000b:B46; contract, "What may be seen".
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from discreet.core.errors import InvalidParameter
from discreet.curator.policy.column_lineage import Use

NUMBERS = ("epsilon", "delta", "rho")
_FIELDS = ("min_spend", "max_spend", "tables", "joins", "purposes", "analysts")
_NEEDED = ("max_spend", "tables")
_WRITTEN = {"analysts": "askers", "min_spend": "least", "max_spend": "most"}
"""Fields under another name in the text of which ledgers keep the digest, for ever."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What may be asked.

    Args:
        max_spend: The most that one question may spend: ``{"epsilon": 0.5, "delta": 1e-7}``. A
            spend with a number that is not named here is refused.
        tables: For each private table that may be read, its columns by use:
            ``{"visits": {"filter": [...], "group": [...], "aggregate": [...]}}``.
        min_spend: The least, below which an answer would be noise only.
        joins: Pairs of tables that may meet in one question; none by default.
        purposes: If given, every question states one of them.
        analysts: If given, nobody else may ask.
    """

    max_spend: Mapping[str, float]
    tables: Mapping[str, Mapping[str, Iterable[str]]]
    min_spend: Mapping[str, float] = field(default_factory=dict)
    joins: Iterable[Iterable[str]] = ()
    purposes: Iterable[str] | None = None
    analysts: Iterable[str] | None = None

    def __post_init__(self) -> None:
        """Refuse what is missing, unknown or not of its kind, by name; keep plain copies."""
        for name in ("max_spend", "min_spend"):
            object.__setattr__(self, name, _bounds(name, getattr(self, name)))
        if not self.max_spend:
            raise _field(name="max_spend", wanted="at least one of epsilon, delta and rho")
        for name, low in self.min_spend.items():
            if low > self.max_spend.get(name, low):
                raise _field(name=f"min_spend.{name}", wanted="no more than max_spend")
        object.__setattr__(self, "tables", _tables(self.tables))
        object.__setattr__(self, "joins", _joins(self.joins))
        for name in ("purposes", "analysts"):
            listed = getattr(self, name)
            if listed is not None:
                object.__setattr__(self, name, _texts(name, listed))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Policy:
        """The policy in a TOML file."""
        try:
            with Path(path).open("rb") as file:
                content = tomllib.load(file)
        except (OSError, ValueError):
            raise InvalidParameter(
                code="policy_unreadable",
                expectation="a policy in a TOML file",
                received=Path(path).name,
                remedy="Check the path and the syntax; docs/policy.md has an example.",
            ) from None
        return cls.of(content)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Policy:
        """The policy that plain content states; unknown and missing fields are refused by name."""
        _require(content, allowed=_FIELDS, needed=_NEEDED, where="the policy")
        return cls(**content)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain JSON."""
        tables = {
            table: {use: list(listed) for use, listed in columns.items()}
            for table, columns in self.tables.items()
        }
        return {
            "min_spend": dict(self.min_spend),
            "max_spend": dict(self.max_spend),
            "tables": tables,
            "joins": [sorted(pair) for pair in self.joins],
            "purposes": None if self.purposes is None else list(self.purposes),
            "analysts": None if self.analysts is None else list(self.analysts),
        }

    @property
    def digest(self) -> str:
        """A fingerprint of the whole text: it stands in the ledger beside every question."""
        written = {_WRITTEN.get(name, name): value for name, value in self.to_dict().items()}
        text = json.dumps(written, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _require(
    content: object, *, allowed: tuple[str, ...], needed: tuple[str, ...], where: str
) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        raise _field(name=where, wanted=f"fields {', '.join(allowed)}")
    for name in content:
        if name not in allowed:
            raise _field(name=f"{name} in {where}", wanted=f"one of {', '.join(allowed)}")
    for name in needed:
        if name not in content:
            raise InvalidParameter(
                code="policy_field",
                expectation=f"{where} to have the field {name}",
                remedy="Write it; a list may be empty, []. docs/policy.md lists the fields.",
            )
    return content


def _bounds(name: str, value: object) -> dict[str, float]:
    given = _require(value, allowed=NUMBERS, needed=(), where=name)
    for number, bound in given.items():
        plain = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not plain or not 0 < bound < float("inf"):
            raise _field(name=f"{name}.{number}", wanted="a positive number")
    return dict(given)


def _tables(value: object) -> dict[str, dict[str, tuple[str, ...]]]:
    if not isinstance(value, Mapping) or not value:
        raise _field(name="tables", wanted="at least one table")
    uses = tuple(use.value for use in Use)
    made = {}
    for table, columns in value.items():
        where = f"tables.{table}"
        given = _require(columns, allowed=uses, needed=uses, where=where)
        made[str(table)] = {use: _texts(f"{where}.{use}", given[use]) for use in uses}
    return made


def _joins(value: object) -> tuple[frozenset[str], ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _field(name="joins", wanted="a list of pairs of tables")
    pairs = [_texts("joins", pair) for pair in value]
    if any(len(pair) != 2 for pair in pairs):
        raise _field(name="joins", wanted="a list of pairs of tables")
    return tuple(map(frozenset, pairs))


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        _not_texts(name)
    listed = tuple(value)
    if not all(isinstance(item, str) and item for item in listed):
        _not_texts(name)
    return listed


def _not_texts(name: str) -> NoReturn:
    raise _field(name=name, wanted="a list of names")


def _field(*, name: str, wanted: str) -> InvalidParameter:
    return InvalidParameter(
        code="policy_field",
        expectation=f"in a policy, for {name}: {wanted}",
        remedy="docs/policy.md lists the fields.",
    )
