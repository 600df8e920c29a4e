"""Whatever is changed behind the ledger's back is noticed, by the seals or by a kept checkpoint."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from discreet.ledger import LedgerError, SQLite, restore
from discreet.ledger.sqlite.schema import STATEMENTS
from tests.ledger.examples import KEY, released, reserve, terms

TRIGGERS = [statement for statement in STATEMENTS if statement.startswith("CREATE TRIGGER")]
NUMBERS = (1, 3, 6)  # the first entry, one in the middle, the last


def fill(ledger: SQLite) -> None:
    """Six entries: opened, reserved, committed, reserved, answered, snapshot."""
    ledger.open(terms())
    released(ledger, 17, charge=(2, 1))
    ledger.answer(reserve(ledger, (3, 0)), {"above": True})
    ledger.snapshot("monday")


@pytest.fixture
def filled(place: Path) -> Path:
    with SQLite(place) as ledger:
        fill(ledger)
    return place


def edit(place: Path, *statements: str) -> None:
    """Change rows as somebody would who knows the form of the file, and leaves no other trace."""
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("DROP TRIGGER entries_stay")
        connection.execute("DROP TRIGGER entries_remain")
        for statement in (*statements, *TRIGGERS):
            connection.execute(statement)


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(LedgerError) as refusal:
        attempt()
    return refusal.value.code


def verify(place: Path) -> None:
    with SQLite(place) as ledger:
        ledger.verify()


def spend(place: Path) -> None:
    with SQLite(place) as ledger:
        reserve(ledger)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "change",
    [
        "id = '00'",
        "kind = 'answered'",
        "kind = 'unheard of'",
        "time = '2000-01-01T00:00:00.000000+00:00'",
        "subject = 'another'",
        "body = '[]'",
        "body = '{\"value\":18}'",
        "body = 'no json'",
        "body = x'00'",
        "body = replace(body, '{', '{\"more\":1,')",
        'spent = \'["1","0"]\'',
        "spent = '[\"0\"]'",
        'spent = \'["1/0","0"]\'',
        'spent = \'["-1","0"]\'',
        "spent = '[0, 0]'",
        'ceiling = \'["1000","1000"]\'',
        "previous = 'ab'",
        "mac = 'ab'",
        "mac = '\u00e9'",
        "number = 77",
    ],
)
def test_an_edited_entry_is_noticed(filled: Path, number: int, change: str) -> None:
    edit(filled, f"UPDATE entries SET {change} WHERE number = {number}")
    if number == 1 and change.startswith("body"):
        assert code_of(lambda: verify(filled)) in {"ledger_damaged", "ledger_key_wrong"}
    else:
        assert code_of(lambda: verify(filled)) == "ledger_damaged"


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE number = 1",
        "DELETE FROM entries WHERE number = 3",
        "DELETE FROM entries WHERE number = 6",
        "DELETE FROM entries",
        "DELETE FROM head",
        "UPDATE head SET number = 5",
        "UPDATE head SET mac = 'ab'",
        "UPDATE head SET number = 5, mac = (SELECT mac FROM entries WHERE number = 5)",
        "INSERT INTO entries SELECT 7, 'new', kind, time, subject, body, spent, ceiling, previous,"
        " mac FROM entries WHERE number = 6",
    ],
)
def test_dropped_and_added_entries_are_noticed(filled: Path, statement: str) -> None:
    edit(filled, statement)
    assert code_of(lambda: verify(filled)) == "ledger_damaged"


def test_a_row_dropped_at_the_end_is_missed_at_the_next_charge(filled: Path) -> None:
    edit(filled, "DELETE FROM entries WHERE number = 6")
    assert code_of(lambda: spend(filled)) == "ledger_damaged"


def test_exchanged_entries_are_noticed(filled: Path) -> None:
    swap = "UPDATE entries SET number = {} WHERE number = {}"
    edit(filled, swap.format(99, 2), swap.format(2, 4), swap.format(4, 99))
    assert code_of(lambda: verify(filled)) == "ledger_damaged"


def test_a_ledger_cut_back_with_care_is_noticed_by_a_kept_head(filled: Path) -> None:
    with SQLite(filled) as ledger:
        kept, spent = ledger.checkpoint(), ledger.spent()
    edit(
        filled,
        "DELETE FROM entries WHERE number > 3",
        "UPDATE head SET number = 3, mac = (SELECT mac FROM entries WHERE number = 3)",
    )
    verify(filled)  # nothing inside the file can tell
    with SQLite(filled) as ledger:
        assert ledger.spent() < spent
        assert code_of(lambda: ledger.verify(kept)) == "ledger_rolled_back"
        reserve(ledger, (0, 0))
        reserve(ledger, (0, 0))
        reserve(ledger, (0, 0))
        assert code_of(lambda: ledger.verify(kept)) == "ledger_rolled_back"


class TestWhileOpen:
    def test_a_ledger_cut_back_is_noticed_without_a_head(self, filled: Path) -> None:
        with SQLite(filled) as ledger:
            ledger.spent()
            edit(
                filled,
                "DELETE FROM entries WHERE number > 3",
                "UPDATE head SET number = 3, mac = (SELECT mac FROM entries WHERE number = 3)",
            )
            assert code_of(lambda: reserve(ledger)) == "ledger_rolled_back"

    def test_so_is_an_old_copy_over_the_same_file(self, filled: Path, tmp_path: Path) -> None:
        old = tmp_path / "old"
        shutil.copyfile(filled, old)
        with SQLite(filled) as ledger:
            reserve(ledger)
            shutil.copyfile(old, filled)
            assert code_of(lambda: reserve(ledger)) == "ledger_rolled_back"

    def test_so_is_another_file_in_its_place(self, filled: Path, tmp_path: Path) -> None:
        old = tmp_path / "old"
        shutil.copyfile(filled, old)
        with SQLite(filled) as ledger:
            reserve(ledger)
            old.replace(filled)
            assert code_of(lambda: reserve(ledger)) == "ledger_replaced"

    def test_so_is_its_deletion(self, filled: Path) -> None:
        with SQLite(filled) as ledger:
            reserve(ledger)
            filled.unlink()
            assert code_of(lambda: reserve(ledger)) == "ledger_missing"
        assert not filled.exists()


class TestTheFile:
    @pytest.mark.parametrize("share", [0.999, 0.7, 0.3, 0.01])
    def test_cut_short_is_noticed(self, filled: Path, share: float) -> None:
        content = filled.read_bytes()
        filled.write_bytes(content[: int(len(content) * share)])
        assert code_of(lambda: verify(filled)) in {"ledger_damaged", "not_a_ledger"}

    def test_emptied_is_not_started_again(self, filled: Path) -> None:
        filled.write_bytes(b"")
        with SQLite(filled) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "ledger_damaged"
        assert filled.read_bytes() == b""

    def test_emptied_under_a_key_elsewhere_is_not_started_again(self, place: Path) -> None:
        with SQLite(place, key=KEY) as ledger:
            fill(ledger)
        place.write_bytes(b"")
        with SQLite(place, key=KEY) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "ledger_damaged"

    def test_of_another_program_is_refused(self, place: Path) -> None:
        with closing(sqlite3.connect(place)) as connection, connection:
            connection.execute("CREATE TABLE notes (text)")
        before = place.read_bytes()
        with SQLite(place, key=KEY) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "not_a_ledger"
        assert place.read_bytes() == before

    def test_of_no_known_kind_is_refused(self, place: Path) -> None:
        place.write_bytes(b"ward,age\nA,41\n" * 1000)
        before = place.read_bytes()
        with SQLite(place, key=KEY) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "not_a_ledger"
        assert place.read_bytes() == before

    def test_of_a_later_version_is_refused(self, filled: Path) -> None:
        with closing(sqlite3.connect(filled)) as connection:
            connection.execute("PRAGMA user_version = 2")
        assert code_of(lambda: spend(filled)) == "ledger_too_new"

    @pytest.mark.parametrize(
        ("version", "words"),
        [(2, "Upgrade discreet"), (0, "version 0, in which no ledger"), (-7, "version -7, in")],
    )
    def test_of_an_unknown_version_is_refused_with_words(
        self, filled: Path, tmp_path: Path, version: int, words: str
    ) -> None:
        with SQLite(filled) as ledger:
            checkpoint = ledger.backup(tmp_path / "copy")
        for file in (filled, tmp_path / "copy"):
            with closing(sqlite3.connect(file)) as connection:
                connection.execute(f"PRAGMA user_version = {version}")
        before, key = filled.read_bytes(), filled.with_name(filled.name + ".key")
        attempts: list[Callable[[], object]] = [
            *(lambda: spend(filled), lambda: verify(filled)),
            lambda: restore(tmp_path / "copy", tmp_path / "b", key=key, checkpoint=checkpoint),
        ]
        for attempt in attempts:
            with pytest.raises(LedgerError, match=words):
                attempt()
        assert filled.read_bytes() == before
        assert not (tmp_path / "b").exists()

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TRIGGER sly AFTER INSERT ON entries BEGIN DELETE FROM head; END",
            "DROP INDEX about",
            "DROP TRIGGER entries_stay",
            "CREATE TABLE more (x)",
        ],
    )
    def test_with_another_layout_is_refused(self, filled: Path, statement: str) -> None:
        with closing(sqlite3.connect(filled)) as connection, connection:
            connection.execute(statement)
        assert code_of(lambda: spend(filled)) == "ledger_damaged"

    def test_refuses_edits_with_other_tools(self, filled: Path) -> None:
        with closing(sqlite3.connect(filled)) as connection:
            for statement in ("DELETE FROM entries", "UPDATE entries SET spent = '[]'"):
                with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                    connection.execute(statement)

    def test_with_any_byte_changed_is_noticed_or_says_the_same(self, filled: Path) -> None:
        content = filled.read_bytes()
        with SQLite(filled) as ledger:
            entries = list(ledger.entries())
        key = filled.with_name(filled.name + ".key").read_bytes()
        noticed = 0
        for position in range(0, len(content), 211):
            changed = bytearray(content)
            changed[position] ^= 0x41
            filled.write_bytes(changed)
            with SQLite(filled, key=key) as ledger:
                try:
                    ledger.verify()
                    assert list(ledger.entries()) == entries
                except LedgerError:
                    noticed += 1
        assert noticed > 50

    def test_whose_index_misleads_is_noticed(self, filled: Path) -> None:
        with closing(sqlite3.connect(filled)) as connection, connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
                " WHERE name = 'sqlite_autoindex_entries_1') WHERE name = 'about'"
            )
        assert code_of(lambda: verify(filled)) == "ledger_damaged"


class TestOtherKeys:
    def test_are_refused_by_every_operation(self, filled: Path) -> None:
        with SQLite(filled, key=KEY) as ledger:
            for attempt in (
                ledger.spent,
                ledger.checkpoint,
                ledger.verify,
                lambda: ledger.open(terms()),
                lambda: reserve(ledger),
                lambda: ledger.find(analyst="ann", query="count"),
                lambda: ledger.tag("x"),
            ):
                assert code_of(attempt) == "ledger_key_wrong"

    def test_cannot_forge_an_entry(self, filled: Path, tmp_path: Path) -> None:
        """The last entry of another ledger, moved here with all its fields in order."""
        with SQLite(tmp_path / "other", key=KEY) as other:
            fill(other)
            *_, forged = other.entries()
        edit(
            filled,
            f"UPDATE entries SET mac = '{forged.mac}', previous = '{forged.previous}',"
            f" subject = '{forged.subject}', time = '{forged.time}', id = '{forged.id}'"
            " WHERE number = 6",
            f"UPDATE head SET mac = '{forged.mac}'",
        )
        assert code_of(lambda: spend(filled)) == "ledger_damaged"

    def test_entries_of_a_ledger_with_the_same_key_do_not_fit(
        self, place: Path, tmp_path: Path
    ) -> None:
        with SQLite(place, key=KEY) as ledger, SQLite(tmp_path / "other", key=KEY) as other:
            fill(ledger)
            fill(other)
        with closing(sqlite3.connect(place)) as connection:
            connection.execute(f"ATTACH '{tmp_path / 'other'}' AS other")
            row = connection.execute("SELECT * FROM other.entries WHERE number = 6").fetchone()
        names = ("number", "id", "kind", "time", "subject", "body", "spent", "ceiling")
        pairs = zip((*names, "previous", "mac"), row, strict=True)
        changes = ", ".join(f"{name} = '{value}'" for name, value in pairs if name != "number")
        edit(
            place,
            f"UPDATE entries SET {changes} WHERE number = 6",
            f"UPDATE head SET mac = '{row[-1]}'",
        )
        with SQLite(place, key=KEY) as ledger:
            assert code_of(ledger.verify) == "ledger_damaged"
