"""A Spark Connect server of the tests' own, on loopback, gone with the process that started it.

It is another process than the tests', as in use: what an engine sends and gets goes over a wire,
and only SQL text and rows of aggregates can.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_PATIENCE = 180.0


def missing() -> str | None:
    """Why there can be none here, beside what Spark itself needs."""
    if any(find_spec(name) is None for name in ("grpc", "grpc_status", "zstandard")):
        return "Spark Connect's client is not installed: pip install 'pyspark[connect]'"
    return None


def started(settings: Mapping[str, str]) -> str:
    """Start one with these settings; the address by which a session is made."""
    import pyspark

    port, home = _free_port(), Path(str(pyspark.__file__)).parent
    every = {
        **settings,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    given = [word for name, value in every.items() for word in ("--conf", f"{name}={value}")]
    command = [str(home / "bin" / "spark-submit"), "--master", "local[1]", *given]
    server = subprocess.Popen(
        [*command, "--class", _SERVER, "spark-internal"],
        env={**os.environ, "SPARK_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(_end, server)
    end = time.monotonic() + _PATIENCE
    while not _answers(port):
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"no Spark Connect server on port {port}")  # noqa: EM102
        time.sleep(0.2)
    return f"sc://127.0.0.1:{port}"


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
