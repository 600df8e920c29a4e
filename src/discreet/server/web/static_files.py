"""The sheet, the scripts and the picture that pages refer to: these files, and no path."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from discreet.server.web.rendering import FOLDER

router = APIRouter()
_MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """One of them; browsers ask again after a while, so that a new version arrives."""
    found = _files().get(name)
    if found is None:
        raise HTTPException(404)
    media, content = found
    return Response(content, media_type=media, headers={"Cache-Control": "max-age=300"})


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    return {
        path.name: (_MEDIA[path.suffix], path.read_bytes())
        for path in sorted((FOLDER / "static").iterdir())
    }
