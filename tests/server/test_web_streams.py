"""Live charts of streams: what was released, for everybody, from a file and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from discreet.server.rights import PersonRole
from discreet.server.web.charts.stream_chart import stream_chart
from discreet.streams.live.published import PublishedTicks
from discreet.streams.live.tick import Tick
from tests.server.running_service import SERVICE, RunningService, running
from tests.server.test_settings import settings
from tests.server.web_user import Stranger, WebUser

pytestmark = pytest.mark.xdist_group("server")
START = datetime(2027, 1, 1, tzinfo=UTC)
STREAMS = '\n[service.streams]\nward = "ward.ticks"\nlater = "later.ticks"\n'


def tick(number: int, **values: float) -> Tick:
    begins = START + timedelta(minutes=number)
    return Tick(number, begins, begins + timedelta(minutes=1), values, 3.0, 0.95)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, RunningService]]:
    folder = tmp_path_factory.mktemp("streams")
    with running(folder, service=SERVICE + STREAMS) as started:
        yield folder, started


def test_charts_follow_the_file(service: tuple[Path, RunningService]) -> None:
    folder, started = service
    person = started.person(PersonRole.AUDITOR, name="streams-auditor")
    user = WebUser(started, person.person.name)
    listed = user.page("/streams")
    assert "/streams/ward" in listed.html
    assert "/streams/later" in listed.html
    if not (folder / "later.ticks").exists():
        assert "No tick is over yet" in user.page("/streams/later").words
    file = PublishedTicks(folder / "ward.ticks")
    file.add("s", [tick(0, **{"<A>": 1.0, "B": 7.0})])
    first = user.page("/streams/ward")
    assert first.faults() == []
    assert "<A>" not in first.html
    assert "Tick 1," in first.words
    file.add("s", [tick(1, **{"<A>": 1234.0, "B": 7.0})])
    assert "1,234" in user.page("/streams/ward").words
    assert user.get("/streams/nothing").status_code == 400


def test_analysts_see_keys_from_their_naming_on_and_numbers_without_an_error(
    service: tuple[Path, RunningService],
) -> None:
    folder, started = service
    person = started.person(PersonRole.ANALYST, name="streams-analyst")
    user = WebUser(started, person.person.name)
    whole = tick(1, A=5.0, late=40.0)
    averages = Tick(2, whole.begins, whole.ends, {"A": 6.0, "late": 41.5}, None, 0.95)
    PublishedTicks(folder / "later.ticks").add("s", [tick(0, A=4.0), whole, averages])
    page = user.page("/streams/later")
    assert page.faults() == []
    assert "late: 41.5" in page.words
    assert "±" not in page.words


def test_strangers_see_none(service: tuple[Path, RunningService]) -> None:
    _, started = service
    reply = Stranger(started).http.get("/streams/ward")
    assert "Tick" not in reply.text


def test_a_chart_says_what_it_shows() -> None:
    made = stream_chart("A", [tick(n, A=float(n)) for n in range(5)])
    assert made.words == "A: 4 ± 3 after 5 ticks."
    assert made.line.count("L") == 4
    assert made.band.endswith("Z")
    late = stream_chart("B", [tick(0, A=1.0), tick(1, A=1.0, B=2.0)])
    assert late.words == "B: 2 ± 3 after 1 ticks."
    assert stream_chart("A", [tick(0, A=0.0)]).line.startswith("M64.0 ")


def test_files_are_named_in_the_project_file(tmp_path: Path) -> None:
    made = settings(tmp_path, "[service]\nquantum = 2\n" + STREAMS)
    assert made.streams == {"ward": tmp_path / "ward.ticks", "later": tmp_path / "later.ticks"}
    assert settings(tmp_path, "[service]\nquantum = 2\n").streams == {}
