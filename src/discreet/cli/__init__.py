"""The command ``discreet``. Needs the extra ``cli``; nothing else in the library imports it.

One file for each command. What a command does is done by the curator and the project file.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, or say what to install if Typer or Rich is missing."""
    try:
        from discreet.cli.app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in {"typer", "rich"}:
            raise
        sys.stderr.write(
            f"discreet: the command needs {error.name}. Install it: pip install 'discreet[cli]'\n"
        )
        raise SystemExit(2) from None
    app()
