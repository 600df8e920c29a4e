"""The description of the API (OpenAPI): what a refusal looks like, and who may call what.

FastAPI writes the rest from the routes themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from discreet.server.api.authentication import COOKIE

_TEXT = {"type": "string"}
_MAYBE_PLACE = {"type": "integer", "minimum": 0}
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "A refusal (RFC 9457), in words.",
    "type": "object",
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "code": {**_TEXT, "description": "Listed in the documentation; never renamed."},
        "expectation": _TEXT,
        "received": {"type": ["string", "null"]},
        "remedy": _TEXT,
        "start": {**_MAYBE_PLACE, "description": "Where in the SQL the word begins."},
        "end": _MAYBE_PLACE,
        "job": _TEXT,
        "charged": {"type": "boolean", "description": "Whether something was charged."},
    },
    "required": ["type", "title", "status", "detail", "code", "expectation", "remedy"],
}
_REFUSED = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "Refused; the code says why.", "content": _REFUSED},
    "5XX": {"description": "Failed, or away.", "content": _REFUSED},
}
"""What every route may answer beside what it is for."""
_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token: dsc_..."},
    "login": {"type": "apiKey", "in": "cookie", "name": COOKIE},
}


def describe(app: FastAPI, routers: Iterable[tuple[str, APIRouter]]) -> None:
    """Let the description of an app say what a refusal is, and which routes need a token."""
    generated = app.openapi
    guarded = {path for prefix, router in routers for path in _guarded(prefix, router)}

    def openapi() -> dict[str, Any]:
        found = generated()
        parts = found.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = PROBLEM
        parts["securitySchemes"] = _SCHEMES
        for path, methods in found["paths"].items():
            for told in methods.values():
                told["security"] = [{name: []} for name in _SCHEMES] if path in guarded else []
        return found

    app.openapi = openapi  # type: ignore[method-assign]


def _guarded(prefix: str, router: APIRouter) -> Iterable[str]:
    """The paths of routes that name an action: whoever calls must be somebody."""
    for route in router.routes:
        if isinstance(route, APIRoute) and any(
            hasattr(each.call, "action") for each in route.dependant.dependencies
        ):
            yield prefix + route.path
