"""A worker: the process that opens the tables and answers one order after the other.

It ends when its front is gone, when it is told to, and when it is interrupted. It belongs to one
analyst, or to the owner; what it knows of the tables it never says, but in releases.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from discreet.accounting.adaptive.exhausted import ANOTHER_GRANT, LESS
from discreet.core.errors import DiscreetError, EngineFailed, LedgerError
from discreet.curator.curator import OWNER, Curator
from discreet.curator.project.locations import DatabaseServer, Embedded
from discreet.curator.project.owner_log import owner_log
from discreet.curator.project.project import Project
from discreet.curator.session import Session
from discreet.release.guarantee import guarantee_from_dict
from discreet.server.jobs.json_values import json_text
from discreet.server.jobs.kind import TOUCHED, JobKind, JobProduct, NeedsApproval, Task
from discreet.server.jobs.registry import kind_named
from discreet.server.refusals import described, failed, lost
from discreet.server.spends import spend_to_dict
from discreet.server.workers.messages import WorkOrder, reservation_id, send
from discreet.server.workers.own_time import OwnTime
from discreet.server.workers.owner_tasks import OWNER_TASKS
from discreet.server.workers.owner_tasks.task import OwnerTaskCall

_NICENESS = 5
"""Workers give way to the front, so that it answers alike whether they are busy or not."""


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to know.

    Attributes:
        text: The project file as it was when the front began: whatever is written into it since
            holds from the next start on, for everybody.
        folder: Where it lies.
        threads: How many threads its engine has.
        megabytes: How much memory its engine has; None: as the engine would have it.
        tells_tables: Whether it says which tables a question reads, since their quanta differ.
        environment: The variables that the project file names, as they were when the front began.
    """

    text: str
    folder: Path
    threads: int = 1
    megabytes: int | None = None
    tells_tables: bool = False
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def work(pipe: Connection[Any, Any], settings: WorkerSettings) -> None:
    """Answer orders until the pipe ends: what the process runs."""
    with suppress(OSError):
        os.setpgid(0, 0)  # what is typed at the front's terminal is not for us
    with suppress(OSError, AttributeError):
        os.nice(_NICENESS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(settings.environment)
    project = Project.parse(settings.text, settings.folder)
    with (
        suppress(EOFError, OSError, KeyboardInterrupt),
        owner_log(project.owner_log),
        OrderHandler(project, settings, pipe) as place,
    ):
        while True:
            order = pipe.recv_bytes()
            own = OwnTime()
            reply = place.reply(WorkOrder.from_bytes(order))
            send(pipe, {**reply, "took": own.seconds()})


class _UnfinishedError(Exception):
    """Another reservation for the same question is open."""

    def __init__(self, reservation: str) -> None:
        super().__init__()
        self.reservation = reservation


class OrderHandler:
    """The curator of a project, opened when it is first needed, and the grants below it."""

    def __init__(
        self, project: Project, settings: WorkerSettings, pipe: Connection[Any, Any]
    ) -> None:
        """Open nothing yet."""
        self._project = replace(project, engine=_shared(project.engine, settings))
        self._settings = settings
        self._pipe = pipe
        self._curator: Curator | None = None
        self._sessions: dict[str, Session] = {}
        self._kept: dict[str, Any] = {}
        self._order = WorkOrder("", {})
        self._reserved = 0

    def reply(self, order: WorkOrder) -> dict[str, Any]:
        """Do what is ordered; once more on new tables where the old ones were replaced."""
        reply = self._tried(order)
        if reply.get("refused", {}).get("code") == "data_changed" and not self._reserved:
            self.close()
            reply = self._tried(order)
        return reply

    def _tried(self, order: WorkOrder) -> dict[str, Any]:
        self._order, self._reserved = order, 0
        self._kept.pop(TOUCHED, None)
        try:
            if order.kind in OWNER_TASKS:
                call = OwnerTaskCall(self._opened(), self._project, order)
                return {"done": OWNER_TASKS[order.kind](call)}
            return self._job(order, kind_named(order.kind))
        except NeedsApproval as stop:
            return {"needs_approval": spend_to_dict(stop.price)}
        except _UnfinishedError as stop:
            return {"unfinished": stop.reservation}
        except DiscreetError as refusal:
            return {"refused": self._described(refusal, order), "touched": self._touched(refusal)}
        except ValidationError:
            OWNER.exception("an order of the front does not fit its model")
        except Exception:
            OWNER.exception("a worker met a mistake of the software")
        return {"refused": described(failed()), "touched": True, "broken": True}

    def _job(self, order: WorkOrder, kind: JobKind[Any]) -> dict[str, Any]:
        request = kind.request.model_validate(order.request)
        task = Task(
            session=self._session(order),
            curator=self._opened(),
            analyst=order.analyst,
            purpose=order.purpose or None,
            approval=None if order.approved else order.approval,
            kept=self._kept,
        )
        if self._settings.tells_tables and kind.reads_data:
            send(self._pipe, {"tables": sorted(kind.tables(task, request))})
        return {"done": _plain(kind.run(task, request))}

    def _session(self, order: WorkOrder) -> Session:
        """What pays: the grant's own curator, as it was set aside; else the whole, to look."""
        if not order.account:
            return self._opened()
        if order.account not in self._sessions:
            budget = guarantee_from_dict(order.budget)
            self._sessions[order.account] = self._opened().child(order.account, budget=budget)
        return self._sessions[order.account]

    def _opened(self) -> Curator:
        if self._curator is None:
            curator = self._project.curator()
            curator.context = replace(
                curator.context,
                on_reserved=self._on_reserved,
                reservation_id=self._reservation_id,
                on_unfinished=self._on_unfinished,
            )
            self._curator = curator
        return self._curator

    def _reservation_id(self) -> str | None:
        job = self._order.job
        return reservation_id(job, self._reserved) if job else None

    def _on_unfinished(self, unfinished: list[str]) -> None:
        """Leave it to the front to wait for what it has not given up."""
        for each in unfinished:
            if self._order.job and each not in self._order.lost:
                raise _UnfinishedError(each)

    def _on_reserved(self, reservation: str) -> None:
        self._reserved += 1
        send(self._pipe, {"reserved": reservation})

    def _touched(self, refusal: DiscreetError) -> bool:
        """Whether private rows may have had a part in a refusal."""
        late = isinstance(refusal, EngineFailed | LedgerError)
        return (
            late
            or self._was_charged_before(refusal)
            or self._reserved > 0
            or bool(self._kept.get(TOUCHED))
        )

    def _was_charged_before(self, refusal: DiscreetError) -> bool:
        """Whether the ledger has this job's next reservation: it was charged, and then lost."""
        return refusal.code == "reservation_closed" and refusal.received == self._reservation_id()

    def _described(self, refusal: DiscreetError, order: WorkOrder) -> dict[str, Any]:
        if self._was_charged_before(refusal):
            return described(lost())
        told = described(refusal, str(order.request.get("sql", "")))
        if refusal.code == "budget_exhausted" and order.account and told["remedy"] == LESS:
            told["remedy"] = ANOTHER_GRANT
        return told

    def close(self) -> None:
        """Let go of the tables and the ledger."""
        self._sessions.clear()
        self._kept.clear()
        if self._curator is not None:
            self._curator.close()
            self._curator = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()


def _shared(
    engine: Embedded | DatabaseServer, settings: WorkerSettings
) -> Embedded | DatabaseServer:
    """The engine with this worker's share of the machine, where the project says nothing else."""
    if not isinstance(engine, Embedded):
        return engine
    memory = None if settings.megabytes is None else f"{settings.megabytes}MB"
    return replace(
        engine,
        threads=engine.threads or settings.threads,
        memory_limit=engine.memory_limit or memory,
    )


def _plain(product: JobProduct) -> dict[str, Any]:
    """A product as it travels; its result is text, which the front hands on as it is."""
    return {
        "result": json_text(product.result),
        "question": product.question,
        "release": product.release,
        "opened": product.opened,
    }


logging.getLogger("discreet").addHandler(logging.NullHandler())
