"""A disk that is really full, under the state or the ledger: refusals, and nothing is lost."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from discreet.core.guarantee import PureDP
from tests.server.running_service import PROJECT, RECORD, SERVICE, RunningService, hospital

pytestmark = pytest.mark.xdist_group("server")

MEGABYTES = 4
PRICE = 0.01
CODES = {"state_unavailable", "ledger_unwritable", "ledger_unreadable"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Take every byte that is left."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            with suppress(OSError):
                while file.write(b"x" * size) == size:
                    pass
    return filler


def counted(number: int) -> str:
    return f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}"


@pytest.mark.parametrize("full", [pytest.param("state", marks=pytest.mark.slow), "ledger"])
def test_a_full_disk_refuses_and_when_there_is_room_again_all_goes_on(
    full: str, small_disk: Path, tmp_path: Path
) -> None:
    place = hospital(tmp_path)
    project, service = PROJECT, SERVICE
    if full == "ledger":
        project = project.replace('"visits.ledger"', '"small/visits.ledger"')
    else:
        service = service.replace("[service]\n", '[service]\nstate = "small/clinic.service"\n')
    place.write_text(project + service + RECORD, encoding="utf-8")
    made = RunningService(place)
    try:
        ann = made.analyst(PureDP(epsilon=9))
        answered = {0: ann.ask(counted(0), PRICE).json()["result"]["rows"]}
        filler = fill(small_disk)
        refusals: list[tuple[int, str]] = []
        number = 0
        while len(refusals) < 3 and number < 400:  # a log that has room is used up first
            number += 1
            reply = ann.ask(counted(number), PRICE)
            if reply.status_code == 200:
                answered[number] = reply.json()["result"]["rows"]
            else:
                refusals.append((reply.status_code, reply.json()["code"]))
        assert len(refusals) == 3, "a full disk was never noticed"
        assert {status for status, _ in refusals} == {503}, refusals
        assert {code for _, code in refusals} <= CODES
        assert ann.http.get("/health").status_code == 200
        not_ready = ann.http.get("/ready")
        assert (not_ready.status_code, not_ready.json()["code"]) in {(503, each) for each in CODES}
        filler.unlink()
        assert ann.http.get("/ready").status_code == 200
        again = {n: ann.ask(counted(n), PRICE) for n in sorted({*answered, number})}
        assert {reply.status_code for reply in again.values()} == {200}
        for each, rows in answered.items():
            assert again[each].json()["result"]["rows"] == rows, "no answer was lost"
        (account,) = ann.get("account").json()["accounts"]
        spent = account["spent"]["epsilon"]
        paid = len(answered) + 1
        assert paid * PRICE - 1e-9 <= spent <= (paid + len(refusals)) * PRICE + 1e-9
        assert made.owner.post("ledger/verification", {}).status_code == 200
    finally:
        made.stop()
