"""Public names load on first use, and are those that are listed."""

import subprocess
import sys

import pytest

from discreet import streams


@pytest.mark.parametrize("name", streams.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(streams, name) is not None
    assert name in dir(streams)


def test_importing_streams_loads_nothing_third_party() -> None:
    code = "import sys, discreet.streams; print(sorted({'numpy', 'scipy'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_misspelt_name_is_no_name() -> None:
    with pytest.raises(AttributeError, match="BinaryTrea"):
        _ = streams.BinaryTrea  # type: ignore[attr-defined]
