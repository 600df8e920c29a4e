"""Importing is quick and light, and so is a first release."""

import subprocess
import sys
from statistics import median

IMPORT_SECONDS = 0.05
FIRST_RELEASE_SECONDS = 0.5
RUNS = 5

# The smaller of wall and processor time: a busy machine inflates the one, threads the other.
TIMED = """
import time
wall, processor = time.perf_counter(), time.process_time()
{code}
print(min(time.perf_counter() - wall, time.process_time() - processor))
"""
FOREIGN = """
import sys
before = set(sys.modules)
import discreet
names = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(names - sys.stdlib_module_names - {"discreet"}))
"""


def output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def seconds(code: str) -> float:
    """Median time of code in a fresh interpreter, after one run that compiles it."""
    output(code)
    return median(float(output(TIMED.format(code=code))) for _ in range(RUNS))


def test_import_is_quick() -> None:
    assert seconds("import discreet") < IMPORT_SECONDS


def test_import_loads_nothing_third_party() -> None:
    assert output(FOREIGN) == ""


def test_the_check_of_foreign_modules_works() -> None:
    assert "pytest" in output(FOREIGN.replace("import discreet", "import discreet, pytest"))


def test_a_first_release_is_quick() -> None:
    code = "from discreet.mechanisms import Laplace; Laplace(epsilon=1, sensitivity=1).release(42)"
    assert seconds(code) < FIRST_RELEASE_SECONDS


def test_names_are_listed_and_unknown_ones_refused() -> None:
    import discreet

    assert set(discreet.__all__) <= set(dir(discreet))
    assert not hasattr(discreet, "no_such_name")
