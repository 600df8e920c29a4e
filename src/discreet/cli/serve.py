"""``discreet serve``: the service of a project file, until it is told to stop."""

from __future__ import annotations

import asyncio
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import display
from discreet.cli.options import ProjectFile
from discreet.core.errors import InvalidParameter

_NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "argon2", "authlib", "httpx", "jinja2")


def serve(
    *,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; elsewhere than here needs TLS.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option("--port", help="On which port; else as the project file says, or 8000."),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="An invented hospital, an owner and two analysts.")
    ] = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    r"""Let analysts in: the service of a project file.

    discreet serve

    discreet serve --demo

    It listens on this machine alone unless told otherwise. Needs pip install 'discreet\[server]'.
    """
    with display.readable_errors(machine=False):
        require_installed()
        from discreet.cli.service_setup import demo_project, introduced, welcomed
        from discreet.server.operations.http_server import require_safe, run
        from discreet.server.operations.logs import to_stream
        from discreet.server.service import Service

        if demo:
            project = demo_project(Path(tempfile.mkdtemp(prefix="discreet-")))
        service = Service(project)
        require_safe(host, service.runtime.settings)

        async def prepared(address: str) -> None:
            await (introduced if demo else welcomed)(service, address)

        if not demo:
            to_stream()
        wanted = service.runtime.settings.port if port is None else port
        asyncio.run(run(service, host=host, port=wanted, prepared=prepared))


def require_installed() -> None:
    """Say what to install where the service's packages are missing."""
    for name in _NEEDED:
        if find_spec(name) is None:
            raise InvalidParameter(
                code="missing_server",
                expectation=f"{name}, which the service is made of",
                remedy="pip install 'discreet[server]'.",
            )
