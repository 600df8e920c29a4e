"""Plant plausible mistakes one at a time and see which tests notice: ``make mutants``.

Each area has a file beside this one, ``<area>.toml``, with a list of mistakes: the package, the
text that stands once in all its files, the text that replaces it, and the tests that should fail
then. A mistake that changes nothing anybody could see says so in ``survives``. Pins of proofs are
no tests here: they notice every change, right or wrong.

    python tests/mutants/run.py                     all areas
    python tests/mutants/run.py ledger accounting   some of them
    python tests/mutants/run.py ledger/seal         those whose name begins so
    python tests/mutants/run.py --resume            what an interrupted run of this source left
    python tests/mutants/run.py --workers 1         on one core

The test that noticed a mistake last time stands in ``killers.json`` and runs first; if it passes,
all listed tests run, so that file saves time and decides nothing. A test counts only if it passes
without any mistake: those that noticed run once more at the end, on the source as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
KILLERS = HERE / "killers.json"
LOG = PROJECT / ".mutants.log"
PATIENCE = 900.0
"""Seconds until a run counts as one that never ends."""
BATCH = 50
"""Tests that run together on the source as it is."""
FOLDERS = ("src", "tests", "examples", "proofs", "docs")
LANGUAGES = {".py", ".js"}
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile")


@dataclass(frozen=True)
class Mutant:
    """One planted mistake."""

    area: str
    name: str
    package: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def title(self) -> str:
        """Area and name."""
        return f"{self.area}/{self.name}"

    def planted(self, project: Path) -> tuple[Path, str]:
        """The one file that the mistake is for, and its text with the mistake in it."""
        texts = _texts(project / "src" / self.package)
        found = [path for path, text in texts.items() for _ in range(text.count(self.old))]
        if len(found) != 1:
            message = f"{self.title}: its text stands {len(found)} times in {self.package}"
            raise ValueError(message)
        return found[0], texts[found[0]].replace(self.old, self.new)


@cache
def _texts(folder: Path) -> dict[Path, str]:
    """The sources of a package; nothing that is planted stays in them."""
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in LANGUAGES)
    return {path: path.read_text() for path in files}


@dataclass(frozen=True)
class Verdict:
    """What became of a planted mistake: ``killed``, ``survived``, or ``unclear`` with a reason."""

    title: str
    outcome: str
    killer: str = ""
    cpu: float = 0.0
    reason: str = ""


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


class Copy:
    """A copy of the project with a warm process in it (``warm.py``)."""

    def __init__(self, project: Path, folder: Path, patience: float = PATIENCE) -> None:
        self.folder, self.patience = folder, patience
        ignored = shutil.ignore_patterns("__pycache__", "*.svg")
        for name in FOLDERS:
            if (project / name).is_dir():
                shutil.copytree(project / name, folder / name, ignore=ignored)
        for name in FILES:
            if (project / name).is_file():
                shutil.copy(project / name, folder / name)
        told = {"PYTHONPATH": str(folder / "src"), "OPENBLAS_NUM_THREADS": "1"}
        kept = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON"}
        self._process = subprocess.Popen(
            [sys.executable, HERE / "warm.py"],
            cwd=folder,
            env={**kept, **told},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, file: str | None, text: str, tests: Iterable[str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"file": file, "text": text, "tests": list(tests), "patience": self.patience}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told

    def verdict(self, mutant: Mutant, killer: str | None) -> Verdict:
        """Whether one of the tests named by the mistake fails where it is planted."""
        path, text = mutant.planted(self.folder)
        attempts = [mutant.tests]
        if killer is not None and any(killer.startswith(test) for test in mutant.tests):
            attempts.insert(0, (killer,))
        cpu = 0.0
        for tests in attempts:
            told = self._ask(str(path.relative_to(self.folder)), text, tests)
            cpu += told["cpu"]
            if told["status"] is None:
                reason = "did not end: somebody would notice"
                return Verdict(mutant.title, "killed", told["last"] or "", cpu, reason)
            if told["status"] == 1 and told["failed"]:
                return Verdict(mutant.title, "killed", told["failed"][0], cpu)
        if told["status"] == 0:
            return Verdict(mutant.title, "survived", "", cpu)
        return Verdict(mutant.title, "unclear", "", cpu, f"{told['status']}: {told['printed']}")

    def failing(self, tests: Iterable[str]) -> set[str]:
        """Which of the tests do not pass on the source as it is."""
        tests = sorted(tests)
        told = self._ask(None, "", tests)
        if told["status"] in {0, 1}:
            return set(told["failed"])
        if len(tests) > 1:
            half = len(tests) // 2
            return self.failing(tests[:half]) | self.failing(tests[half:])
        # Some parameters have another name where there is no mistake: then all of them must pass.
        whole = tests[0].partition("[")[0]
        return set(tests) if whole == tests[0] or self.failing([whole]) else set()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@contextmanager
def copies(project: Path, workers: int) -> Iterator[SimpleQueue[Copy]]:
    """As many copies as there are workers, each to be taken by one at a time."""
    free: SimpleQueue[Copy] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="discreet-mutants-") as folder:
        made = [Copy(project, Path(folder) / str(number)) for number in range(workers)]
        for copy in made:
            free.put(copy)
        try:
            yield free
        finally:
            for copy in made:
                copy.close()


def _source() -> str:
    """A digest of all that a verdict depends on."""
    digest = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((PROJECT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path != KILLERS:
                digest.update(f"{path.relative_to(PROJECT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _earlier(source: str) -> dict[str, Verdict]:
    """Verdicts of an interrupted run of the same source."""
    lines = LOG.read_text().splitlines() if LOG.exists() else []
    if not lines or json.loads(lines[0]) != source:
        return {}
    found = [Verdict(**json.loads(line)) for line in lines[1:]]
    return {verdict.title: verdict for verdict in found if verdict.outcome != "unclear"}


def run(
    chosen: list[Mutant], verdicts: dict[str, Verdict], known: dict[str, str], workers: int
) -> list[Verdict]:
    """Plant each mistake without a verdict yet; what is found is written down at once."""
    left = [mutant for mutant in chosen if mutant.title not in verdicts]
    begun = time.monotonic()
    with copies(PROJECT, workers) as free, ThreadPoolExecutor(workers) as pool:

        def taking(work: Callable[[Copy, Any], Any]) -> Callable[[Any], Any]:
            def taken(what: Any) -> Any:
                copy = free.get()
                try:
                    return work(copy, what)
                finally:
                    free.put(copy)

            return taken

        judge = taking(lambda copy, mutant: copy.verdict(mutant, known.get(mutant.title)))
        for done, verdict in enumerate(pool.map(judge, left), 1):
            verdicts[verdict.title] = verdict
            with LOG.open("a") as log:
                log.write(json.dumps(asdict(verdict)) + "\n")
            minutes = (time.monotonic() - begun) / done * (len(left) - done) / 60
            print(
                f"{verdict.outcome:9} {verdict.title}  {verdict.cpu:.1f} s"
                f"  [{done} of {len(left)}, {minutes:.0f} min left] {verdict.reason}",
                flush=True,
            )
        mine = [verdicts[mutant.title] for mutant in chosen]
        killers = sorted({verdict.killer for verdict in mine if verdict.killer})
        batches = [killers[start : start + BATCH] for start in range(0, len(killers), BATCH)]
        failing = set().union(*pool.map(taking(Copy.failing), batches))
    return [
        replace(v, outcome="unclear", reason=f"{v.killer} fails without it, too")
        if v.killer in failing
        else v
        for v in mine
    ]


def main(words: list[str]) -> int:
    """Run, list, count by area; an unexpected survivor is a failure."""
    parser = argparse.ArgumentParser(prog="run.py", description="Plant mistakes, run tests.")
    parser.add_argument("wanted", nargs="*")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    told = parser.parse_args(words)
    chosen = mutants(told.wanted)
    known: dict[str, str] = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}
    source = _source()
    earlier = _earlier(source) if told.resume else {}
    if not earlier:
        LOG.write_text(json.dumps(source) + "\n")
    verdicts = run(chosen, earlier, known, told.workers)
    known |= {v.title: v.killer for v in verdicts if v.outcome == "killed"}
    kept = {m.title: known[m.title] for m in mutants([]) if m.title in known}
    KILLERS.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
    good = True
    for mutant, verdict in zip(chosen, verdicts, strict=True):
        if verdict.outcome != "killed":
            good = good and bool(mutant.survives) and verdict.outcome == "survived"
            print(f"{verdict.outcome} {mutant.title}: {verdict.reason or mutant.survives}")
    for area in sorted({mutant.area for mutant in chosen}):
        mine = [v.outcome for m, v in zip(chosen, verdicts, strict=True) if m.area == area]
        print(f"MUTANTS {area}: {mine.count('killed')} of {len(mine)} killed")
    total = sum(verdict.outcome == "killed" for verdict in verdicts)
    cpu = sum(verdict.cpu for verdict in verdicts)
    print(f"MUTANTS all: {total} of {len(verdicts)} killed, {cpu:.0f} CPU seconds")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
