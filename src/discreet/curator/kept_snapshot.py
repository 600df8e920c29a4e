"""The owner's look whether tables are still what they were, so that their snapshot stays the same.

A file that was copied or touched has another version, and every question would be charged again.
The owner keeps what the content was, and compares later; where nothing changed, the ledger notes
that the two versions are one. What is kept is a fingerprint of the content under the owner's key,
in a file that is encrypted under that key: not in the ledger, and of no use to anybody else.

For the owner alone. An analyst's session never compares content: a free stored answer would tell
that nobody changed. Nothing here is reached through a policy, a child or a part.

Source: contract, "Spending" (snapshots).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.curator.context import Context
from discreet.ledger.durable_files import exists, put_in_place, write_new
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact
from discreet.noise.randomness import random_id
from discreet.relational.database import Database
from discreet.relational.schema.sources import FileSource

_FORM = "kept-snapshot/1"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class KeptTable:
    """What is kept of a table: its version, and a keyed fingerprint of what it holds."""

    version: str
    content: str


def keep_snapshot(context: Context, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Keep what the tables hold now, in a file for the owner; the names of the tables.

    Tables whose version the owner named are left out: the name stands for it.
    """
    _require_owner(context)
    made = {name: _digest_table(context, name) for name in _unnamed(context)}
    context.require_unchanged()
    content = _sealed(context.ledger.chain.owner(), made)
    target = Path(path)
    if exists(target):
        put_in_place(target.with_name(f"{target.name}.{random_id()}"), target, content)
    else:
        write_new(target, content)
    return tuple(made)


def same_snapshot(context: Context, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Let tables that hold what was kept have the snapshot they had then; their names.

    Refused, with nothing noted, where one of them holds something else.
    """
    _require_owner(context)
    before = _opened(context.ledger.chain.owner(), Path(path))
    names = _unnamed(context)
    missing = [name for name in names if name not in before]
    if missing:
        raise InvalidParameter(
            code="snapshot_not_kept",
            expectation="tables whose content was kept",
            received=missing,
            remedy="Keep it with `discreet snapshot keep`, or curator.keep_snapshot(path), while "
            "it is as it was.",
        )
    now = {name: _digest_table(context, name) for name in names}
    context.require_unchanged()
    other = [name for name in names if now[name].content != before[name].content]
    if other:
        raise InvalidParameter(
            code="content_differs",
            expectation="tables that hold what was kept",
            received=other,
            remedy="It is another version of the data, and questions about it are charged afresh. "
            "Keep it in turn, or give it a name: snapshot=.",
        )
    for name in names:
        _note(context, name, before[name].version)
    context.snapshots.clear()
    return tuple(names)


def _note(context: Context, name: str, version: str) -> None:
    """Let a table have an earlier version: for good where its file tells, else in this session."""
    found = context.database.version(name)
    if found is not None and context.version(name) != version:
        context.ledger.same_version(name, found, version)
    context.versions[name] = version


def _unnamed(context: Context) -> list[str]:
    """The tables whose version the owner did not name."""
    database = context.database
    return [name for name in database.names() if database.label(name) is None]


def _digest_table(context: Context, name: str) -> KeptTable:
    key = context.ledger.chain.owner()
    return KeptTable(context.version(name), key.tag("content", *_content(context.database, name)))


def _content(database: Database, name: str) -> tuple[str, str]:
    """What a table holds, as a digest: the bytes of a file, else its rows in any order."""
    source = database.tables[name].source
    if isinstance(source, FileSource):
        whole = hashlib.sha256()
        with source.path.open("rb") as file:
            while block := file.read(_BLOCK):
                whole.update(block)
        return "file", whole.hexdigest()
    columns = database.engine.columns(name)
    listed = ", ".join(map(database.engine.dialect.identifier, columns))
    rows = database.engine.rows(f"SELECT {listed} FROM {database.engine.place(name)}")
    digests = sorted(hashlib.sha256(repr(row).encode()).digest() for row in rows)
    head = compact(sorted(columns.items())).encode()
    return "rows", hashlib.sha256(head + b"".join(digests)).hexdigest()


def _require_owner(context: Context) -> None:
    """Refuse where a policy says that others ask, and what is not the whole."""
    if context.policies.policies or context.account is not context.ledger:
        raise InvalidParameter(
            code="owner_only",
            expectation="the data owner's own curator, without a policy",
            remedy="Run `discreet snapshot`, or open a curator without policy= for it.",
        )
    context.require_open()


def _sealed(key: OwnerKey, tables: Mapping[str, KeptTable]) -> bytes:
    plain = compact({name: [kept.version, kept.content] for name, kept in tables.items()})
    text = key.encrypt(plain.encode())
    return compact({"form": _FORM, "kept": text, "seal": key.tag(_FORM, text)}).encode()


def _opened(key: OwnerKey, path: Path) -> dict[str, KeptTable]:
    try:
        read = json.loads(path.read_bytes())
        text = read["kept"]
        if read["form"] == _FORM and read["seal"] == key.tag(_FORM, text):
            plain = json.loads(key.decrypt(text))
            return {name: KeptTable(*kept) for name, kept in plain.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    raise InvalidParameter(
        code="kept_snapshot_unreadable",
        expectation="a file that keeps the content of tables, under the key of this ledger",
        received=path.name,
        remedy="Write one with `discreet snapshot keep`, or curator.keep_snapshot(path).",
    )
