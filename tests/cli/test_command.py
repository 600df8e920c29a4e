"""The command as a whole: quick, helpful, and as its pages say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from typer.main import get_command

import discreet as dp
from discreet.cli.app import app
from tests.cli.hospital import RUNNER, run
from tests.cli.test_init import ASKED

ROOT = Path(__file__).resolve().parents[2]
HELP_SECONDS = 0.5
COMMANDS = [
    *("init", "query", "preview", "explain", "profile", "demo"),
    *("ledger show", "ledger verify", "ledger export", "ledger amend", "ledger backup"),
]
TIMED = """
import sys, time
sys.argv = ["discreet", "--help"]
wall, processor = time.perf_counter(), time.process_time()
try:
    from discreet.cli import main
    main()
except SystemExit:
    pass
spent = min(time.perf_counter() - wall, time.process_time() - processor)
loaded = [name for name in ("numpy", "scipy", "duckdb", "sqlglot") if name in sys.modules]
sys.stderr.write(f"{spent} {loaded}")
"""


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    """The smaller of wall and processor time: a busy machine inflates the one."""
    said = [
        subprocess.run(
            [sys.executable, "-c", TIMED], capture_output=True, text=True, check=True
        ).stderr.split(" ", 1)
        for _ in range(3)
    ]
    assert {loaded for _, loaded in said} == {"[]"}
    assert median(float(seconds) for seconds, _ in said) < HELP_SECONDS


def test_the_version_is_told() -> None:
    assert run("--version").output == f"discreet {dp.__version__}\n"


def every(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield name
    for word, below in getattr(command, "commands", {}).items():
        yield from every(below, (*name, word))


def test_help_loses_no_word_in_brackets() -> None:
    root: Any = get_command(app)
    words = 0
    for name in every(root):
        command = root
        for word in name:
            command = command.commands[word]
        texts = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
        meant = re.findall(r"\[[a-z]+\]", " ".join(texts).replace("\\[", "["))
        shown = RUNNER.invoke(app, [*name, "--help"]).stdout if meant else ""
        assert [each for each in meant if each not in shown] == [], name
        words += len(meant)
    assert words >= 3


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = RUNNER.invoke(app, [*command.split(), "--help"])
    assert done.exit_code == 0
    assert re.search(rf"^\s*discreet {command}\b", done.stdout, re.MULTILINE)


def lines(page: Path, section: str) -> list[str]:
    """The commands in the shell blocks of a page, from a heading on."""
    text = page.read_text(encoding="utf-8").partition(section)[2]
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("discreet")]


@pytest.mark.parametrize(
    ("page", "section", "least"),
    [("README.md", "## From the command line", 5), ("docs/command-line.md", "# The command", 14)],
)
def test_what_the_pages_say_can_be_typed(folder: Path, page: str, section: str, least: int) -> None:
    typed = lines(ROOT / page, section)
    assert len(typed) >= least
    for line in typed:
        words = shlex.split(line, comments=True)[1:]
        done = run(shlex.join(words), typed=ASKED if words[0] == "init" else None)
        assert done.code == 0, (line, done.error)
    assert (folder / "visits.ledger").exists()


def test_a_shell_sees_the_answer_on_one_stream_and_refusals_on_the_other(project: Path) -> None:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "discreet.cli", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=project,
        )

    sql = "SELECT COUNT(*) AS n FROM visits"
    asked = command("query", sql, "--epsilon", "0.5", "--csv")
    assert (asked.returncode, asked.stdout.splitlines()[0]) == (0, "n,n_lower,n_upper")
    assert {line.split(":")[0] for line in asked.stderr.splitlines()} == {"limit", "guarantee"}
    refused = command("query", sql)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "spend_or_accuracy" in refused.stderr
    unknown = command("query", sql, "--eps", "1")
    assert (unknown.returncode, unknown.stdout) == (2, "")


def test_a_reader_that_has_seen_enough_is_no_fault(project: Path) -> None:
    assert run('query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5').code == 0
    line = f"{shlex.quote(sys.executable)} -m discreet.cli ledger export | head -c 9"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True, cwd=project)
    assert (done.stdout, done.stderr) == ('{"number"', "")
