"""Hostile questions: refused by name, for nothing, and nobody's process dies of them."""

from pathlib import Path

import pytest

from discreet.core.guarantee import PureDP
from tests.server.hostile_sql import hostile
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")

HOSTILE = [
    "COPY visits TO '/tmp/out.csv'",
    "COPY (SELECT * FROM visits) TO PROGRAM 'sh'",
    "ATTACH '/etc/passwd' AS secrets",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "PRAGMA database_list",
    "CREATE TABLE copy AS SELECT * FROM visits",
    "DROP TABLE visits",
    "UPDATE visits SET age = 0",
    "DELETE FROM visits",
    "INSERT INTO visits VALUES (1, 'x', 1)",
    "SELECT * FROM visits",
    "SELECT patient, age FROM visits",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) AS n FROM '/etc/passwd'",
    "SELECT COUNT(*) AS n FROM read_parquet('visits.parquet')",
    "SELECT COUNT(*) AS n FROM duckdb_settings()",
    "SELECT COUNT(*) AS n FROM sqlite_master",
    "SELECT COUNT(*) AS n FROM information_schema.tables",
    "SELECT COUNT(*) AS n FROM visits; SELECT 1",
    "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT MAX(age) FROM visits)",
    "SELECT getenv('HOME') AS h, COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE pg_sleep(10) IS NULL",
    "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = 1 --",
    "SELECT COUNT(*) AS n FROM visits /* unfinished",
    "'; DROP TABLE jobs; --",
    "\x00",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "SELECT COUNT(*) AS n FROM visits WHERE " + " OR ".join(["age > 1"] * 20_000),
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(*) AS n FROM visits a, visits b, visits c, visits d",
    "SELECT repeat('x', 1000000000) AS x, COUNT(*) AS n FROM visits",
    "CALL pragma_version()",
    "EXPORT DATABASE '/tmp/x'",
    "BEGIN",
    "SELECT COUNT(*) AS n FROM other.visits",
    "SELECT ☃ FROM visits",
]


@pytest.fixture(scope="module")
def eve(running_service: RunningService) -> ApiUser:
    made = running_service.analyst(PureDP(epsilon=5))
    assert made.ask().status_code == 200
    return made


def test_hostile_questions_are_refused_for_nothing_and_the_worker_lives(eve: ApiUser) -> None:
    (worker,) = eve.running_service.service.runtime.pool._workers[eve.person.id]
    answered = []
    for sql in HOSTILE:
        reply = eve.ask(sql, 0.01)
        if reply.status_code == 200:  # what is harmless may be answered, privately and paid for
            answered.append(sql)
            continue
        assert reply.status_code in (400, 422), (sql[:80], reply.text)
        assert reply.json()["code"] not in ("service_failed", "engine_failed", "worker_lost"), sql[
            :80
        ]
    assert set(answered) <= {
        "SELECT COUNT(*) AS n FROM visits WHERE 1 = 1 --",
        "SELECT COUNT(*) AS n FROM visits a, visits b, visits c, visits d",
    }
    (account,) = eve.get("account").json()["accounts"]
    assert account["spent"]["epsilon"] == pytest.approx(0.1 + 0.01 * len(answered))
    assert eve.running_service.service.runtime.pool._workers[eve.person.id] == [worker]


@pytest.mark.slow
def test_no_question_of_five_hundred_escapes_or_fails_the_server(
    running_service: RunningService, tmp_path: Path
) -> None:
    """Whatever is answered is a number with noise, paid for; nothing is read, written or lost."""
    mallory = running_service.analyst(PureDP(epsilon=5))
    marker = "the words of a secret file"
    (tmp_path / "secret.csv").write_text(f"a\n{marker}\n", encoding="utf-8")
    out = tmp_path / "out"
    asked = list(hostile(str(tmp_path / "secret.csv"), str(out)))
    assert len(set(asked)) >= 500
    answered = 0
    for sql in asked:
        reply = mallory.ask(sql, 0.005)
        assert reply.status_code < 500, (sql[:200], reply.text[:500])
        assert reply.status_code in (200, 400, 409, 422), (sql[:200], reply.text[:500])
        assert marker not in reply.text
        if reply.status_code == 200:
            answered += 1
            release = reply.json()["result"]["release"]
            assert release["statement"]["private"] is True, sql[:200]
        else:
            assert "charged" not in reply.json() or reply.json()["charged"] is False, sql[:200]
    assert not out.exists()
    (account,) = mallory.get("account").json()["accounts"]
    assert account["spent"]["epsilon"] <= 0.005 * answered + 1e-9
    assert mallory.ask(epsilon=1).status_code == 200, "and the tables are whole"


@pytest.mark.parametrize(
    "body",
    [
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": -1},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": True},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "1"},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1e308},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1e-300},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1, "delta": 2},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1, "confidence": 1},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1, "confidence": 0},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "accuracy": {"n": {"within": "x"}}},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "accuracy": {"m": {"within": 5}}},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "accuracy": {"n": {"within": 1e-9}}},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1, "left_out": {"share": 2}},
        {"sql": "", "epsilon": 0.1},
        {"kind": "batch", "queries": {}, "epsilon": 0.1},
        {"kind": "synopsis", "universe": {}, "epsilon": 0.1},
        {"kind": "synopsis", "universe": {"table": "nope", "columns": ["x"]}, "epsilon": 0.1},
        {
            "kind": "synopsis",
            "universe": {"table": "visits", "columns": ["ward"]},
            "epsilon": 0.1,
            "mechanism": "mwem",
        },
        {"kind": "bounds", "table": 'visits" --', "column": "age", "epsilon": 0.1},
        {
            "kind": "conversation",
            "universe": {"table": "visits", "columns": ["ward"]},
            "epsilon": 0.1,
        },
    ],
)
def test_hostile_parameters_are_refused_for_nothing(eve: ApiUser, body: dict[str, object]) -> None:
    before = eve.get("account").json()["accounts"][0]["spent"]
    reply = eve.post("questions", body)
    assert reply.status_code in (400, 409, 422), reply.text
    assert eve.get("account").json()["accounts"][0]["spent"] == before


def test_the_description_of_the_api_names_every_kind(running_service: RunningService) -> None:
    import httpx

    described = httpx.get(f"{running_service.address}/openapi.json", timeout=60).json()
    names = set(described["components"]["schemas"])
    assert {"SqlRequest", "BatchRequest", "SynopsisRequest", "BoundsRequest"} <= names
    assert "/api/v1/questions" in described["paths"]
