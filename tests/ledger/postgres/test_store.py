"""A ledger on a PostgreSQL server: its tables, its promises about durability, and its copies."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.ledger import LedgerError, PostgreSQL, SQLite, restore, waiting
from tests import postgres_server
from tests.curator.tables import COLUMNS
from tests.curator.tables import visits as visits_table
from tests.ledger.examples import KEY, released, reserve, terms
from tests.postgres_server import OWNER, Server
from tests.tcp_proxy import Proxy, lost_request

pytestmark = postgres_server.needed


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


def execute(conninfo: str, *statements: str) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(conninfo, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def visits(conninfo: str) -> Iterator[PostgreSQL]:
    """A ledger alone in its database, started, with a few entries."""
    with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
        ledger.open(terms())
        released(ledger, 17, charge=(2, 1))
        yield ledger


class TestDurability:
    @pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
    def test_a_server_that_does_not_flush_is_refused(self, setting: str) -> None:
        with Server({setting: "off"}) as server:
            ledger = PostgreSQL(server.conninfo(), name="visits", key=KEY)
            with ledger, pytest.raises(LedgerError, match=f"{setting} = off") as refusal:
                ledger.open(terms())
        assert refusal.value.code == "ledger_not_flushed"

    @pytest.mark.parametrize("level", ["off", "local", "remote_write", "on", "remote_apply"])
    def test_commits_wait_for_the_flush_whatever_the_default(
        self, conninfo: str, visits: PostgreSQL, level: str
    ) -> None:
        (found,) = execute(conninfo, "SELECT current_database()")
        execute(conninfo, f"ALTER DATABASE {found[0]} SET synchronous_commit = {level}")
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger, ledger.store.writing():
            now = ledger.store.transactions.connection.execute("SHOW synchronous_commit").fetchone()
        assert now == ("remote_apply" if level == "remote_apply" else "on",)

    @pytest.mark.parametrize("table", ["entries", "heads"])
    def test_tables_that_a_crash_would_empty_are_refused(
        self, conninfo: str, visits: PostgreSQL, table: str
    ) -> None:
        execute(conninfo, f"ALTER TABLE discreet_ledger.{table} SET UNLOGGED")
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            assert code_of(lambda: reserve(ledger)) == "ledger_damaged"


class TestTheTables:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE discreet_ledger.entries SET body = '{}'",
            "DELETE FROM discreet_ledger.entries",
            "TRUNCATE discreet_ledger.entries",
            "DELETE FROM discreet_ledger.heads",
            "TRUNCATE discreet_ledger.heads",
        ],
    )
    def test_are_only_added_to(self, conninfo: str, visits: PostgreSQL, statement: str) -> None:
        import psycopg

        with pytest.raises(psycopg.errors.RaiseException, match="only added to"):
            execute(conninfo, statement)
        visits.verify()

    @pytest.mark.parametrize(
        "statement",
        [
            "DROP TRIGGER entries_stay ON discreet_ledger.entries",
            "ALTER TABLE discreet_ledger.entries DISABLE TRIGGER ALL",
            "CREATE RULE lose AS ON INSERT TO discreet_ledger.entries DO INSTEAD NOTHING",
            "ALTER TABLE discreet_ledger.entries ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE discreet_ledger.entries DROP CONSTRAINT entries_pkey",
            "ALTER TABLE discreet_ledger.entries ALTER body DROP NOT NULL",
            "ALTER TABLE discreet_ledger.heads ALTER number TYPE numeric",
            "DROP TABLE discreet_ledger.heads",
            "CREATE VIEW discreet_ledger.more AS SELECT 1",
        ],
    )
    def test_that_were_altered_are_refused(
        self, conninfo: str, visits: PostgreSQL, statement: str
    ) -> None:
        execute(conninfo, statement)
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            assert code_of(lambda: reserve(ledger)) == "ledger_damaged"
        assert code_of(visits.verify) == "ledger_damaged"

    def test_of_somebody_else_are_left_alone(self, conninfo: str) -> None:
        execute(conninfo, "CREATE SCHEMA discreet_ledger")
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "not_a_ledger"

    def test_of_a_later_version_are_left_alone(self, conninfo: str, visits: PostgreSQL) -> None:
        execute(conninfo, "COMMENT ON SCHEMA discreet_ledger IS 'discreet ledgers, form 2'")
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "ledger_too_new"

    @pytest.mark.parametrize(
        ("version", "words"), [(2, "Upgrade discreet"), (0, "version 0, in which no ledger")]
    )
    def test_of_an_unknown_version_are_refused_with_words(
        self, conninfo: str, visits: PostgreSQL, version: int, words: str
    ) -> None:
        execute(
            conninfo, f"COMMENT ON SCHEMA discreet_ledger IS 'discreet ledgers, form {version}'"
        )
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            for attempt in (lambda: ledger.open(terms()), lambda: reserve(ledger), ledger.verify):
                with pytest.raises(LedgerError, match=words):
                    attempt()

    def test_hold_no_key(self, conninfo: str, visits: PostgreSQL) -> None:
        whole = str(execute(conninfo, "SELECT * FROM discreet_ledger.entries"))
        assert KEY.hex() not in whole
        assert repr(KEY) not in whole


FORGERIES = (
    "UPDATE discreet_ledger.entries SET body = '{}' WHERE number = 2",
    'UPDATE discreet_ledger.entries SET spent = \'["0","0"]\' WHERE number = 3',
    "UPDATE discreet_ledger.entries SET number = 77 WHERE number = 2",
    "DELETE FROM discreet_ledger.entries WHERE number = 3",
    "DELETE FROM discreet_ledger.entries",
    "DELETE FROM discreet_ledger.heads",
    "UPDATE discreet_ledger.heads SET number = 2",
)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_an_administrator_changes_is_noticed(
    conninfo: str, visits: PostgreSQL, forgery: str
) -> None:
    switch = "ALTER TABLE discreet_ledger.{} {} TRIGGER ALL"
    both = ("entries", "heads")
    execute(conninfo, *(switch.format(table, "DISABLE") for table in both))
    execute(conninfo, forgery, *(switch.format(table, "ENABLE") for table in both))
    with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
        code = code_of(ledger.verify)
        if "heads" in forgery and "DELETE" in forgery:
            assert code == "ledger_not_opened"
            assert code_of(lambda: ledger.open(terms())) == "ledger_damaged"
        else:
            assert code == "ledger_damaged"


def test_a_ledger_cut_back_is_noticed_while_it_is_open_and_by_a_kept_head(
    conninfo: str, visits: PostgreSQL
) -> None:
    checkpoint = visits.checkpoint()
    execute(
        conninfo,
        "ALTER TABLE discreet_ledger.entries DISABLE TRIGGER ALL",
        "DELETE FROM discreet_ledger.entries WHERE number > 1",
        "UPDATE discreet_ledger.heads SET number = 1,"
        " mac = (SELECT mac FROM discreet_ledger.entries WHERE number = 1)",
        "ALTER TABLE discreet_ledger.entries ENABLE TRIGGER ALL",
    )
    assert code_of(lambda: reserve(visits)) == "ledger_rolled_back"
    with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
        assert code_of(lambda: ledger.verify(checkpoint)) == "ledger_rolled_back"


class TestNames:
    def test_tell_ledgers_apart(self, conninfo: str) -> None:
        first = PostgreSQL(conninfo, name="visits", key=KEY)
        second = PostgreSQL(conninfo, name="Visits", key=KEY)
        with first, second:
            first.open(terms())
            released(first, 1, charge=(3, 0))
            second.open(terms(unit="Person('id')"))
            assert second.spent() == (0, 0)
            assert second.find(analyst="ann", query="count") is None
            reserve(second, (1, 0))
            for ledger in (first, second):
                ledger.verify()
            assert (first.spent(), second.spent()) == ((3, 0), (1, 0))

    @pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 64, "'; --", "-x", 7, None])
    def test_are_plain(self, name: object) -> None:
        attempt = lambda: PostgreSQL("host=localhost", name=name, key=KEY)  # type: ignore[arg-type]  # noqa: E731
        assert code_of(attempt) == "ledger_name"


class TestBeginning:
    def test_eight_at_once_begin_one_ledger(self, conninfo: str, tmp_path: Path) -> None:
        together = threading.Barrier(8)

        def begin(_: int) -> str:
            with PostgreSQL(conninfo, name="visits", key=tmp_path / "key") as ledger:
                together.wait()
                ledger.open(terms())
                return reserve(ledger, (1, 0))

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(begin, range(8)))) == 8
        assert [path.name for path in tmp_path.iterdir()] == ["key"]
        with PostgreSQL(conninfo, name="visits", key=tmp_path / "key") as ledger:
            ledger.verify()
            assert ledger.spent() == (8, 0)

    def test_with_another_key_elsewhere_is_refused(self, conninfo: str, tmp_path: Path) -> None:
        with PostgreSQL(conninfo, name="visits", key=tmp_path / "here") as ledger:
            ledger.open(terms())
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            assert code_of(lambda: ledger.open(terms())) == "ledger_key_wrong"

    def test_is_refused_where_a_key_shows_that_a_ledger_was_lost(
        self, conninfo: str, tmp_path: Path
    ) -> None:
        with PostgreSQL(conninfo, name="visits", key=tmp_path / "key") as ledger:
            ledger.open(terms())
        execute(conninfo, "DROP SCHEMA discreet_ledger CASCADE")
        with PostgreSQL(conninfo, name="visits", key=tmp_path / "key") as ledger:
            assert code_of(lambda: ledger.open(terms())) == "ledger_missing"

    def test_is_not_done_by_reading(self, conninfo: str) -> None:
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            for attempt in (
                ledger.spent,
                ledger.checkpoint,
                ledger.verify,
                lambda: reserve(ledger),
            ):
                assert code_of(attempt) == "ledger_not_opened"
        assert execute(conninfo, "SELECT to_regnamespace('discreet_ledger')") == [(None,)]


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP"])
def test_any_encoding_keeps_what_was_written(encoding: str) -> None:
    options = f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
    server = postgres_server.shared()
    with PostgreSQL(server.conninfo(server.database(options)), name="visits", key=KEY) as ledger:
        ledger.open(terms(unit="Person('größe 人')"))
        released(ledger, "naïve ☃ \ud800", query="SELECT 'ü'", analyst="Jürgen")
        found = ledger.find(analyst="Jürgen", query="SELECT 'ü'")
        assert found == {"value": "naïve ☃ \ud800"}
        ledger.verify()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of half a megabyte that the server may write to."""
    place = Path(tempfile.mkdtemp(prefix="discreet-small-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        place.rmdir()
        pytest.skip("this system lets nobody mount a file system")
    try:
        shutil.chown(place, "postgres")
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
        place.rmdir()


def test_a_disk_that_is_really_full_refuses_the_charge_and_loses_nothing(
    small_disk: Path, conninfo: str, visits: PostgreSQL
) -> None:
    execute(conninfo, f"CREATE TABLESPACE small LOCATION '{small_disk}'")
    try:
        execute(conninfo, "ALTER TABLE discreet_ledger.entries SET TABLESPACE small")

        def fill() -> None:
            for _ in range(200):
                visits.answer(reserve(visits, (0, 0)), {"text": random.randbytes(5000).hex()})

        with pytest.raises(LedgerError, match="the server's disk is full") as refusal:
            fill()
        assert refusal.value.code == "ledger_unwritable"
        assert visits.find(analyst="ann", query="count") == {"value": 17}
        checkpoint = visits.checkpoint()
        execute(conninfo, "ALTER TABLE discreet_ledger.entries SET TABLESPACE pg_default")
        reserve(visits)
        visits.verify(checkpoint)
    finally:
        visits.close()
        execute(conninfo, "DROP SCHEMA discreet_ledger CASCADE", "DROP TABLESPACE small")


class TestTrouble:
    def test_a_ledger_that_others_keep_locked_is_busy(
        self, conninfo: str, visits: PostgreSQL, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import psycopg

        monkeypatch.setattr(waiting, "PATIENCE", 0.1)
        with psycopg.connect(conninfo) as other:
            other.execute("SELECT * FROM discreet_ledger.heads FOR UPDATE")
            assert code_of(lambda: reserve(visits)) == "ledger_busy"
            assert visits.spent() == (2, 1)  # who reads does not wait
            other.rollback()
        reserve(visits)
        visits.verify()

    @pytest.mark.parametrize(
        ("state", "code"),
        [
            ("53100", "ledger_unwritable"),  # disk full
            ("53200", "ledger_unwritable"),  # out of memory
            ("58030", "ledger_unwritable"),  # input or output failed
            ("57014", "ledger_busy"),  # cancelled
            ("XX001", "ledger_damaged"),  # a page is corrupted
        ],
    )
    @pytest.mark.parametrize("when", ["BEFORE INSERT", "AFTER INSERT"])
    def test_a_server_that_cannot_write_refuses_and_loses_nothing(
        self, conninfo: str, visits: PostgreSQL, state: str, code: str, when: str
    ) -> None:
        """As the server reports it; AFTER INSERT, deferred, it fails in COMMIT itself."""
        before = visits.checkpoint()
        late = when.startswith("AFTER")
        kind, end = (
            ("CONSTRAINT TRIGGER", "DEFERRABLE INITIALLY DEFERRED") if late else ("TRIGGER", "")
        )
        execute(
            conninfo,
            "CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN RAISE EXCEPTION 'secret text' USING ERRCODE = '{state}'; END $$",
            f"CREATE {kind} fails {when} ON discreet_ledger.entries {end}"
            " FOR EACH ROW EXECUTE FUNCTION fails()",
        )
        with pytest.raises(LedgerError) as refusal:
            reserve(visits)
        assert refusal.value.code == code
        assert "secret" not in str(refusal.value)
        execute(conninfo, "DROP TRIGGER fails ON discreet_ledger.entries")
        visits.verify(before)
        assert visits.checkpoint() == before
        reserve(visits)

    def test_a_role_that_may_only_read_can_read(self, conninfo: str, visits: PostgreSQL) -> None:
        from psycopg.conninfo import make_conninfo

        role = f"reader_{id(self)}"
        execute(
            conninfo,
            f"CREATE ROLE {role} LOGIN PASSWORD 'x'",
            f"GRANT USAGE ON SCHEMA discreet_ledger TO {role}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA discreet_ledger TO {role}",
        )
        weaker = make_conninfo(conninfo, user=role, password="x")
        with PostgreSQL(weaker, name="visits", key=KEY) as ledger:
            assert ledger.spent() == (2, 1)
            with pytest.raises(LedgerError, match="permission denied") as refusal:
                reserve(ledger)
            assert refusal.value.code == "ledger_unwritable"
            execute(conninfo, f"GRANT INSERT ON discreet_ledger.entries TO {role}")
            execute(conninfo, f"GRANT INSERT, UPDATE ON discreet_ledger.heads TO {role}")
            reserve(ledger)
            ledger.verify()
        execute(conninfo, f"REASSIGN OWNED BY {role} TO {OWNER}", f"DROP OWNED BY {role}")
        execute(conninfo, f"DROP ROLE {role}")

    def test_an_exception_in_mid_transaction_takes_everything_back(
        self, visits: PostgreSQL, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = visits.checkpoint()
        append = visits.chain.store.append

        def interrupted(entry: object) -> None:
            append(entry)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(visits.chain.store, "append", interrupted)
            with pytest.raises(KeyboardInterrupt):
                reserve(visits)
        assert visits.checkpoint() == before
        reserve(visits)
        visits.verify(before)

    def test_without_psycopg_the_remedy_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(InvalidParameter, match=r"discreet\[postgres\]") as refusal:
            PostgreSQL("host=localhost", name="visits", key=KEY)
        assert refusal.value.code == "missing_postgres"

    def test_a_hostile_search_path_changes_nothing(self, conninfo: str, visits: PostgreSQL) -> None:
        execute(
            conninfo,
            "CREATE SCHEMA IF NOT EXISTS evil",
            "CREATE OR REPLACE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS"
            " $$ SELECT 'on'::text $$",
            f"ALTER ROLE {OWNER} SET search_path = evil, pg_catalog",
        )
        try:
            with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
                reserve(ledger)
                ledger.verify()
                path = "SELECT current_setting('search_path')"
                with ledger.store.reading():
                    now = ledger.store.transactions.connection.execute(path).fetchone()
                assert now == ("pg_catalog",)
        finally:
            execute(conninfo, f"ALTER ROLE {OWNER} RESET search_path")


class TestCopies:
    def test_are_ledgers_in_a_file(self, visits: PostgreSQL, tmp_path: Path) -> None:
        checkpoint = visits.backup(tmp_path / "copy")
        assert checkpoint == visits.checkpoint()
        with SQLite(tmp_path / "copy", key=KEY) as copy:
            copy.verify(checkpoint)
            assert list(copy.entries()) == list(visits.entries())
        assert code_of(lambda: visits.backup(tmp_path / "copy")) == "backup_exists"

    def test_come_back_to_an_empty_server_with_the_head_that_was_kept(
        self, conninfo: str, visits: PostgreSQL, tmp_path: Path
    ) -> None:
        checkpoint = visits.backup(tmp_path / "copy")
        visits.close()
        execute(conninfo, "DROP SCHEMA discreet_ledger CASCADE")
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            assert code_of(lambda: restore(tmp_path / "copy", ledger)) == "head_needed"
            assert not ledger.exists()
            found = restore(tmp_path / "copy", ledger, checkpoint=checkpoint)
            assert ledger.checkpoint() == found
            assert ledger.open(terms()) == terms()
            assert ledger.spent() == (2, 1)
            ledger.verify(checkpoint)

    def test_that_are_behind_are_refused_and_those_ahead_are_added(
        self, conninfo: str, visits: PostgreSQL, tmp_path: Path
    ) -> None:
        visits.backup(tmp_path / "old")
        reserve(visits, (3, 0))
        checkpoint = visits.backup(tmp_path / "new")
        assert code_of(lambda: restore(tmp_path / "old", visits)) == "restore_refused"
        assert restore(tmp_path / "new", visits) == checkpoint
        execute(conninfo, "DROP SCHEMA discreet_ledger CASCADE")
        with PostgreSQL(conninfo, name="visits", key=KEY) as ledger:
            with SQLite(tmp_path / "old", key=KEY) as old:
                before = old.checkpoint()
            restore(tmp_path / "old", ledger, checkpoint=before)
            assert code_of(lambda: restore(tmp_path / "new", ledger)) == "restore_refused"

    def test_move_a_ledger_from_a_server_to_a_file_and_back(
        self, conninfo: str, visits: PostgreSQL, tmp_path: Path
    ) -> None:
        checkpoint = visits.backup(tmp_path / "copy")
        place = tmp_path / "visits.ledger"
        restore(tmp_path / "copy", place, key=KEY, checkpoint=checkpoint)
        with SQLite(place, key=KEY) as moved:
            moved.open(terms())
            reserve(moved, (1, 0))
            moved.verify(checkpoint)
            further = moved.backup(tmp_path / "further")
        restore(tmp_path / "further", visits)
        visits.verify(further)
        assert visits.spent() == (3, 1)

    def test_bring_no_second_key(self, visits: PostgreSQL, tmp_path: Path) -> None:
        visits.backup(tmp_path / "copy")
        assert code_of(lambda: restore(tmp_path / "copy", visits, key=KEY)) == "key_twice"


class TestACurator:
    """The whole way from a question to its answer, over a network that fails."""

    SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    SPEND = dp.PureDP(epsilon=0.5)

    def curator(self, conninfo: str) -> dp.Curator:
        table = dp.table(visits_table(), unit=dp.Row(), columns=COLUMNS, snapshot="one")
        book = PostgreSQL(conninfo, name="visits", key=KEY)
        return dp.Curator(visits=table, budget=dp.PureDP(epsilon=2), ledger=book)

    def test_answers_again_from_another_machine(self, conninfo: str) -> None:
        with self.curator(conninfo) as first:
            answer = first.sql(self.SQL, spend=self.SPEND)
        with self.curator(conninfo) as second:
            assert second.sql(self.SQL, spend=self.SPEND).to_json() == answer.to_json()
            assert second.spent == dp.PureDP(epsilon=0.5, unit=dp.Row())
            second.record(dp.PureDP(epsilon=1), reason="last year")
            assert second.remaining == dp.PureDP(epsilon=0.5, unit=dp.Row())
            assert [line.ended for line in second.history()] == ["released", "recorded"]

    def test_shows_no_answer_whose_fate_is_unknown_and_counts_it_as_spent(
        self, conninfo: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from psycopg.conninfo import make_conninfo

        monkeypatch.setattr(waiting, "PATIENCE", 0.3)
        with Proxy(postgres_server.shared().port) as proxy:
            curator = self.curator(make_conninfo(conninfo, port=proxy.port))
            commit = curator.ledger.commit

            def vanishing(reservation: str, release: Any) -> None:
                proxy.faults.append((b"COMMIT\x00", lost_request))
                proxy.faults.append((b"user\x00", lost_request))  # of the next connection
                proxy.refusing = True
                commit(reservation, release)

            monkeypatch.setattr(curator.ledger, "commit", vanishing)
            with pytest.raises(LedgerError) as refusal:
                curator.sql(self.SQL, spend=self.SPEND)
            assert refusal.value.code == "ledger_outcome_unknown"
            proxy.refusing = False
            proxy.faults.clear()
            assert curator.spent == dp.PureDP(epsilon=0.5, unit=dp.Row())
            assert [line.ended for line in curator.history()] == ["unfinished"]
            curator.close()

    def test_spends_from_children_too(self, conninfo: str) -> None:
        with self.curator(conninfo) as curator:
            child = curator.child("ann", budget=dp.PureDP(epsilon=1))
            child.sql(self.SQL, spend=self.SPEND)
            assert curator.remaining == dp.PureDP(epsilon=1, unit=dp.Row())
            curator.ledger.verify()
