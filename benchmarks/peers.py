"""Peers: one virtual environment each, and a process inside it that answers in JSON lines.

The first line a peer writes is ``{"versions": {…}}``. Each request is one line of parameters;
each answer is ``{"seconds": …}``, timed inside the peer, or ``{"error": …}``. This file needs the
standard library only, because peers import :func:`serve` from it.
"""

from __future__ import annotations

import json
import re
import select
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ENVIRONMENTS = ROOT / ".bench"
INSTALL_SECONDS = 600
ANSWER_SECONDS = 180


class Missing(Exception):
    """A peer cannot be installed, started or asked; the message says why."""


def requirements(peer: str) -> list[str]:
    """What ``peers.toml`` asks for, every version pinned."""
    wanted = tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))[peer]["requirements"]
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.M))
    return [item if "==" in item else f"{item}=={pins[item]}" for item in wanted]


def environment(peer: str) -> Path:
    """The Python of the peer's environment, built if it is not there or its pins changed."""
    home = ENVIRONMENTS / peer
    python = home / "bin" / "python"
    pinned = requirements(peer)
    stamp = home / "installed.txt"
    if stamp.is_file() and stamp.read_text().split() == pinned:
        return python
    print(f"peer {peer}: installing {' '.join(pinned)}", file=sys.stderr, flush=True)
    shutil.rmtree(home, ignore_errors=True)
    ENVIRONMENTS.mkdir(exist_ok=True)
    (ENVIRONMENTS / ".gitignore").write_text("*\n")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", str(home)], [*pip, *pinned]):
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECONDS)
        except subprocess.CalledProcessError as failure:
            raise Missing(_last_line(failure.stderr or failure.stdout)) from failure
        except subprocess.TimeoutExpired as failure:
            reason = f"not installed within {INSTALL_SECONDS} s"
            raise Missing(reason) from failure
    stamp.write_text("\n".join(pinned) + "\n")
    return python


class Worker:
    """A process that works on request and says how long it took; it ends with :meth:`close`."""

    def __init__(
        self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the command; raise :class:`Missing` if it does not announce its versions."""
        self.name = name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment,
        )
        try:
            self.versions: dict[str, str] = self._answer()["versions"]
        except BaseException:
            self.close()
            raise

    def seconds(self, **parameters: Any) -> float:
        """How long the peer took for the work that the parameters describe."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(parameters) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as failure:
            raise Missing(self._complaint()) from failure
        answer = self._answer()
        if "error" in answer:
            raise Missing(answer["error"])
        return float(answer["seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], ANSWER_SECONDS)[0]:
            self._process.kill()
            reason = f"no answer within {ANSWER_SECONDS} s"
            raise Missing(reason)
        line = self._process.stdout.readline()
        if not line:
            raise Missing(self._complaint())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _complaint(self) -> str:
        self._log.seek(0)
        return _last_line(self._log.read())

    def close(self) -> None:
        """End the process, kindly at first."""
        try:
            self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class Peer(Worker):
    """A running peer; use it in a ``with`` block, which ends its process."""

    def __init__(self, peer: str, script: str) -> None:
        """Start ``script`` in the peer's environment; raise :class:`Missing` if that fails."""
        super().__init__(peer, [environment(peer), HERE / script])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve(work: Callable[[dict[str, Any]], float], *packages: str) -> None:
    """Run inside a peer: announce the versions, then answer requests until input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever a peer prints must not be taken for an answer

    def answer(content: dict[str, Any]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    answer({"versions": {package: version(package) for package in packages}})
    for line in sys.stdin:
        try:
            answer({"seconds": work(json.loads(line))})
        except Exception as failure:  # reported to the other side, which stops using the peer
            answer({"error": f"{type(failure).__name__}: {failure}"})


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "its process ended without a message"
