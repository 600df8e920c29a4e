"""Statements as text: their kinds, their ends, their parameters; and values as they travel."""

from datetime import date, datetime
from typing import Any

import pytest

from discreet.core.errors import DiscreetError
from discreet.server.wire import types
from discreet.server.wire.session_settings import SessionSettings
from discreet.server.wire.statements import StatementKind, replaced, statements
from discreet.server.wire.types import MOST_ELEMENTS, WireType, literal

PRICED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM t"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PRICED, StatementKind.QUESTION),
        (PRICED.lower(), StatementKind.QUESTION),
        (f"-- a\n/* b /* c */ */ {PRICED}", StatementKind.QUESTION),
        (f"WITH a AS ({PRICED}) SELECT * FROM a", StatementKind.QUESTION),
        (f"SELECT * FROM ({PRICED}) q", StatementKind.QUESTION),
        ("SELECT WITH ANONYMIZATION OPTIONS(epsilon=1) 1", StatementKind.QUESTION),
        (f"EXPLAIN (COSTS OFF) {PRICED}", StatementKind.PREVIEW),
        (f"SELECT '{PRICED}'", StatementKind.READING),
        (f"SELECT 1 -- {PRICED}", StatementKind.READING),
        (f"SELECT $a${PRICED}$a$", StatementKind.READING),
        ('SELECT "WITH" DIFFERENTIAL_PRIVACY', StatementKind.READING),
        ("SELECT 1", StatementKind.READING),
        (f"INSERT INTO t {PRICED}", StatementKind.COMMAND),
        (f"COPY ({PRICED}) TO STDOUT", StatementKind.COMMAND),
        (f"CREATE TABLE c AS {PRICED}", StatementKind.COMMAND),
        ("SET a = 1", StatementKind.COMMAND),
    ],
)
def test_only_what_names_a_price_is_a_question(text: str, kind: StatementKind) -> None:
    (statement,) = statements(text)
    assert statement.kind is kind


def test_statements_end_outside_of_texts_names_and_comments() -> None:
    text = "SELECT ';', \"a;b\", $$;$$, E'\\';' /* ; /* ; */ */ -- ;\n; ; SHOW x;"
    first, second = statements(text)
    assert first.text == text[: text.index("\n;") + 1]
    assert text[second.offset :].startswith(" SHOW x")
    assert statements(" ; -- nothing\n ;") == []


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("SELECT 1 LIMIT 0", True),
        ("SELECT 1 LIMIT 0 OFFSET 5 -- end", True),
        ("SELECT 1 LIMIT 10", False),
        ("SELECT 1 AS limit_0", False),
        ("SELECT (SELECT 1 LIMIT 0)", False),
        ("SELECT 'LIMIT 0'", False),
        ("SELECT 1 LIMIT 0 + 5", False),
    ],
)
def test_limit_zero_is_found_at_the_end_alone(text: str, none: bool) -> None:  # noqa: FBT001
    assert replaced(text).wants_no_rows is none


def test_parameters_are_put_in_their_places_and_nowhere_else() -> None:
    (statement,) = statements("SELECT $2, '$1', \"$1\", $1 -- $1")
    assert statement.parameters == 2
    assert statement.bound(["'a''b'", "2"]).text == "SELECT 2, '$1', \"$1\", 'a''b' -- $1"
    with pytest.raises(DiscreetError, match="wire_parameters"):
        statement.bound(["1"])


@pytest.mark.parametrize(
    ("value", "oid", "binary", "written"),
    [
        (None, 0, False, "NULL"),
        (b"12", 23, False, "12"),
        (b"-12", 20, False, "(-12)"),
        (b"\0\0\0\x0c", 23, True, "12"),
        (b"2.5e3", 701, False, "2500.0"),
        (b"t", 16, False, "TRUE"),
        (b"\1", 16, True, "TRUE"),
        (b"2024-02-29", 1082, False, "DATE '2024-02-29'"),
        (b"\0\0\0\1", 1082, True, "DATE '2000-01-02'"),
        (b"it's", 25, True, "'it''s'"),
        (b'{a,"b\\"c",NULL}', 1009, False, "ARRAY['a', 'b\"c', NULL]"),
        (b"{1,2}", 1016, False, "ARRAY[1, 2]"),
    ],
)
def test_parameters_are_written_as_constants(
    value: bytes | None,
    oid: int,
    binary: bool,  # noqa: FBT001
    written: str,
) -> None:
    assert literal(value, oid, binary=binary) == written


@pytest.mark.parametrize(
    ("value", "oid", "binary"),
    [
        (b"1; DROP", 23, False),
        (b"nan", 701, False),
        (b"\0", 23, True),
        (b"\xff", 25, False),
        (b"a\0b", 25, False),
        (b"x", 600, True),
        (b"maybe", 16, False),
        (b"{{1}}", 1016, False),
    ],
)
def test_what_is_no_value_is_refused(value: bytes, oid: int, binary: bool) -> None:  # noqa: FBT001
    with pytest.raises(DiscreetError, match="wire_parameter"):
        literal(value, oid, binary=binary)


@pytest.mark.parametrize(
    ("form", "value", "text", "packed"),
    [
        (types.INT8, 5, b"5", b"\0\0\0\0\0\0\0\5"),
        (types.FLOAT8, float("inf"), b"Infinity", b"\x7f\xf0\0\0\0\0\0\0"),
        (types.BOOL, True, b"t", b"\1"),
        (types.TEXT, "a\0é", "aé".encode(), "aé".encode()),
        (types.DATE, date(2000, 1, 3), b"2000-01-03", b"\0\0\0\2"),
        (
            types.TIMESTAMP,
            datetime(2000, 1, 1, 0, 0, 1),
            b"2000-01-01 00:00:01",
            b"\0\0\0\0\0\x0fB@",
        ),
    ],
)
def test_values_travel_as_text_and_as_bytes(
    form: WireType, value: Any, text: bytes, packed: bytes
) -> None:
    assert form.encoded(value, binary=False) == text
    assert form.encoded(value, binary=True) == packed
    assert form.encoded(None, binary=True) is None


def test_settings_are_kept_within_bounds() -> None:
    settings = SessionSettings("ann", {"application_name": "x", "discreet.purpose": "planning"})
    assert settings.terms() == {"purpose": "planning"}
    assert settings.set("TIMEZONE", "Europe/Berlin") == [("TimeZone", "Europe/Berlin")]
    assert settings.show("timezone") == ("TimeZone", "Europe/Berlin")
    for name, value in (
        ("client_encoding", "LATIN1"),
        ("server_version", "99"),
        ("discreet.porpoise", "x"),
        ("session_authorization", "bob"),
        ("some.thing", "x" * 1000),
    ):
        with pytest.raises(DiscreetError):
            settings.set(name, value)
    for number in range(30):
        settings.set(f"a.s{number}", "1")
    with pytest.raises(DiscreetError, match="too_many_settings"):
        settings.set("more." + "s", "1" * 501)
    with pytest.raises(DiscreetError, match="too_many_settings"):
        _ = [settings.set(f"b.s{number}", "1") for number in range(64)]
    assert ("TimeZone", "UTC") in settings.reset()
    assert settings.terms() == {"purpose": "planning"}


def test_a_list_of_too_many_values_is_refused_before_all_are_looked_at() -> None:
    listed = b"{" + b"1," * (MOST_ELEMENTS - 1) + b"1}"
    assert literal(listed, 1016, binary=False).count("1") == MOST_ELEMENTS
    with pytest.raises(DiscreetError, match="wire_parameters"):
        literal(b"{1," + listed[1:], 1016, binary=False)
