"""The owner's key: made before the first entry, proof that a ledger was started, never shown."""

import os
import stat
from pathlib import Path

import pytest

from discreet.errors import InvalidParameter
from discreet.ledger import LedgerError, SQLite, keyring
from discreet.ledger.fence import secret_of
from discreet.ledger.sqlite import ledger as sqlite
from tests.ledger.examples import KEY, reserve, terms


class Crash(BaseException):
    """The process ends here."""


def crash(*_: object, **__: object) -> None:
    raise Crash


def crash_in(monkeypatch: pytest.MonkeyPatch, where: object, name: str, ledger: SQLite) -> None:
    """Begin a ledger in a process that ends when it calls ``name``."""
    with monkeypatch.context() as patch:
        patch.setattr(where, name, crash)
        with pytest.raises(Crash):
            ledger.open(terms())
    ledger.close()


def beside(place: Path, ending: str = ".key") -> Path:
    return place.with_name(place.name + ending)


def code_of_opening(place: Path, **how: Path | bytes) -> str:
    with SQLite(place, **how) as ledger, pytest.raises(LedgerError) as refusal:
        ledger.open(terms())
    return refusal.value.code


def test_a_key_is_made_beside_the_ledger_for_its_owner_only(kept: SQLite, place: Path) -> None:
    key = beside(place)
    assert len(secret_of(key.read_bytes())) == 32
    assert stat.S_IMODE(key.stat().st_mode) == stat.S_IMODE(place.stat().st_mode) == 0o600
    assert sorted(place.parent.iterdir()) == [place, key]


def test_keys_are_random(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with SQLite(tmp_path / name) as ledger:
            ledger.open(terms())
    secrets = [secret_of((tmp_path / name).read_bytes()) for name in ("a.key", "b.key")]
    assert secrets[0] != secrets[1]


def test_a_key_may_be_moved_elsewhere(place: Path, tmp_path: Path) -> None:
    with SQLite(place) as ledger:
        ledger.open(terms())
        reserve(ledger)
    vault = tmp_path / "vault"
    beside(place).rename(vault)
    assert code_of_opening(place) == "ledger_key_missing"
    with SQLite(place, key=vault) as ledger:
        assert ledger.open(terms()) == terms()
        assert ledger.spent() == (1, 0)
    assert not beside(place).exists()


def test_a_key_file_may_be_named_and_is_made_there(place: Path, tmp_path: Path) -> None:
    with SQLite(place, key=str(tmp_path / "vault")) as ledger:
        ledger.open(terms())
    assert len(secret_of((tmp_path / "vault").read_bytes())) == 32


def test_key_bytes_are_written_nowhere(place: Path) -> None:
    with SQLite(place, key=KEY) as ledger:
        ledger.open(terms())
        reserve(ledger)
    assert list(place.parent.iterdir()) == [place]
    content = place.read_bytes()
    assert KEY not in content
    assert KEY.hex().encode() not in content


@pytest.mark.parametrize("key", [b"", b"x" * 31])
def test_a_short_key_is_refused_unseen(place: Path, key: bytes) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        SQLite(place, key=key)
    assert refusal.value.code == "key_too_short"
    assert "xxx" not in str(refusal.value)


def test_a_short_key_file_is_refused(kept: SQLite, place: Path) -> None:
    beside(place).write_bytes(b"short")
    with SQLite(place) as ledger, pytest.raises(InvalidParameter) as refusal:
        ledger.spent()
    assert refusal.value.code == "key_too_short"


def test_a_key_is_bytes_or_a_path(place: Path) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        SQLite(place, key=17)  # type: ignore[arg-type]
    assert refusal.value.code == "not_a_key"


def test_a_wrong_key_is_refused(kept: SQLite, place: Path) -> None:
    assert code_of_opening(place, key=KEY) == "ledger_key_wrong"
    beside(place).write_bytes(KEY)
    assert code_of_opening(place) == "ledger_key_wrong"


class TestAMissingLedger:
    def test_whose_key_exists_is_not_started_again(self, place: Path) -> None:
        with SQLite(place) as ledger:
            ledger.open(terms())
        place.unlink()
        assert code_of_opening(place) == "ledger_missing"
        assert not place.exists()

    def test_whose_key_lies_elsewhere_is_not_started_again(
        self, place: Path, tmp_path: Path
    ) -> None:
        vault = tmp_path / "vault"
        with SQLite(place, key=vault) as ledger:
            ledger.open(terms())
        place.unlink()
        assert code_of_opening(place, key=vault) == "ledger_missing"

    def test_is_not_made_by_reading(self, place: Path) -> None:
        with SQLite(place) as ledger:
            for attempt in (
                ledger.spent,
                ledger.checkpoint,
                ledger.verify,
                lambda: reserve(ledger),
            ):
                with pytest.raises(LedgerError) as refusal:
                    attempt()
                assert refusal.value.code == "ledger_missing"
        assert list(place.parent.iterdir()) == []


class TestAnInterruptedBeginning:
    """Wherever it stops, the next opening carries on, and nothing is started twice."""

    def check(self, place: Path) -> None:
        with SQLite(place) as ledger:
            ledger.open(terms())
            reserve(ledger)
            ledger.verify()
        assert sorted(place.parent.iterdir()) == [place, beside(place)]
        place.unlink()
        assert code_of_opening(place) == "ledger_missing"

    def test_before_the_key_lies_ready(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        crash_in(monkeypatch, os, "link", SQLite(place))
        assert list(place.parent.iterdir()) == []
        self.check(place)

    def test_before_the_file(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        crash_in(monkeypatch, sqlite, "write_new", SQLite(place))
        assert list(place.parent.iterdir()) == [beside(place, ".key.new")]
        self.check(place)

    def test_before_the_first_entry(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        crash_in(monkeypatch, sqlite, "first", SQLite(place))
        assert place.read_bytes() == b""
        with SQLite(place) as ledger, pytest.raises(LedgerError) as refusal:
            ledger.spent()
        assert refusal.value.code == "ledger_not_opened"
        self.check(place)

    def test_before_the_key_is_in_its_place(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        crash_in(monkeypatch, keyring.KeyFile, "finish", SQLite(place))
        assert not beside(place).exists()
        with SQLite(place) as ledger:
            assert ledger.spent() == (0, 0)
        self.check(place)

    def test_before_the_spare_name_of_the_key_is_removed(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with SQLite(place) as ledger:
            ledger.open(terms())
        os.link(beside(place), beside(place, ".key.new"))
        self.check(place)

    def test_with_a_key_that_came_too_late(self, place: Path) -> None:
        with SQLite(place) as ledger:
            ledger.open(terms())
        beside(place, ".key.new").write_bytes(KEY)
        self.check(place)

    def test_with_a_key_that_moves_to_its_place_while_it_is_looked_for(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        crash_in(monkeypatch, keyring.KeyFile, "finish", SQLite(place))
        look, looks = keyring._read_key_file, []

        def moving(path: Path) -> bytes | None:
            looks.append(path)
            found = look(path)
            if len(looks) == 1:
                beside(place, ".key.new").rename(beside(place))
            return found

        with monkeypatch.context() as patch, SQLite(place) as ledger:
            patch.setattr(keyring, "_read_key_file", moving)
            assert ledger.spent() == (0, 0)
        assert len(looks) == 3
        self.check(place)

    def test_under_given_bytes(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        crash_in(monkeypatch, sqlite, "first", SQLite(place, key=KEY))
        with SQLite(place, key=KEY) as ledger:
            ledger.open(terms())
        assert list(place.parent.iterdir()) == [place]


def test_a_key_whose_name_is_a_folder_is_an_error_in_words(place: Path) -> None:
    beside(place).mkdir()
    place.touch()
    assert code_of_opening(place) in {"ledger_damaged", "ledger_unwritable"}
