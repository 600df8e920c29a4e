"""A program that takes up a conversation and asks until it is killed.

    python talker.py LEDGER ID TRANSCRIPT

A line of the transcript is who answered, the question's place and the answer; it
is written, and flushed, after ``ask`` has returned. With an empty ID it opens a conversation and
prints the id.
"""

import os
import runpy
import sys
from pathlib import Path

PEOPLE = runpy.run_path(str(Path(__file__).with_name("people.py")))
QUESTIONS = [{"ward": ward, "age": age} for ward in PEOPLE["WARDS"] for age in range(10)]


def main(place: str, name: str, transcript: Path) -> None:
    """Ask until the end."""
    source = PEOPLE["curator"](place)
    if not name:
        sys.stdout.write(PEOPLE["conversation"](source, questions=10**6).id)
        return
    talk = source.resume(name)
    notes = os.open(transcript, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        for number, query in enumerate(QUESTIONS):
            reply = talk.ask(query)
            line = f"{reply.origin.name} {number} {reply.share!r}\n"
            os.write(notes, line.encode())
            os.fsync(notes)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
