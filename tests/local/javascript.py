"""client.js as it is shipped, and its test build, in which alone bytes can be injected."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

SOURCE = (files("discreet.local") / "client.js").read_text(encoding="utf-8")
DRAW = "crypto.getRandomValues(block);"


def test_build() -> str:
    """The client with its one line of randomness replaced, and the runner of the vectors."""
    assert SOURCE.count(DRAW) == 1
    runner = Path(__file__).with_name("scripted_client.js").read_text(encoding="utf-8")
    client = SOURCE.replace(DRAW, "scope.fill(block);").replace("})(globalThis);", "})(scope);")
    return f"const scope = {{}};\n{client}\n{runner}"


test_build.__test__ = False  # type: ignore[attr-defined]


def node(script: str, given: object = None) -> Any:
    """Run a script in node; it writes JSON, and reads ``given`` as ``given``."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node")
    text = f"const given = {json.dumps(given)};\n{script}"
    done = subprocess.run([program, "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
