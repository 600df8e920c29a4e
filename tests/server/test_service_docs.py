"""The commands and requests of the pages about the service, as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet.core.guarantee import PureDP
from tests.server.running_service import WARDS, RunningService, hospital
from tests.server.web_user import PASSWORD, WebUser

pytestmark = [pytest.mark.xdist_group("server"), pytest.mark.slow]
DOCS = Path(__file__).parents[2] / "docs"
_SOURCE = Path(discreet.__file__).parents[1]
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    found = _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))
    return [each["text"] for each in found if each["language"] == language]


def in_shell(text: str, folder: Path, **environment: str) -> str:
    """What a shell prints that runs a block, with this version's command; it must succeed."""
    command = folder / "bin" / "discreet"
    command.parent.mkdir(exist_ok=True)
    main = "from discreet.cli import main; main()"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{main}" "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{command.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path, "PYTHONPATH": str(_SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_owners_first_commands(tmp_path: Path) -> None:
    rows = {"patient": [n % 40 for n in range(60)], "ward": [WARDS[n % 3] for n in range(60)]}
    pl.DataFrame(rows | {"age": [float(n) for n in range(60)]}).write_parquet(
        tmp_path / "visits.parquet"
    )
    (block,) = blocks("service.md", "sh")
    said = in_shell(block, tmp_path)
    assert said.count("/enter/") == 2
    assert "planning of beds" in said


def test_what_analysts_send(running_service: RunningService, tmp_path: Path) -> None:
    ann = running_service.analyst(PureDP(epsilon=1))
    variables = {"URL": running_service.address, "TOKEN": ann.token}
    first, preview, account, login = blocks("service-analysts.md", "sh")
    assert '"n_lower"' in in_shell(first, tmp_path, **variables)
    assert '"price"' in in_shell(preview, tmp_path, **variables)
    assert '"remaining"' in in_shell(account, tmp_path, **variables)
    assert (tmp_path / "release.csv").read_text(encoding="utf-8").startswith("ward,n,")
    WebUser(running_service, ann.person.name)
    known = {"NAME": ann.person.name, "PASSWORD": PASSWORD}
    assert '"token":"dsc_' in in_shell(login, tmp_path, **variables, **known).replace(" ", "")
    (program,) = blocks("service-analysts.md", "python")
    (tmp_path / "ask.py").write_text(program, encoding="utf-8")
    said = in_shell(f"{sys.executable} ask.py", tmp_path, **variables)
    assert {line.split()[0] for line in said.splitlines()} == set(WARDS)


def test_what_operators_do(tmp_path: Path) -> None:
    hospital(tmp_path)
    in_shell("discreet service people add olga --role owner", tmp_path)
    in_shell("discreet service people add ann", tmp_path)
    in_shell("discreet service grant ann --purpose beds --epsilon 0.5", tmp_path)
    copy, state_back, back, upgrade = blocks("service-operations.md", "sh")
    in_shell(copy, tmp_path)
    assert "checkpoint:" in (tmp_path / "kept.txt").read_text(encoding="utf-8")
    in_shell("discreet service grant ann --purpose more --epsilon 0.5", tmp_path)
    assert "/enter/" in in_shell(state_back, tmp_path), "after the ledger went on"
    in_shell("rm -r backups", tmp_path)
    in_shell(copy, tmp_path)
    assert "/enter/" in in_shell(back, tmp_path)
    assert "form" in in_shell(upgrade, tmp_path)
    assert "beds" in in_shell("discreet service people list", tmp_path)
