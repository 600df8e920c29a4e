"""The tests of Spark once more, through Spark Connect: a server in another process, over a wire.

A process has one kind of Spark session, so they run in a process of their own. About five minutes
on a quiet machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.relational.conformance import spark_connect_server
from tests.relational.conformance.spark_with_rows import CONNECT, missing

PROJECT = Path(__file__).parents[3]
SHARE = (
    "tests/relational/conformance/test_spark.py",
    "tests/relational/conformance/test_spark_engine.py",
    "tests/relational/conformance/test_spark_names.py",
    "tests/relational/conformance/test_one_read.py",
    "tests/relational/conformance/test_last_bounds.py",
    "tests/relational/adversarial/test_text.py",
)
"""Whatever the fast suite asks of Spark."""
_REASON = missing() or spark_connect_server.missing()


@pytest.mark.slow
@pytest.mark.skipif(_REASON is not None, reason=str(_REASON))
def test_spark_connect_passes_the_tests_of_spark() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHARE, "-k", "spark"],
        cwd=PROJECT,
        env={**os.environ, CONNECT: "yes"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = ran.stdout[-4000:]
    assert ran.returncode == 0, told
    assert int(told.rpartition(" passed")[0].split()[-1]) > 90, told
    assert "skipped" not in told.splitlines()[-1], told
