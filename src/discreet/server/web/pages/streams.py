"""Streams that the owner shows: live charts of what was released, for everybody here.

A page reads the file of released ticks and nothing else; it touches no data, no worker and no
budget, so nothing has to be held back until a quantum.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import InvalidParameter
from discreet.server.web.charts.stream_chart import stream_chart
from discreet.server.web.page_context import PageRoute, ReadPublishedPage
from discreet.streams.live.published import PublishedTicks

router = APIRouter(route_class=PageRoute)
_TICKS = 240
_CHARTS = 12


@router.get("/streams")
async def streams(page: ReadPublishedPage) -> Response:
    """Those that the project file names."""
    return page.render("streams.html", names=sorted(page.service.runtime.settings.streams))


@router.get("/streams/{name}")
async def stream(page: ReadPublishedPage, name: str) -> Response:
    """The latest ticks of one, as charts that move."""
    path = page.service.runtime.settings.streams.get(name)
    if path is None:
        raise InvalidParameter(
            code="stream_unknown",
            expectation="a stream that the owner shows",
            received=name[:64],
            remedy="Choose one of the list.",
        )
    found: dict[str, Any] = {"name": name, "charts": [], "latest": None, "hidden": 0}
    try:
        ticks = await asyncio.to_thread(PublishedTicks(path).latest, _TICKS)
    except OSError:
        ticks = []  # not begun yet
    if ticks:
        keys = list(ticks[-1])
        found["charts"] = [stream_chart(key, ticks) for key in keys[:_CHARTS]]
        found["latest"] = ticks[-1]
        found["hidden"] = max(0, len(keys) - _CHARTS)
    return page.render("stream.html", **found)
