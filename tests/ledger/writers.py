"""Real processes that write to one ledger, and what they must have left in it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.ledger import EntryKind, Ledger

PROGRAM = Path(__file__).with_name("writer.py")


class Writers:
    """Processes running `writer.py`, each with a transcript of its own."""

    def __init__(self, folder: Path, pace: str, place: str | None = None) -> None:
        self.place = folder / "visits.ledger"
        self._ledger = str(self.place) if place is None else place
        self._folder, self._pace = folder, pace
        self._start = folder / "start"
        self.running: dict[subprocess.Popen[bytes], Path] = {}
        self.transcripts: list[Path] = []

    def launch(self) -> None:
        transcript = self._folder / f"transcript-{len(self.transcripts)}"
        self.transcripts.append(transcript)
        process = subprocess.Popen(
            [
                *(sys.executable, str(PROGRAM), self._ledger, str(self._start)),
                *(str(transcript), self._pace),
            ],
            stderr=subprocess.PIPE,
        )
        self.running[process] = transcript

    def start(self) -> None:
        self._start.touch()

    def busy(self) -> list[subprocess.Popen[bytes]]:
        """Those that have released something."""
        return [
            process
            for process, transcript in self.running.items()
            if transcript.exists() and transcript.stat().st_size
        ]

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        assert process.poll() is None, process.stderr and process.stderr.read()
        process.kill()
        self._reap(process)

    def finish(self) -> None:
        """Wait until all have ended by themselves."""
        for process in list(self.running):
            assert process.wait(120) == 0, process.stderr and process.stderr.read()
            self._reap(process)

    def _reap(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        del self.running[process]
        if process.stderr is not None:
            process.stderr.close()

    def released(self) -> set[tuple[str, str]]:
        """Every release that somebody may have seen; a line cut short by a kill is not one."""
        lines = [
            line.split()
            for path in self.transcripts
            if path.exists()
            for line in path.read_text().splitlines(keepends=True)
            if line.endswith("\n")
        ]
        return {(name, value) for name, value in lines}


@contextmanager
def writers(folder: Path, number: int, pace: str, place: str | None = None) -> Iterator[Writers]:
    """Some writers, ready to start; whatever still runs at the end is killed."""
    crowd = Writers(folder, pace, place)
    try:
        for _ in range(number):
            crowd.launch()
        yield crowd
    finally:
        for process in list(crowd.running):
            process.kill()
            crowd._reap(process)


def committed(ledger: Ledger) -> set[tuple[str, str]]:
    """Reservation and value of every release in the ledger."""
    return {
        (entry.subject, entry.body["value"])
        for entry in ledger.entries()
        if entry.kind is EntryKind.COMMITTED
    }
