"""Speakers are killed at any moment; nothing said is lost, nothing hidden is drawn again."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.ledger.session_log import SessionLog
from discreet.queries.online.journal import past
from tests.curator.people import curator

TALKER = Path(__file__).with_name("talker.py")


def talker(place: Path, name: str, transcript: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(TALKER), str(place), name, str(transcript)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def lines(transcript: Path) -> list[str]:
    return transcript.read_text().splitlines() if transcript.exists() else []


@pytest.mark.slow
def test_a_conversation_survives_a_dozen_kills(tmp_path: Path) -> None:
    place, transcript = tmp_path / "people.ledger", tmp_path / "transcript"
    opening = talker(place, "", transcript)
    name = opening.communicate()[0].strip()
    chance = random.Random(20261116)
    seen = 0
    for _ in range(12):
        with talker(place, name, transcript) as speaker:
            # By progress, not by the clock: a slow machine is killed as often in its work.
            while len(lines(transcript)) < seen + 2 and speaker.poll() is None:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.05))
            speaker.kill()
        seen = len(lines(transcript))
    with curator(place) as source:
        source.ledger.verify()
        talk = source.resume(name)
        entries = list(SessionLog(source.ledger, name, 0).entries())
    did = [entry["did"] for entry in entries]
    assert did.count("salt") == did.count("open") == 1
    assert did.count("update") == 6 - talk.updates_left <= 6
    assert 0 <= did.count("threshold") - did.count("update") <= 1
    kept = [repr(answer) for _, answer in past([e for e in entries if e["did"] != "salt"]).updates]
    told = [line.split()[2] for line in lines(transcript) if line.startswith("DATA")]
    # An answer of the data that was seen is kept; at most one for each kill was kept and not seen.
    assert all(answer in kept for answer in told)
    assert len(kept) - len(told) <= 12
    assert seen >= 24
