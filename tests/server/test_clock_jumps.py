"""The state's clock jumps by an hour while the service runs: nothing is lost, or charged twice."""

from collections.abc import Iterator

import pytest
from sqlalchemy import BigInteger, Connection, update

from discreet.server.state.clock import HOUR
from discreet.server.state.schema import METADATA
from tests.server.running_service import ApiUser, RunningService, running

pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture(scope="module")
def jumping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running(tmp_path_factory.mktemp("jumping")) as made:
        yield made


def jump(service: RunningService, by: int) -> None:
    """Let the clock jump: every moment that was noted is that much further back."""

    def shifted(connection: Connection) -> None:
        for table in METADATA.sorted_tables:
            moments = [each for each in table.columns if isinstance(each.type, BigInteger)]
            if moments and table.name not in ("counters", "versions"):
                values = {each.name: each - by for each in moments}
                connection.execute(update(table).values(**values))

    service.service.runtime.state.write_now(shifted)


def spent(user: ApiUser) -> float:
    (account,) = user.get("account").json()["accounts"]
    return float(account["spent"]["epsilon"])


def test_forward(jumping: RunningService) -> None:
    ann = jumping.analyst()
    first = ann.ask(epsilon=0.1).json()
    jump(jumping, HOUR)
    assert ann.ask(epsilon=0.1).json()["result"] == first["result"], "free, and the same"
    assert ann.ask(epsilon=0.2).status_code == 200
    assert spent(ann) == pytest.approx(0.3)
    assert len(ann.get("releases").json()["items"]) == 2


def test_backward_answers_wait_until_the_clock_is_there_again(jumping: RunningService) -> None:
    ann = jumping.analyst()
    first = ann.ask(epsilon=0.1).json()
    jump(jumping, -HOUR)
    try:
        body = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.2}
        waits = ann.post("questions", body, params={"wait": 0})
        assert waits.json()["phase"] == "accepted", "what came before has not left by this clock"
        assert ann.get("releases").json()["items"] == []
    finally:
        jump(jumping, HOUR)
    assert ann.finished(waits)["phase"] in ("finished", "failed"), "its turn may be over by then"
    assert ann.ask(epsilon=0.2).status_code == 200
    assert ann.ask(epsilon=0.1).json()["result"] == first["result"]
    assert spent(ann) == pytest.approx(0.3)
    assert len(ann.get("releases").json()["items"]) == 2
