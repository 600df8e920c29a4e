"""A real PostgreSQL server, started by the tests and gone with them.

``shared()`` is one server per test process, on loopback, with every durability setting on; each
user makes a database of its own in it. ``Server(...)`` is a private one, to be killed, restarted or
set up differently (``settings={"fsync": "off"}``).

PostgreSQL refuses to run as root, so then the server runs as the system's user ``postgres``. It
is a child of the test process and dies with it, even if that is killed.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import pytest

OWNER, PASSWORD = "owner", "correct horse battery staple"
"""The superuser of every server, and its password."""

_ACCOUNT = "postgres"  # of the system, where the tests run as root
_PATIENCE = 60.0
_DEATH = 1  # prctl's PR_SET_PDEATHSIG
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "80",
    "shared_buffers": "32MB",
    "logging_collector": "off",
    "autovacuum": "off",
}


def missing() -> str | None:
    """Why there can be no server here; None if there can."""
    if sys.platform == "win32":
        return "the tests start PostgreSQL on POSIX systems only"
    if _binary("initdb") is None or _binary("postgres") is None:
        return "PostgreSQL's server binaries (initdb, postgres) are not installed"
    if os.geteuid() == 0 and not _has_account():
        return "PostgreSQL refuses to run as root, and there is no system user `postgres`"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (the extra `postgres`)"
    return None


@functools.cache
def shared() -> Server:
    """The one server of this test process, durable; it ends with the process."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    server = Server()
    process = os.getpid()
    # A child of a fork inherits this, and must leave its parent's server alone.
    atexit.register(lambda: server.remove() if os.getpid() == process else None)
    server.start()
    return server


class Server:
    """One cluster in a folder of its own, on a free loopback port and a socket in its folder.

    Args:
        settings: Lines of ``postgresql.conf`` beside or instead of the usual ones.
        encoding: Of the databases.
    """

    def __init__(
        self, settings: Mapping[str, str] | None = None, *, encoding: str = "UTF8"
    ) -> None:
        """Make the cluster; :meth:`start` starts it."""
        self.folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
        self.host, self.port = "127.0.0.1", _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.log = self.folder / "log"
        self.log.touch()
        if os.geteuid() == 0:
            shutil.chown(self.folder, _ACCOUNT)
            shutil.chown(self.log, _ACCOUNT)
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        _run(
            *("initdb", "--no-sync", "--auth=scram-sha-256", f"--username={OWNER}"),
            *(f"--pwfile={password}", f"--encoding={encoding}", "--locale=C"),
            *("-D", str(self.folder / "data")),
        )
        lines = {**_SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        lines |= dict(settings or {})
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in lines.items())

    def start(self) -> Self:
        """Start, and wait until it answers; after a crash this includes the recovery."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [_binary("postgres") or "", "-D", str(self.folder / "data")],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                preexec_fn=_die_with_the_tests if sys.platform == "linux" else None,  # noqa: PLW1509
                **_as_account(),
            )
        end = time.monotonic() + _PATIENCE
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(self.log.read_text(errors="replace")[-2000:])
            time.sleep(0.02)
        return self

    def answers(self) -> bool:
        """Whether somebody can connect."""
        import psycopg

        try:
            with psycopg.connect(self.conninfo(), connect_timeout=5):
                return True
        except psycopg.OperationalError:
            return False

    def stop(self) -> None:
        """Shut down in order, ending every connection."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server and all its backends, as a loss of power would."""
        process = self._process
        if process is None:
            return
        children = _children(process.pid)
        for victim in (process.pid, *children):
            _signal(victim, signal.SIGKILL)
        process.wait(_PATIENCE)
        self._process = None
        end = time.monotonic() + _PATIENCE  # a cluster starts anew once no backend is left
        while any(_lives(child) for child in children):
            if time.monotonic() > end:
                raise RuntimeError(children)
            time.sleep(0.005)

    def remove(self) -> None:
        """Stop at once, and delete the cluster."""
        self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def conninfo(self, database: str = "postgres", **others: str | int) -> str:
        """A connection string for the superuser, over TCP."""
        from psycopg.conninfo import make_conninfo

        parts: dict[str, str | int] = {"host": self.host, "port": self.port, "dbname": database}
        parts |= {"user": OWNER, "password": PASSWORD}
        return make_conninfo("", **{**parts, **others})

    def url(self, database: str = "postgres") -> str:
        """The same as a URL."""
        from urllib.parse import quote

        return f"postgresql://{OWNER}:{quote(PASSWORD)}@{self.host}:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement as the superuser, outside any transaction; its rows, if any."""
        import psycopg

        with psycopg.connect(self.conninfo(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def database(self, options: str = "") -> str:
        """The name of a new, empty database."""
        name = f"d{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name} {options}")
        return name

    def drop(self, database: str) -> None:
        """Drop a database and whoever is connected to it."""
        self.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def cut(self, database: str) -> int:
        """End every connection to a database from the server's side; how many there were."""
        where = f"WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        return len(self.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity {where}"))

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(how)
            process.wait(_PATIENCE)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.remove()


@contextmanager
def database(options: str = "") -> Iterator[str]:
    """The connection string of a fresh database in the shared server, dropped afterwards."""
    server = shared()
    name = server.database(options)
    try:
        yield server.conninfo(name)
    finally:
        server.drop(name)


def _binary(name: str) -> str | None:
    found = shutil.which(name)
    if found is not None:
        return found
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: p.parent.name)
    return shutil.which(name, path=os.pathsep.join(map(str, reversed(folders))))


def _has_account() -> bool:
    import pwd

    try:
        pwd.getpwnam(_ACCOUNT)
    except KeyError:
        return False
    return True


def _as_account() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": _ACCOUNT, "group": _ACCOUNT, "extra_groups": [], "cwd": "/"}


def _run(name: str, *arguments: str) -> None:
    command = [_binary(name) or "", *arguments]
    subprocess.run(command, check=True, capture_output=True, **_as_account())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_the_tests() -> None:
    ctypes.CDLL(None).prctl(_DEATH, signal.SIGQUIT)


def _children(parent: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in found.stdout.split()]


def _lives(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def _signal(process: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, how)


needed = pytest.mark.skipif(missing() is not None, reason=missing() or "PostgreSQL is here")
"""Skip a test, or with ``pytestmark`` a module, where no server can be started."""
