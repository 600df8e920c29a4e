"""Every action of one analyst against every observation of others, at all four doors.

Here in small, and without times, which other work on the machine changes as well; whole, with more
than two thousand trials and with times, it is ``python benchmarks/neighbours.py`` on a machine that
does nothing else.
"""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
ALL: list[str] = []
SOME = ["nothing", "hundred_statements", "answers_not_taken"]


@pytest.mark.parametrize("actions", [SOME, pytest.param(ALL, marks=pytest.mark.slow)])
def test_whatever_somebody_does_others_are_answered(actions: list[str]) -> None:
    only = ["--only", *actions] if actions else []
    few = ["--few", "--untimed", "--seconds", "1.5", "--quantum", "0.5"]
    asked = [sys.executable, str(HERE / "benchmarks" / "neighbours.py"), *few, *only]
    done = subprocess.run(asked, cwd=HERE, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("holds\n")
