from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.hospital import INIT, run, write_visits


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with visits.csv in it."""
    monkeypatch.chdir(tmp_path)
    write_visits(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a project file, as ``discreet init`` writes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("hospital"))
        write_visits(Path())
        done = run(INIT)
        assert done.code == 0, done.error
        return Path("discreet.toml").read_text(encoding="utf-8")


@pytest.fixture
def project(folder: Path, written: str) -> Path:
    """The working directory, with a project file in it too."""
    (folder / "discreet.toml").write_text(written, encoding="utf-8")
    return folder
