"""A copy of the project in which mistakes are planted and tests run, one process for each run.

Started by ``run.py`` in the copy. It compiles the source and loads third-party packages once; each
job then runs in a fork of it, which imports nothing of the project but from the copy as it is then.
Compiled source is checked by its content, so what an earlier mistake left behind is never run.

One line of JSON in, with ``file``, ``text``, ``tests`` and ``patience`` in seconds, one line out;
without a file the tests run on the source as it is, to the last. The answer has pytest's exit
status (None: it did not end in time), the tests that failed, the one that began last, CPU seconds,
and the end of what was printed.
"""

from __future__ import annotations

import compileall
import gc
import importlib
import json
import os
import py_compile
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

THIRD_PARTY = (
    *("hypothesis.strategies", "_hypothesis_pytestplugin", "numpy", "numpy.testing"),
    *("scipy.stats", "scipy.optimize", "scipy.special", "scipy.fft", "scipy.integrate"),
    *("scipy.sparse", "scipy.signal", "scipy.linalg", "sqlglot", "duckdb", "psycopg"),
    *("pandas", "polars", "pyarrow", "pyarrow.parquet", "typer.testing", "sqlite3", "xdist"),
)
OPTIONS = (
    *("-q", "-m", "not audit", "--no-header", "--disable-plugin-autoload"),
    *("-p", "_hypothesis_pytestplugin", "-p", "xdist.plugin", "-p", "no:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # they are loaded before pytest begins
)


class _Watch:
    """Writes down which test runs and which fail."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def _write(self, what: str, test: str) -> None:
        with self.place.open("a") as file:
            file.write(json.dumps([what, test]) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write("runs", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._write("fails", report.nodeid)


def _tests(tests: list[str], stop: list[str], watch: Path, output: Path) -> int:
    """Run pytest in this process, which is a fork: its output goes to a file."""
    os.setsid()
    with output.open("wb") as file, Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    status = int(pytest.main([*OPTIONS, *stop, *tests], plugins=[_Watch(watch)]))
    gc.unfreeze()
    return status


def _ended(child: int, patience: float) -> tuple[int | None, float]:
    """Wait for the fork; exit status, None if it had to be ended, and CPU seconds."""
    limit = time.monotonic() + patience
    done, status, used = os.wait4(child, os.WNOHANG)
    while not done:
        if time.monotonic() > limit:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            _, _, used = os.wait4(child, 0)
            return None, used.ru_utime + used.ru_stime
        time.sleep(0.01)
        done, status, used = os.wait4(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def outcome(job: dict[str, Any]) -> dict[str, Any]:
    """Do one job in a fork; in the fork this does not return."""
    watch, output = Path("watched"), Path("printed")
    watch.write_text("")
    place, before = None, b""
    if job["file"] is not None:
        place = Path(job["file"])
        before = place.read_bytes()
        place.write_text(job["text"])
    child = os.fork()
    if child == 0:
        stop = [] if place is None else ["-x"]
        sys.exit(_tests(job["tests"], stop, watch.absolute(), output.absolute()))
    try:
        status, seconds = _ended(child, job["patience"])
    finally:
        if place is not None:
            place.write_bytes(before)
    seen = [json.loads(line) for line in watch.read_text().splitlines()]
    return {
        "status": status,
        "failed": list(dict.fromkeys(test for what, test in seen if what == "fails")),
        "last": next((test for what, test in reversed(seen) if what == "runs"), None),
        "cpu": seconds,
        "printed": output.read_text(errors="replace")[-2000:],
    }


def main() -> None:
    """Get warm, then do jobs until there are none."""
    sys.dont_write_bytecode = False
    compileall.compile_dir(
        "src", quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
    )
    for name in THIRD_PARTY:
        with suppress(ImportError):
            importlib.import_module(name)
    sys.path.insert(0, str(Path("src").absolute()))
    gc.freeze()  # pytest collects garbage at its end, five times over: not ours, then
    for line in sys.stdin:
        sys.stdout.write(json.dumps(outcome(json.loads(line))) + "\n")
        sys.stdout.flush()
    gc.unfreeze()


if __name__ == "__main__":
    main()
