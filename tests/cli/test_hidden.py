"""What a conversation hides is in nothing that the commands about the ledger show."""

from __future__ import annotations

import json
from pathlib import Path

import discreet as dp
from discreet.curator.project import Project
from discreet.ledger.session_log import SessionLog
from discreet.mechanisms import AboveThreshold
from tests.cli.hospital import run


def test_a_hidden_threshold_is_not_exported(project: Path) -> None:
    with Project.read(Path("discreet.toml")).curator() as curator:
        watch = curator.open(
            AboveThreshold(epsilon=1, threshold=400, sensitivity=3), spend=dp.PureDP(epsilon=1)
        )
        watch.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 30")
        (hidden,) = [
            entry["hidden"]
            for entry in SessionLog(curator.ledger, watch.id, 0).entries()
            if "hidden" in entry
        ]
    exported = run("ledger export").output
    kinds = [json.loads(line)["kind"] for line in exported.splitlines()]
    assert {"claimed", "kept", "answered"} <= set(kinds)
    shown = (exported, run("ledger export --csv").output, run("ledger show --json").output)
    for text in shown:
        assert '"hidden"' not in text
        assert f": {hidden}," not in text
    assert run("ledger verify --json").json["verified"]
