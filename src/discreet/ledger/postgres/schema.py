"""The form of ledgers on a PostgreSQL server, so that nothing else is ever taken for one.

One schema of a database holds all its ledgers, told apart by name. The tables are compared with
their form at every connection: a table that is unlogged would be emptied by a crash, a rule or a
policy could swallow rows, a dropped key would admit two entries with one number.

Source: PostgreSQL documentation, "System Catalogs", "CREATE TABLE" (UNLOGGED).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.ledger.errors import damaged, foreign, version_unknown

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "discreet_ledger"
VERSION = 1
_COMMENT = "discreet ledgers, form "

_LOCK = 0x4450_4C47  # "DPLG": one layout at a time in a database

_TEXT = 'text COLLATE "C" NOT NULL'  # an index in byte order outlives changes of collation

STATEMENTS = (
    f"CREATE SCHEMA {SCHEMA}",
    f"COMMENT ON SCHEMA {SCHEMA} IS '{_COMMENT}{VERSION}'",
    f"CREATE TABLE {SCHEMA}.entries (ledger {_TEXT}, number bigint NOT NULL, id {_TEXT},"
    f" kind {_TEXT}, time {_TEXT}, subject {_TEXT}, body {_TEXT}, spent {_TEXT},"
    f" ceiling {_TEXT}, previous {_TEXT}, mac {_TEXT}, PRIMARY KEY (ledger, number),"
    " UNIQUE (ledger, id))",
    f"CREATE INDEX about ON {SCHEMA}.entries (ledger, kind, subject, number)",
    # The last entry is noted a second time; whoever writes locks this row.
    f"CREATE TABLE {SCHEMA}.heads (ledger {_TEXT} PRIMARY KEY, number bigint NOT NULL,"
    f" mac {_TEXT}) WITH (fillfactor = 50)",
    # Against accidents with other tools; against malice there are the seals.
    f"CREATE FUNCTION {SCHEMA}.refuse() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE EXCEPTION 'a ledger is only added to'; END $$",
    f"CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE ON {SCHEMA}.entries"
    f" FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.refuse()",
    f"CREATE TRIGGER entries_remain BEFORE TRUNCATE ON {SCHEMA}.entries"
    f" FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.refuse()",
    f"CREATE TRIGGER heads_remain BEFORE TRUNCATE OR DELETE ON {SCHEMA}.heads"
    f" FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.refuse()",
)

_FORM = f"""
SELECT concat_ws(' ', 'table', relname, relkind, relpersistence, relrowsecurity, relhasrules,
                 relispartition)
  FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind IN ('r', 'v', 'm', 'p')
UNION ALL
SELECT concat_ws(' ', 'column', relname, attname, atttypid::regtype, attnotnull,
                 (SELECT collname FROM pg_collation c WHERE c.oid = attcollation))
  FROM pg_attribute JOIN pg_class t ON t.oid = attrelid
 WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind = 'r' AND attnum > 0
   AND NOT attisdropped
UNION ALL
SELECT concat_ws(' ', 'index', relname, indisunique, indisvalid, indpred IS NULL, indimmediate,
                 indkey)
  FROM pg_index JOIN pg_class t ON t.oid = indrelid
 WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind = 'r'
UNION ALL
SELECT concat_ws(' ', 'trigger', relname, tgname, tgtype, tgenabled)
  FROM pg_trigger JOIN pg_class t ON t.oid = tgrelid
 WHERE relnamespace = '{SCHEMA}'::regnamespace AND NOT tgisinternal
"""

_TEXTS = ("id", "kind", "time", "subject", "body", "spent", "ceiling", "previous", "mac")
_LAID_OUT = sorted(
    (
        "table entries r p f f f",
        "table heads r p f f f",
        "column entries number bigint t",
        *(f"column entries {name} text t C" for name in ("ledger", *_TEXTS)),
        "column heads number bigint t",
        *(f"column heads {name} text t C" for name in ("ledger", "mac")),
        "index entries t t t t 1 2",
        "index entries t t t t 1 3",
        "index entries f t t t 1 4 6 2",
        "index heads t t t t 1",
        "trigger entries entries_remain 34 O",
        "trigger entries entries_stay 27 O",
        "trigger heads heads_remain 42 O",
    )
)


def lock(connection: Connection[Any]) -> None:
    """Be alone in laying out and beginning ledgers, until the transaction ends."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))


def there(connection: Connection[Any]) -> bool:
    """Whether the schema exists, inside a transaction."""
    # Read as a table: functions such as to_regnamespace answer from a cache that may be stale.
    query = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
    return connection.execute(query, (SCHEMA,)).fetchone() is not None


def create(connection: Connection[Any]) -> None:
    """Lay out the tables, inside a transaction that holds the lock."""
    for statement in STATEMENTS:
        connection.execute(statement)


def require_form(connection: Connection[Any]) -> None:
    """Refuse a schema that is not laid out for ledgers."""
    row = connection.execute(
        "SELECT obj_description(to_regnamespace(%s)::oid, 'pg_namespace')", (SCHEMA,)
    ).fetchone()
    comment = str(row[0]) if row else ""
    version = comment.removeprefix(_COMMENT)
    if version == comment or not version.isdigit():
        raise foreign(SCHEMA)
    if int(version) != VERSION:
        raise version_unknown(int(version), known=VERSION)
    if sorted(line for (line,) in connection.execute(_FORM)) != _LAID_OUT:
        raise damaged(what="the layout of the server's tables")
