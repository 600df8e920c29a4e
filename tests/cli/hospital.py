"""A small hospital in a CSV file, and the command run beside it."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from discreet.cli.app import app

RUNNER = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
ROWS = 900
WARDS = ("A", "B", "C")
INIT = (
    "init visits.csv --unit person --id patient --max-rows 3 --column age=number:0:120 "
    "--column ward=category:A,B,C --column cost=number:0:5000 "
    "--column day=dates:2024-01-01:2024-12-31 --epsilon 3 --delta 1e-6"
)


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    output: str
    error: str

    @property
    def json(self) -> Any:
        assert self.output.count("\n") == 1
        return json.loads(self.output)


def changed(project: Path, before: str, after: str) -> None:
    """Let the project file say something else, by hand."""
    file = project / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1
    file.write_text(text.replace(before, after), encoding="utf-8")


def run(line: str, *, typed: str | None = None) -> Done:
    """Run the command; only its own ways out are let through."""
    done = RUNNER.invoke(app, shlex.split(line), input=typed)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def write_visits(folder: Path) -> None:
    """Three visits of each patient, and of patient 0 seven more; costs, days, one empty age."""
    lines = ["patient,ward,age,cost,day,notes"]
    for row in range(ROWS):
        patient = row % 300 if row < 893 else 0
        age = "" if row == 5 else str(20 + patient % 60)
        day = f"2024-{1 + row % 12:02}-{1 + row % 28:02}"
        lines.append(f"{patient},{WARDS[row % 3]},{age},{row * 1.5},{day},n{row}")
    (folder / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
