"""A real Redis server on loopback, started by a test and gone with it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

_PATIENCE = 20.0


def missing() -> str | None:
    """Why there can be no server here; None if there can."""
    if shutil.which("redis-server") is None:
        return "redis-server is not installed"
    try:
        import redis  # noqa: F401
    except ImportError:
        return "the package redis is not installed (the extra `redis`)"
    return None


class RedisServer:
    """One server with its files in a folder; it keeps what it was given when it is killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.address = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1"]
        command += ["--dir", str(self._folder), "--save", "", "--appendonly", "yes"]
        command += ["--appendfsync", "always"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self._port), timeout=1) as asked:
                    asked.sendall(b"PING\r\n")
                    if asked.recv(7) == b"+PONG\r\n":
                        return
            except OSError:
                pass
            time.sleep(0.02)
        raise TimeoutError

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
