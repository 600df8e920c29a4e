"""Plant plausible mistakes one at a time and see which tests notice: ``make mutants``.

Each area has a file beside this one, ``<area>.toml``, with a list of mistakes: the file, the text
that stands there once, the text that replaces it, and the tests that should fail then. A mistake
that changes nothing anybody could see says so in ``survives``. Pins of proofs are no tests here:
they notice every change, right or wrong.

    python tests/mutants/run.py                     all areas
    python tests/mutants/run.py ledger accounting   some of them
    python tests/mutants/run.py ledger/seal         those whose name begins so
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
WORKERS = 2
SECONDS = 900


@dataclass(frozen=True)
class Mutant:
    """One planted mistake."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def title(self) -> str:
        """Area and name."""
        return f"{self.area}/{self.name}"

    def planted(self, text: str) -> str:
        """The file with the mistake in it."""
        if text.count(self.old) != 1:
            message = f"{self.title}: its text stands {text.count(self.old)} times in {self.file}"
            raise ValueError(message)
        return text.replace(self.old, self.new)


def mutants(wanted: list[str]) -> list[Mutant]:
    """All planted mistakes, or those of the areas or with the beginnings of names given."""
    found = [
        Mutant(area=path.stem, **{**entry, "tests": tuple(entry["tests"])})
        for path in sorted(HERE.glob("*.toml"))
        for entry in tomllib.loads(path.read_text())["mutant"]
    ]
    if not wanted:
        return found
    return [
        mutant
        for mutant in found
        if any(mutant.area == word or mutant.title.startswith(word) for word in wanted)
    ]


def killed(mutant: Mutant, slot: Path) -> bool:
    """Whether the tests named by the mistake fail where it is planted."""
    shutil.rmtree(slot, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.svg")
    for folder in ("src", "tests", "examples", "proofs", "docs"):
        shutil.copytree(PROJECT / folder, slot / folder, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(PROJECT / name, slot / name)
    place = slot / mutant.file
    place.write_text(mutant.planted(place.read_text()))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not audit", *mutant.tests],
        cwd=slot,
        env={**os.environ, "PYTHONPATH": str(slot / "src"), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    if run.returncode not in {0, 1}:
        message = (
            f"{mutant.title}: pytest ended with {run.returncode}\n{run.stdout.decode()[-2000:]}"
        )
        raise RuntimeError(message)
    return run.returncode == 1


def _outcome(mutant: Mutant) -> tuple[Mutant, str, float]:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as slot:
        try:
            outcome = "killed" if killed(mutant, Path(slot) / "project") else "survived"
        except subprocess.TimeoutExpired:
            outcome = "killed"  # it never ends: somebody would notice
    return mutant, outcome, time.monotonic() - begun


def main(wanted: list[str]) -> int:
    """Run, list, count by area; an unexpected survivor is a failure."""
    outcomes = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for mutant, outcome, seconds in pool.map(_outcome, mutants(wanted)):
            reason = f"  ({mutant.survives})" if mutant.survives else ""
            print(f"{outcome:9} {mutant.title}  {seconds:.0f} s{reason}", flush=True)
            outcomes.append((mutant, outcome))
    for area in sorted({mutant.area for mutant, _ in outcomes}):
        mine = [outcome for mutant, outcome in outcomes if mutant.area == area]
        print(f"MUTANTS {area}: {mine.count('killed')} of {len(mine)} killed")
    total = sum(outcome == "killed" for _, outcome in outcomes)
    print(f"MUTANTS all: {total} of {len(outcomes)} killed")
    return int(any(outcome == "survived" and not m.survives for m, outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
