"""Asking and waiting: a question becomes a job, whose answer comes at once or later.

A key goes with every question that may be paid for, so that sending it again is the same job.
"""

from __future__ import annotations

import http.client
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from discreet.client.progress import Progress
from discreet.client.refusals import cancelled, refused, still_waiting
from discreet.client.transport import ServiceReply, Transport

_OVER = ("finished", "failed", "cancelled")
_NAP = 0.25
_MOST_WAIT = 20.0
"""Seconds for which a request waits for its answer; afterwards the job is watched."""


class Asking:
    """Asks through a transport and waits as long as one's ``patience``, in seconds."""

    def __init__(
        self, transport: Transport, *, patience: float, progress: Callable[[], Progress]
    ) -> None:
        """Ask nothing yet."""
        self.transport = transport
        self._patience = patience
        self._progress = progress

    def ask_paid_question(self, path: str, body: object) -> dict[str, Any]:
        """The finished job of something that is paid for, once."""
        wait = min(_MOST_WAIT, self.transport.timeout / 2, self._patience)
        return self._done(
            lambda: self.transport.post(path, body, key=uuid.uuid4().hex, wait=f"{wait:g}")
        )

    def keyed(self, path: str, body: object) -> dict[str, Any]:
        """The finished job of something that must not be done twice."""
        return self._done(lambda: self.transport.post(path, body, key=uuid.uuid4().hex))

    def free(self, path: str, body: object) -> dict[str, Any]:
        """The finished job of something that costs nothing."""
        return self._done(lambda: self.transport.post(path, body))

    def ended(self, path: str) -> dict[str, Any]:
        """The finished job of ending something."""
        return self._done(lambda: self.transport.delete(path))

    def job(self, job: str) -> dict[str, Any]:
        """The finished job of this id, waited for."""
        return self._done(lambda: self.transport.get(f"jobs/{job}"))

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Every item of a list of the service."""
        after: str | None = None
        while True:
            page = self.transport.get(path, after=after, count=100).json()
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def _done(self, send: Callable[[], ServiceReply]) -> dict[str, Any]:
        deadline = time.monotonic() + self._patience
        with self._progress() as line:
            view: dict[str, Any] = send().json()
            while view["phase"] not in _OVER:
                line.show(view["phase"])
                if time.monotonic() >= deadline:
                    raise still_waiting(view["job"], self._patience, _words(view["phase"]))
                self._watch(view["job"], line, deadline)
                view = self.transport.get(f"jobs/{view['job']}").json()
        if view["error"] is not None:
            raise refused(view["error"])
        if view["phase"] == "cancelled":
            raise cancelled(view["job"])
        return view

    def _watch(self, job: str, line: Progress, deadline: float) -> None:
        """Show phases until it is over, the connection breaks, or patience ends."""
        try:
            seconds = max(_NAP, deadline - time.monotonic())
            for phase in self.transport.events(f"jobs/{job}/events", seconds=seconds):
                line.show(phase)
                if phase in _OVER or time.monotonic() >= deadline:
                    return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(max(0.0, min(_NAP, deadline - time.monotonic())))


def _words(phase: str) -> str:
    return phase.replace("_", " ")
