"""A Kafka broker of one's own, from a Java distribution, on loopback."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 60.0


def _free() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def broker(home: Path, folder: Path) -> Iterator[str]:
    """One broker that is its own controller; the address to reach it."""
    port, controller = _free(), _free()
    settings = folder / "server.properties"
    settings.write_text(
        "process.roles=broker,controller\n"
        "node.id=1\n"
        f"controller.quorum.voters=1@127.0.0.1:{controller}\n"
        f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n"
        "controller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        f"log.dirs={folder / 'logs'}\n"
        "offsets.topic.replication.factor=1\n"
    )
    storage = home / "bin" / "kafka-storage.sh"
    made = subprocess.run(
        [storage, "random-uuid"], check=True, capture_output=True, text=True
    ).stdout.strip()
    subprocess.run(
        [storage, "format", "-t", made, "-c", settings], check=True, stdout=subprocess.DEVNULL
    )
    start = [home / "bin" / "kafka-server-start.sh", settings]
    server = subprocess.Popen(start, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()
