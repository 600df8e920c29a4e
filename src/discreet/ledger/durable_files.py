"""Files that survive a loss of power: written whole, flushed, and their folder flushed too."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.ledger.errors import unwritable

OWNER_ONLY = 0o600
_ADDRESS = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+://|postgres(ql)?:)")


def file_name(text: str) -> str:
    """The text, refused if it is the address of a server: no password becomes a file's name."""
    if _ADDRESS.match(text):
        raise InvalidParameter(
            code="ledger_key_needed",
            expectation="a ledger on a server together with the place of its key",
            received="the address of a server",
            remedy='Write ledger=dp.ledger.PostgreSQL(url, name="visits", key="vault/visits.key").',
        )
    return text


def file_path(path: str | os.PathLike[str]) -> Path:
    """The whole path of a file, refused like :func:`file_name`."""
    return Path(file_name(path) if isinstance(path, str) else path).resolve()


def write_new(path: Path, content: bytes) -> None:
    """Write a file that did not exist, readable by its owner only, durable on return."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        try:
            if os.write(handle, content) != len(content):
                raise unwritable(reason=path.name)
            os.fsync(handle)
        finally:
            os.close(handle)
    except FileExistsError:
        raise
    except OSError as error:
        raise unwritable_at(path, error) from error
    sync_folder(path.parent)


@contextmanager
def backup_file(target: Path) -> Iterator[None]:
    """An empty file that stays if the block succeeds, and is removed if it does not."""
    try:
        write_new(target, b"")
    except FileExistsError:
        raise InvalidParameter(
            code="backup_exists",
            expectation="a place for the back-up where nothing is yet",
            received=target.name,
            remedy="Choose another name; a back-up never overwrites anything.",
        ) from None
    try:
        yield
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def put_in_place(draft: Path, path: Path, content: bytes) -> None:
    """Let a file have another content, whole or not at all, durable on return.

    Owner and permissions stay as they are. ``draft`` is a name that nobody uses.
    """
    write_new(draft, content)
    try:
        was, now = path.stat(), draft.stat()
        draft.chmod(stat.S_IMODE(was.st_mode))
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
            os.chown(draft, was.st_uid, was.st_gid)
        draft.replace(path)
    except OSError as error:
        raise unwritable_at(path, error) from error
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def give_name(file: Path, name: Path) -> None:
    """Give a finished file a further name, unless that is taken: whole or not at all."""
    try:
        os.link(file, name)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        raise unwritable_at(name, error) from error
    sync_folder(name.parent)


def sync_file(path: Path) -> None:
    """Flush the content of a file."""
    _sync(path, os.O_RDWR)


def sync_folder(path: Path) -> None:
    """Flush the names in a folder, where the system can."""
    if sys.platform != "win32":
        _sync(path, os.O_RDONLY)


def exists(path: Path) -> bool:
    """Whether something is there; a place that cannot be looked at is an error, not a no."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unwritable_at(path, error) from error
    return True


def size(path: Path) -> int:
    """How many bytes a file has; nothing is as short as an empty file."""
    return path.stat().st_size if exists(path) else 0


def unwritable_at(path: Path, error: OSError) -> LedgerError:
    """What the system says about a place."""
    return unwritable(reason=f"{path.name}: {error.strerror}")


def _sync(path: Path, mode: int) -> None:
    try:
        handle = os.open(path, mode)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise unwritable_at(path, error) from error
