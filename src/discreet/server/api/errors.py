"""Refusals on the wire: problem+json (RFC 9457) with the library's code, expectation and remedy."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from discreet.core.errors import (
    DiscreetError,
    EngineFailed,
    Exhausted,
    InvalidParameter,
    LedgerError,
)
from discreet.server.refusals import described, failed
from discreet.server.rights import Forbidden
from discreet.server.state.counters import TooMany

LOG = logging.getLogger("discreet.server")

_STATUS = {
    "not_let_in": 401,
    "too_many_requests": 429,
    "overruns_used_up": 429,
    "job_unknown": 404,
    "page_unknown": 404,
    "person_unknown": 404,
    "token_unknown": 404,
    "approval_unknown": 404,
    "release_unknown": 404,
    "conversation_unknown": 404,
    "publication_unknown": 404,
    "round_not_found": 404,
    "too_many_waiting": 429,
    "still_working": 409,
    "round_busy": 409,
    "issuer_unavailable": 502,
    "person_exists": 409,
    "idempotency_mismatch": 409,
    "record_incomplete": 409,
    "budget_exhausted": 409,
    "state_unavailable": 503,
    "engine_failed": 500,
    "service_failed": 500,
    "worker_lost": 500,
    "work_too_long": 500,
}
_WORDS = {
    400: "Refused",
    401: "Not let in",
    403: "Not allowed",
    404: "Not found",
    405: "Not so",
    408: "Too slow",
    409: "Not now",
    413: "Too large",
    415: "Not JSON",
    422: "Not understood",
    429: "Too often",
    500: "Failed",
    502: "Away",
    503: "Away",
}


def status_of(error: DiscreetError) -> int:
    """The status of an error."""
    if error.code in _STATUS:
        return _STATUS[error.code]
    if isinstance(error, Forbidden):
        return 403
    if isinstance(error, LedgerError):
        return 503
    if isinstance(error, EngineFailed):
        return 500
    return 409 if isinstance(error, Exhausted) else 400


def status_of_plain(plain: Mapping[str, Any]) -> int:
    """The status of an error that a job ended with."""
    code = str(plain["code"])
    return _STATUS.get(code, 503 if code.startswith("ledger_") else 400)


def problem(
    status: int, plain: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """A response that says what was refused."""
    body = {
        "type": f"urn:discreet:error:{plain['code']}",
        "title": _WORDS.get(status, "Refused"),
        "status": status,
        "detail": f"Expected {plain['expectation']}. {plain['remedy']}",
        **plain,
    }
    return Response(
        json.dumps(body), status, headers=headers, media_type="application/problem+json"
    )


def refused(error: DiscreetError) -> Response:
    """A response for an error of the library or the service."""
    headers = {}
    status = status_of(error)
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(error.retry_after)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return problem(status, described(error), headers)


def misread_body(expectation: str, status: int = 400) -> Response:
    """A response for a body that cannot be read, whatever it says."""
    misread = InvalidParameter(
        code="request_misread", expectation=expectation, remedy="Correct the request."
    )
    return problem(status, described(misread))


def install(app: FastAPI) -> None:
    """Let every refusal of an app be a problem."""

    @app.exception_handler(DiscreetError)
    async def _(request: Request, error: DiscreetError) -> Response:
        return refused(error)

    @app.exception_handler(RequestValidationError)
    async def _(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        misread = InvalidParameter(
            code="request_misread",
            expectation=f"a request that fits the description at /openapi.json: {first['msg']}",
            received=place[:200],
            remedy="Correct that field.",
        )
        return problem(422, described(misread))

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # the framework's word for a body, or its JSON too deep
            return misread_body("a body of JSON, not nested deeper than any request here needs")
        nowhere = InvalidParameter(
            code="page_unknown",
            expectation="an address and a method that this service knows, with JSON where it asks",
            received=request.method,
            remedy="GET /openapi.json describes them.",
        )
        return problem(error.status_code, described(nowhere), error.headers)

    @app.exception_handler(Exception)
    async def _(request: Request, error: Exception) -> Response:
        LOG.error("mistake of the software", exc_info=error)
        return refused(failed())
