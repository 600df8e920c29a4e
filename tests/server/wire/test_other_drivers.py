"""asyncpg, which speaks the protocol in bytes and by itself, and JDBC: both ways of coming in."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.server.settings import WireEntry, WireSettings
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.opened_wire import PRICED, OpenedWire, opened_wire, spent

asyncpg = pytest.importorskip("asyncpg", reason="asyncpg is not installed")
pytestmark = pytest.mark.xdist_group("server")

BY_WARD = (
    f"{PRICED} ward, COUNT(*) AS n, AVG(age) AS mean FROM visits "
    "WHERE age > $1::float8 GROUP BY ward"
)
DRIVER = Path("/usr/share/java/postgresql.jar")
PROGRAM = Path(__file__).with_name("AskByJdbc.java")


@pytest.fixture(scope="module", params=list(WireEntry))
def door(request: pytest.FixtureRequest, running_service: RunningService) -> Iterator[OpenedWire]:
    with opened_wire(running_service, WireSettings(port=0, entry=request.param)) as made:
        yield made


async def connected(door: OpenedWire, user: ApiUser) -> Any:
    return await asyncpg.connect(
        host="127.0.0.1",
        port=door.port,
        user=user.person.name,
        password=user.token,
        database="discreet",
        ssl=False,
    )


def test_asyncpg_asks_with_parameters_and_is_charged_once(
    door: OpenedWire, running_service: RunningService
) -> None:
    user = running_service.analyst()

    async def asked() -> list[Any]:
        connection = await connected(door, user)
        try:
            prepared = await connection.prepare(BY_WARD)
            names = [each.name for each in prepared.get_attributes()]
            assert names[:3] == ["ward", "n", "n_lower"]
            assert spent(user) == 0, "preparing is free"
            first = await connection.fetch(BY_WARD, 30.0)
            second = await prepared.fetch(30.0)
            async with connection.transaction():
                third = [row async for row in connection.cursor(BY_WARD, 30.0)]
            assert first == second == third, "the same question, so the same release"
            assert isinstance(first[0]["n"], int)
            assert isinstance(first[0]["mean"], float)
            assert await connection.fetchval("SELECT 1") == 1
            return list(first)
        finally:
            await connection.close()

    assert len(asyncio.run(asked())) == 3
    assert spent(user) == pytest.approx(0.5)


def test_asyncpg_is_told_what_is_wrong_and_goes_on(door: OpenedWire, ann: ApiUser) -> None:
    async def asked() -> None:
        connection = await connected(door, ann)
        try:
            with pytest.raises(asyncpg.PostgresError, match="beds"):
                await connection.fetch(f"{PRICED} COUNT(*) AS n FROM beds")
            with pytest.raises(asyncpg.PostgresError):
                await connection.fetch("SELECT age FROM visits")
            assert await connection.fetchval("SELECT current_user") == ann.person.name
        finally:
            await connection.close()

    asyncio.run(asked())


def test_asyncpg_with_a_wrong_token_is_not_let_in(door: OpenedWire, ann: ApiUser) -> None:
    async def asked() -> None:
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(
                host="127.0.0.1",
                port=door.port,
                user=ann.person.name,
                password=f"dsc_{'0' * 64}",
                ssl=False,
            )

    asyncio.run(asked())


@pytest.mark.slow
@pytest.mark.skipif(
    not DRIVER.exists() or shutil.which("java") is None,
    reason="needs Java and Debian's libpostgresql-jdbc-java",
)
def test_jdbc_asks_prepares_and_reads_the_schema(
    door: OpenedWire, running_service: RunningService
) -> None:
    user = running_service.analyst()
    told = subprocess.run(
        ["java", "-cp", str(DRIVER), str(PROGRAM), str(door.port), user.person.name, user.token],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    said = json.loads(told.stdout)
    assert said["tables"] == ["visits", "wards"]
    assert "age" in said["columns"]
    assert said["labels"][:4] == ["ward", "n", "n_lower", "n_upper"]
    assert len(said["rows"]) == 3
    assert said["rows"] == said["again"], "the same question, so the same release"
    assert said["refused"]
    assert spent(user) == pytest.approx(0.5)
