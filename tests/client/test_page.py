"""The page about the client runs: its Python, and its example with curl, against a service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

import discreet as dp
from tests.project.test_docs import ROOT, Block, blocks
from tests.server.running_service import WARDS, ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")
PAGE = ROOT / "docs" / "client.md"


@pytest.fixture(scope="module")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(dp.PureDP(epsilon=100))


def of_language(language: str) -> list[Block]:
    return [each for each in blocks(PAGE.read_text(encoding="utf-8")) if each.language == language]


def test_its_python_runs(
    ann: ApiUser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISCREET_URL", ann.running_service.address)
    monkeypatch.setenv("DISCREET_TOKEN", ann.token)
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in of_language("python"):
        exec(compile("\n" * block.line + block.text, str(PAGE), "exec"), space)
    shown = capsys.readouterr().out
    assert "unknown_table" in shown
    assert ann.token not in shown
    assert space["frame"].columns[:2] == ["ward", "n"]
    assert space["again"] == space["answer"]


def test_its_curl_asks_once_however_often_it_runs(ann: ApiUser) -> None:
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("needs curl and bash")
    (block,) = of_language("sh")
    told = {"DISCREET_URL": ann.running_service.address, "DISCREET_TOKEN": ann.token}
    answers = [
        json.loads(
            subprocess.run(
                ["bash", "-euc", block.text],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, **told},
            ).stdout
        )
        for _ in range(2)
    ]
    rows = answers[0]["result"]["rows"]
    assert [row["ward"] for row in rows] == WARDS
    assert set(rows[0]) == {"ward", "n", "n_lower", "n_upper"}
    assert answers[0]["job"] == answers[1]["job"]
