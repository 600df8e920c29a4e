"""What DuckDB cannot hold in memory lies in a folder that is private, and gone with the engine."""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter

BIG = "CREATE TEMP TABLE big AS SELECT hash(i) AS a, hash(i + 1) AS b FROM range(4000000) AS r(i)"


def folder(engine: dp.DuckDB) -> Path:
    """Where an engine spills."""
    ((path,),) = engine.rows("SELECT current_setting('temp_directory')")
    return Path(str(path))


def test_what_spills_is_private_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = dp.DuckDB(memory_limit="48MB", threads=1)
    engine.lock()
    place = folder(engine)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    engine._connection.execute(BIG)
    assert [path for path in place.rglob("*") if path.is_file()], "nothing spilled"
    assert engine.rows("SELECT COUNT(DISTINCT a) FROM big") == [(4_000_000,)]
    assert list(tmp_path.iterdir()) == []
    engine.close()
    assert not place.exists()


def test_a_folder_of_the_user_gets_a_private_one_inside(tmp_path: Path) -> None:
    wanted = tmp_path / "fast" / "disk"
    first, second = dp.DuckDB(temp_directory=wanted), dp.DuckDB(temp_directory=str(wanted))
    places = [folder(first), folder(second)]
    assert places[0] != places[1]
    assert all(place.parent == wanted for place in places)
    assert all(stat.S_IMODE(place.stat().st_mode) == 0o700 for place in places)
    first.close()
    assert not places[0].exists()
    assert places[1].exists()
    second.close()
    assert list(wanted.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(InvalidParameter) as refused:
        dp.DuckDB(temp_directory=path)
    assert refused.value.code == "spill_folder"


def test_an_engine_that_nobody_holds_leaves_nothing() -> None:
    engine = dp.DuckDB()
    place = folder(engine)
    del engine
    gc.collect()
    assert not place.exists()


LEFT = """
import discreet as dp
engine = dp.DuckDB()
print(engine.rows("SELECT current_setting('temp_directory')")[0][0])
"""
FORKED = """
import os, sys
import discreet as dp
from discreet.relational.engines.duckdb.spill import private_folder, removed_with
class Owner: pass
owner, place = Owner(), private_folder(None)
end = removed_with(owner, place, lambda: print("let go", flush=True))
child = os.fork()
if child == 0:
    end()
    sys.exit(0)
os.waitpid(child, 0)
print(place.exists())
"""


def run(text: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split("\n")


def test_the_end_of_the_interpreter_removes_it() -> None:
    place = Path(run(LEFT)[0])
    assert place.name.startswith("discreet-")
    assert not place.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_leaves_its_parents_folder_alone() -> None:
    assert run(FORKED) == ["True", "let go", ""]
