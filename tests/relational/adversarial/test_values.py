"""Hostile values: no row makes an engine fail, and none is repeated in an error, log or release."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import EngineFailed
from discreet.curator.curator import OWNER
from discreet.relational.engines.duckdb.engine import DuckDB
from tests.relational.adversarial.curators import SECRETS, ask, chain, curator, spent, table, words

AWKWARD: dict[str, list[Any]] = {
    "pid": [1, 2, 3, 4, 5, 6, 7, 8],
    "i": [0, -1, 2**63 - 1, -(2**63), 7, None, 2**62, -(2**62)],
    "j": [0, 0, -1, -1, 0, 1, None, 2**63 - 1],
    "r": [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.8e308, 5e-324, None],
    "q": [0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -5e-324, 1.0],
    "s": ["", "1e999", "0x1F", "-", "2024-02-30", "NaN", "９", "\U0001f600" * 50],
    "b": [True, False, None, True, False, None, True, False],
    "d": [date.min, date.max, date(2024, 2, 29), None, *(date(2024, 1, k) for k in (1, 2, 3, 4))],
    "m": [datetime.min, datetime.max, None, *(datetime(2024, 1, k) for k in (1, 2, 3, 4, 5))],
}

CONDITIONS = [
    "i / j > 0",
    "i // j > 0",
    "i % j = 0",
    "i * i * i > j",
    "i + i - j * 3 > 0",
    "-i > 0 OR abs(i) > 1",
    "r / q > 0",
    "r % q >= 0",
    "r * r * r > 1",
    "sqrt(r) > 0",
    "ln(r) > 0 OR log10(q) > 0 OR log2(r) > 0",
    "exp(r) > 1",
    "power(r, q) > 0 OR power(i, j) > 0",
    "CAST(r AS BIGINT) > 0",
    "CAST(i AS DOUBLE) = i",
    "CAST(s AS BIGINT) > 0",
    "CAST(s AS DOUBLE) > 0",
    "CAST(s AS DATE) > DATE '2024-01-01'",
    "CAST(s AS TIMESTAMP) IS NULL",
    "CAST(s AS BOOLEAN)",
    "CAST(r AS VARCHAR) LIKE '%e%'",
    "round(r, 3) > 0 OR floor(r) > 0 OR ceil(q) > 0",
    "round(i, -5) > 0",
    "substring(s, 2, 1) = 'e' OR left(s, 3) = '1e9'",
    "d + INTERVAL 4000 YEAR > d",
    "d - INTERVAL 9000 YEAR < d",
    "m + INTERVAL 3000000 DAY > m",
    "date_diff('day', d, m) > 0",
    "date_trunc('week', d) = d OR date_trunc('hour', m) = m",
    "year(d) * month(m) > 0",
    "make_date(i, j, 31) IS NULL",
    "make_date(2024, j, i) IS NOT NULL",
    "bin(r, 0, 10, 5) = 2",
    "width_bucket(r, -1, 1, 4) > 1",
    "least(i, j) < greatest(r, q)",
    "nullif(i, j) IS NULL OR coalesce(r, q) > 0",
    "i IN (1, 7) OR s IN ('', '9')",
    "upper(s) || lower(s) LIKE '%_!%%' ESCAPE '!'",
    "length(trim(s)) > 3 OR replace(s, 'e', '') = ''",
]


@pytest.fixture(scope="module")
def awkward() -> Iterator[dp.Curator]:
    frame = pl.DataFrame(AWKWARD, schema_overrides={"i": pl.Int64, "j": pl.Int64})
    columns = {"b": dp.Category([False, True]), "r": dp.Number(-5.0, 5.0), "i": dp.Number(-9, 9)}
    with curator(frame, columns=columns) as made:
        yield made


@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_value_makes_a_condition_fail(condition: str, awkward: dp.Curator) -> None:
    ask(awkward, f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
    ask(awkward, f"SELECT COUNT(*) FILTER (WHERE {condition}) AS n FROM t WHERE NOT ({condition})")


@pytest.mark.parametrize(
    "aggregate",
    [
        *("SUM(i * i)", "SUM(i // 3)", "SUM(r / 2)", "AVG(abs(r))", "VARIANCE(i * 1000000)"),
        *("SUM(sqrt(abs(r)))", "SUM(exp(r))", "CORR(i, r)", "MEDIAN(r)", "MAX(i)", "SUM(i % 4)"),
        *("COUNT(DISTINCT r)", "SUM(CAST(r AS BIGINT))", "SUM(power(r, 2))", "AVG(b)"),
    ],
)
def test_no_value_makes_an_aggregate_fail(aggregate: str, awkward: dp.Curator) -> None:
    ask(awkward, f"SELECT {aggregate} AS n FROM t")
    ask(awkward, f"SELECT b, {aggregate} AS n FROM t GROUP BY b")


STORED = [
    ("UBIGINT", "18446744073709551615", dp.Number(0, 5)),
    ("HUGEINT", str(2**127 - 1), dp.Number(0, 5)),
    ("DECIMAL(38,0)", "9" * 38, dp.Number(0, 5)),
    ("DATE", "'infinity'", dp.Dates(date(2024, 1, 1), date(2024, 1, 2))),
    ("TIMESTAMP", "'-infinity'", dp.Dates(date(2024, 1, 1), date(2024, 1, 2))),
    ("TIMESTAMP_S", "'infinity'", dp.Dates(date(2024, 1, 1), date(2024, 1, 2))),
    ("TIMESTAMP_NS", "'2262-04-11 23:47:16'", dp.Dates(date(2024, 1, 1), date(2024, 1, 2))),
    ("TIMESTAMPTZ", "'infinity'", dp.Dates(date(2024, 1, 1), date(2024, 1, 2))),
    ("UUID", "'00000000-0000-0000-0000-000000000000'", dp.Category(["x"])),
    ("ENUM('a', 'b')", "'a'", dp.Category(["b", "c"])),
]


@pytest.mark.parametrize(
    ("kind", "value", "declared"),
    STORED,
    ids=[kind for kind, _, _ in STORED],
)
def test_no_stored_value_makes_a_scan_fail(
    tmp_path: Path, kind: str, value: str, declared: Any
) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        connection.execute(f"INSERT INTO t VALUES ({value}), (NULL)")
    source = dp.table(path, table="t", unit=dp.Row(), columns={"x": declared})
    with dp.Curator(t=source, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory()) as made:
        ask(made, "SELECT COUNT(x) AS n FROM t WHERE x IS NOT NULL")


@pytest.mark.parametrize(
    ("kind", "value", "keys"),
    [
        ("UUID", "'00000000-0000-0000-0000-000000000000'", ["x"]),
        ("TIMESTAMP_NS", "'2024-01-01'", [datetime(2024, 1, 1), datetime(9999, 1, 1)]),
    ],
)
def test_no_public_key_makes_a_question_fail(
    tmp_path: Path, kind: str, value: str, keys: list[Any]
) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        connection.execute(f"INSERT INTO t VALUES ({value})")
    source = dp.table(path, table="t", unit=dp.Row(), columns={"x": dp.Category(keys)})
    with dp.Curator(t=source, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory()) as made:
        ask(made, "SELECT x, COUNT(*) AS n FROM t GROUP BY x")


# What an error, a log and a release say ---------------------------------------------------------


def _break(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that quotes a private value in its error, as DuckDB does."""

    def numbers(self: DuckDB, text: str) -> Any:
        return self._run("SELECT CAST(note AS INTEGER) FROM source_0").fetchnumpy()

    monkeypatch.setattr(DuckDB, "numbers", numbers)


def test_a_failure_after_data_was_opened_says_one_code_and_is_paid(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    everything = logging.StreamHandler(stream)
    logging.getLogger().addHandler(everything)
    try:
        with table() as made:
            _break(monkeypatch)
            with pytest.raises(EngineFailed) as caught:
                ask(made, "SELECT COUNT(*) AS n FROM t")
            assert caught.value.code == "engine_failed"
            assert spent(made) == 1
            told = f"{caught.value} {caught.value!r} {made.history()!r} {stream.getvalue()}"
    finally:
        logging.getLogger().removeHandler(everything)
    shown = capfd.readouterr()
    assert not any(secret in told + shown.out + shown.err for secret in SECRETS)


def test_a_failure_carries_nothing_of_the_engine_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with table() as made:
        _break(monkeypatch)
        with pytest.raises(EngineFailed) as caught:
            ask(made, "SELECT COUNT(*) AS n FROM t")
        assert len(list(chain(caught.value))) == 1
        assert not any(secret in words(caught.value) for secret in SECRETS)


def test_only_the_owner_can_read_why(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    OWNER.addHandler(handler)
    try:
        with table() as made:
            _break(monkeypatch)
            with pytest.raises(EngineFailed):
                ask(made, "SELECT COUNT(*) AS n FROM t")
    finally:
        OWNER.removeHandler(handler)
    assert "Traceback" in stream.getvalue()


def test_a_release_and_the_ledger_hold_no_value_of_the_data() -> None:
    with table(unit=dp.Row()) as made:
        for sql in (
            "SELECT w, COUNT(*) AS n, AVG(y) AS a, MEDIAN(x) AS m FROM t GROUP BY w",
            "SELECT COUNT(*) AS n, SUM(x) AS s FROM t WHERE note LIKE 'Z%'",
        ):
            release = ask(made, sql)
            told = f"{release} {release!r} {release.to_json()} {made.history()!r} {made!r}"
            told += f"{made.explain(sql, spend=dp.PureDP(epsilon=1))}"
            told += f"{made.preview(sql, spend=dp.PureDP(epsilon=1))}"
            assert not any(secret in told for secret in SECRETS)


# Public refusals are free -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "aggregate", "spend"),
    [
        (dp.Number(0, 2**53), "SUM(x)", dp.PureDP(epsilon=0.1)),
        (dp.Number(0, 2**60), "AVG(x)", dp.PureDP(epsilon=1)),
        (dp.Number(0.0, 1e-300), "SUM(y)", dp.PureDP(epsilon=1)),
    ],
)
def test_what_cannot_be_released_is_refused_before_it_is_paid(
    declared: dp.Number, aggregate: str, spend: dp.PureDP
) -> None:
    frame = pl.DataFrame({"pid": [1], "x": [1], "y": [0.0]})
    column = aggregate[-2]
    with curator(frame, columns={column: declared}) as made:
        with pytest.raises(dp.errors.DiscreetError) as caught:
            made.sql(f"SELECT {aggregate} AS n FROM t", spend=spend)
        assert spent(made) == 0
        assert caught.value.code != "engine_failed"


def test_bounds_near_the_largest_double_are_refused() -> None:
    with pytest.raises(dp.errors.DiscreetError, match="parameter_out_of_range"):
        dp.Number(-1.7e308, 1.7e308)
