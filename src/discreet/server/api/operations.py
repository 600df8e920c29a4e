"""Health, readiness and metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from discreet.core.errors import DiscreetError
from discreet.server.api.authentication import MetricsReader, TheService
from discreet.server.operations.disk_room import disk_trouble
from discreet.server.state.migrate import form_of

router = APIRouter(tags=["operations"])


@router.get("/health")
async def health() -> dict[str, Any]:
    """That it runs, and nothing else."""
    return {"status": "ok"}


@router.get("/ready")
async def ready(service: TheService) -> Response:
    """Whether it can answer: the state and the ledger are there, with room to write."""
    trouble = service.ledger_trouble or disk_trouble(service.runtime)
    try:
        await service.runtime.state.read(form_of)
    except DiscreetError as refusal:
        trouble = refusal.code
    if trouble or not service.schema:
        return JSONResponse({"status": "not ready", "code": trouble or "starting"}, 503)
    return JSONResponse({"status": "ready"})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(service: TheService, person: MetricsReader) -> Response:
    """Counters of this front, in Prometheus' text form."""
    text = service.metrics.text(
        workers=service.runtime.pool.size,
        jobs_under_way=len(service.job_runner.working()),
        ledger_reachable=float(not service.ledger_trouble),
    )
    return Response(text, media_type="text/plain; version=0.0.4")
