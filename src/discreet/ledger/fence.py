"""The fence: which one copy of a ledger lives, written after the secret in its key file.

A copy lives if it contains the entry that the fence names and lies where the fence says. A ledger
brought back elsewhere gets an entry of its own, which the fence names from then on: whatever was
copied before lacks it, and is never added to again. The fence carries a tag under the key, so that
nothing else at the end of a secret is taken for one.

Proof: ``proofs/ledger.md``. Source: contract, "Spending" (restoring an old copy).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from discreet.ledger.checkpoint import Head
from discreet.ledger.errors import damaged
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact

_MARK = b"\ndiscreet fence "


@dataclass(frozen=True)
class Place:
    """Where a ledger lies.

    Attributes:
        text: The path of its file, or its name on a server.
        file: Device and number of the file, which stay the same when it is renamed.
    """

    text: str
    file: tuple[int, int] | None = None

    @classmethod
    def of_file(cls, path: Path) -> Place:
        """Where a file lies."""
        found = path.stat()
        return cls(str(path), (found.st_dev, found.st_ino))

    def is_also(self, other: Place) -> bool:
        """Whether it is the same by path or by file: renamed, or written anew in its place."""
        return self.text == other.text or (self.file is not None and self.file == other.file)


@dataclass(frozen=True)
class Fence:
    """The entry that the living copy contains, and where that copy lies."""

    head: Head
    place: Place

    def text(self) -> str:
        """All of it, in one form."""
        file = None if self.place.file is None else list(self.place.file)
        return compact({"head": str(self.head), "place": self.place.text, "file": file})


def fenced(secret: bytes, fence: Fence) -> bytes:
    """The content of a key file."""
    text = fence.text()
    tagged = compact({"fence": text, "tag": OwnerKey(secret).tag("fence", text)})
    return secret + _MARK + tagged.encode("ascii") + b"\n"


def secret_of(content: bytes) -> bytes:
    """The secret in a key file, with a fence or without."""
    return content.rpartition(_MARK)[0] if _MARK in content else content


def fence_of(content: bytes) -> Fence | None:
    """The fence in a key file; None for one that was written without."""
    secret, mark, tagged = content.rpartition(_MARK)
    if not mark:
        return None
    try:
        whole = json.loads(tagged)
        text = str(whole["fence"])
        if whole["tag"] == OwnerKey(secret).tag("fence", text):
            plain = json.loads(text)
            file = None if plain["file"] is None else (int(plain["file"][0]), int(plain["file"][1]))
            return Fence(Head.parse(plain["head"]), Place(plain["place"], file))
    except (ValueError, LookupError, TypeError):
        pass
    raise damaged(what="the fence in the key file")
