"""The owner compares content under the key; where nothing changed, the snapshot stays the same.

Files keep their snapshot for good, frames in the session. Analysts have no way to any of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.curator import kept_snapshot
from discreet.curator.kept_snapshot import keep_snapshot, same_snapshot
from discreet.errors import DiscreetError

SPEND = dp.PureDP(epsilon=1)
COUNT = "SELECT COUNT(*) AS n FROM visits"
JOINED = (
    "SELECT w.site, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.site"
)
POLICY: Any = {
    "max_spend": {"epsilon": 2},
    "tables": {"visits": {"filter": [], "group": [], "aggregate": []}},
}


def rows(shift: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "ward": ["ABC"[row % 3] for row in range(300)],
            "age": [(row + shift) % 99 for row in range(300)],
        }
    )


def wards() -> pl.DataFrame:
    return pl.DataFrame({"ward": ["A", "B", "C"], "site": ["x", "x", "y"]})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows().write_parquet(tmp_path / "visits.parquet")
    wards().write_csv(tmp_path / "wards.csv")
    return tmp_path


def curator(folder: Path, visits: Any = None, snapshot: str | None = None, **more: Any) -> Any:
    source = folder / "visits.parquet" if visits is None else visits
    columns: Any = {"ward": dp.Category(["A", "B", "C"]), "age": dp.Number(0, 99)}
    return dp.Curator(
        visits=dp.table(source, unit=dp.Row(), columns=columns, snapshot=snapshot),
        wards=dp.public(folder / "wards.csv"),
        budget=dp.PureDP(epsilon=50),
        ledger=folder / "visits.ledger",
        **more,
    )


def code_of(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except DiscreetError as refusal:
        return refusal.code
    return "answered"


def touched(path: Path) -> None:
    """Copied away and back: the same bytes in another file."""
    shutil.copy(path, path.with_suffix(".copy"))
    path.unlink()
    path.with_suffix(".copy").rename(path)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 10**9))


@pytest.mark.parametrize("name", ["visits.parquet", "wards.csv"])
def test_a_file_that_was_touched_keeps_its_snapshot(files: Path, name: str) -> None:
    kept = files / "kept"
    with curator(files) as first:
        answers = [first.sql(text, spend=SPEND).to_json() for text in (COUNT, JOINED)]
        assert first.keep_snapshot(kept) == ("visits", "wards")
        spent = first.spent
    touched(files / name)
    with curator(files) as again:
        assert code_of(lambda: again.sql(JOINED, spend=SPEND)) == "paid_before_other_snapshot"
        assert again.same_snapshot(kept) == ("visits", "wards")
        assert [again.sql(text, spend=SPEND).to_json() for text in (COUNT, JOINED)] == answers
    with curator(files) as later:  # for good, whoever opens it
        assert later.sql(JOINED, spend=SPEND).to_json() == answers[1]
        assert later.spent == spent
        later.ledger.verify()
    touched(files / name)
    with curator(files) as third:  # and once more, to the same version
        third.same_snapshot(kept)
        third.same_snapshot(kept)
        assert third.sql(JOINED, spend=SPEND).to_json() == answers[1]
        third.ledger.verify()


def test_other_content_is_refused_and_nothing_is_noted(files: Path) -> None:
    kept = files / "kept"
    with curator(files) as first:
        first.sql(COUNT, spend=SPEND)
        first.keep_snapshot(kept)
    rows(1).write_parquet(files / "visits.parquet")
    with curator(files) as again:
        entries = len(list(again.ledger.entries()))
        with pytest.raises(DiscreetError) as refused:
            again.same_snapshot(kept)
        assert refused.value.code == "content_differs"
        assert "visits" in str(refused.value)
        assert "wards" not in str(refused.value)
        assert len(list(again.ledger.entries())) == entries
        assert code_of(lambda: again.sql(COUNT, spend=SPEND)) == "paid_before_other_snapshot"
        again.keep_snapshot(kept)  # over the old one
        assert code_of(lambda: again.same_snapshot(kept)) == "answered"


def test_every_table_is_compared(files: Path) -> None:
    with curator(files) as first:
        first.keep_snapshot(files / "kept")
    wards().reverse().write_csv(files / "wards.csv")
    with curator(files) as again:
        assert code_of(lambda: again.same_snapshot(files / "kept")) == "content_differs"


@pytest.mark.parametrize("look", ["keep_snapshot", "same_snapshot"])
def test_a_file_that_changes_while_it_is_looked_at_is_refused(
    files: Path, look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is then not what the curator has attached."""
    read = kept_snapshot._content
    with curator(files) as owner:
        owner.keep_snapshot(files / "kept")

        def content(database: Any, name: str) -> tuple[str, str]:
            found = read(database, name)
            rows(1).write_parquet(files / "visits.parquet")
            return found

        monkeypatch.setattr(kept_snapshot, "_content", content)
        assert code_of(lambda: getattr(owner, look)(files / "kept")) == "data_changed"


def test_rows_of_a_frame_are_compared_in_any_order(files: Path) -> None:
    kept = files / "kept"
    with curator(files, rows()) as first:
        answer = first.sql(COUNT, spend=SPEND).to_json()
        first.keep_snapshot(kept)
    with curator(files, rows().reverse()) as again:
        again.same_snapshot(kept)
        assert again.sql(COUNT, spend=SPEND).to_json() == answer
        child = again.child("team", budget=dp.PureDP(epsilon=2))
        assert child.sql(COUNT, spend=SPEND).to_json() != answer  # an account of its own
    for other in (rows(1), rows().head(299), rows().with_columns(pl.col("age").cast(pl.Int32))):
        with curator(files, other) as changed:
            assert code_of(partial(changed.same_snapshot, kept)) == "content_differs"


def test_a_named_version_is_the_owners_word_and_not_compared(files: Path) -> None:
    with curator(files, snapshot="july") as first:
        assert first.keep_snapshot(files / "kept") == ("wards",)
    with curator(files, rows(1), snapshot="july") as again:
        assert again.same_snapshot(files / "kept") == ("wards",)
    with curator(files) as unnamed:
        assert code_of(lambda: unnamed.same_snapshot(files / "kept")) == "snapshot_not_kept"


def test_nobody_but_the_owner_compares(files: Path) -> None:
    kept = files / "kept"
    with curator(files) as owner:
        owner.keep_snapshot(kept)
        child = owner.child("team", budget=SPEND)
        part = owner.partition("visits", by="ward", budget=SPEND)["A"]
        for session in (child, part):
            assert not hasattr(session, "same_snapshot")
            assert not hasattr(session, "keep_snapshot")
            for look in (keep_snapshot, same_snapshot):
                assert code_of(partial(look, session.context, kept)) == "owner_only"
    with curator(files, policy=dp.Policy.of(POLICY)) as held:
        assert code_of(lambda: held.same_snapshot(kept)) == "owner_only"
        assert code_of(lambda: held.keep_snapshot(kept)) == "owner_only"


def test_what_is_kept_tells_nothing_without_the_key(files: Path) -> None:
    """Two files about the same content share no part, and the ledger holds nothing of it."""
    with curator(files) as owner:
        for name in ("one", "two"):
            owner.keep_snapshot(files / name)
        one, two = files / "one", files / "two"
        first, second = (json.loads(file.read_text()) for file in (one, two))
        assert [part for part in first if first[part] == second[part]] == ["form"]
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
        assert {entry.kind.value for entry in owner.ledger.entries()} == {"opened"}
        plain = hashlib.sha256((files / "visits.parquet").read_bytes()).hexdigest()
        inside = kept_snapshot._opened(owner.ledger.chain.owner(), one)
        assert inside["visits"].content != plain  # nor does the key to the file alone
        touched(files / "visits.parquet")
    with curator(files) as again:
        again.same_snapshot(files / "one")
        text = "".join(entry.text for entry in again.ledger.entries())
        assert "Fingerprint" not in text
        assert str((files / "visits.parquet").stat().st_mtime_ns) not in text


def test_a_file_under_another_key_or_changed_is_refused(files: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("visits.parquet", "wards.csv"):
        shutil.copy(files / name, other / name)
    with curator(other) as stranger:
        stranger.keep_snapshot(files / "theirs")
    with curator(files) as owner:
        owner.keep_snapshot(files / "kept")
        text = (files / "kept").read_text()
        (files / "cut").write_text(text.replace('"kept":"', '"kept":"00'))
        (files / "text").write_text("nothing")
        start = text.index('"kept":"') + len('"kept":"') + 32  # after the start of the stream
        for place in range(start + 1, start + 400, 4):
            flipped = f"{int(text[place], 16) ^ 1:x}"  # the lowest bit of a letter
            (files / "flipped").write_text(text[:place] + flipped + text[place + 1 :])
            assert code_of(lambda: owner.same_snapshot(files / "flipped")) == (
                "kept_snapshot_unreadable"
            )
        for name in ("theirs", "cut", "text", "missing"):
            assert code_of(lambda n=name: owner.same_snapshot(files / n)) == (  # type: ignore[misc]
                "kept_snapshot_unreadable"
            )
