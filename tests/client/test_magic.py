"""``%%discreet`` in a real shell of IPython: asks, keeps, previews, and refuses in one line."""

from __future__ import annotations

import atexit
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import discreet as dp
from discreet.client.magic import MagicOptions
from discreet.core.errors import InvalidParameter
from discreet.release import Release
from tests.client.programs import BY_WARD, COUNT, at_service
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("IPython", reason="needs IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    folder: Path = tmp_path_factory.mktemp("ipython")
    notebook = ModuleType("notebook")  # not __main__, which processes of the service look at
    make: Any = InteractiveShell
    made = make(config=config, ipython_dir=str(folder), user_module=notebook)
    atexit.unregister(made.atexit_operations)
    made.run_line_magic("load_ext", "discreet")
    yield made
    del sys.modules["notebook"]


@pytest.fixture(scope="module")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(dp.PureDP(epsilon=100))


@pytest.fixture
def space(shell: Any, ann: ApiUser) -> dict[str, Any]:
    found: dict[str, Any] = shell.user_ns
    found["curator"] = at_service(ann)
    return found


def run(shell: Any, cell: str) -> Any:
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_a_cell_is_asked_shown_and_kept(shell: Any, space: dict[str, Any]) -> None:
    shown = run(shell, f"%%discreet --epsilon 0.5 --into wards\n{BY_WARD}")
    assert isinstance(shown, Release)
    assert space["wards"] is shown
    assert shown.guarantee.epsilon == 0.5
    assert "<table" in shown._repr_html_()


def test_a_line_is_asked_with_quotes_as_they_are(shell: Any, space: dict[str, Any]) -> None:
    asked = "SELECT COUNT(*) AS n FROM visits WHERE ward = 'medicine'"
    before = run(shell, "%discreet")
    assert run(shell, f"%discreet --epsilon=0.25 {asked}").query == asked
    assert float(before.epsilon) - float(run(shell, "%discreet").epsilon) == pytest.approx(0.25)


def test_a_preview_is_free_and_purposes_and_curators_are_named(
    shell: Any, space: dict[str, Any]
) -> None:
    before = space["curator"].remaining
    ahead = run(shell, f"%%discreet --preview --epsilon 0.5\n{COUNT}")
    assert ahead["n"].half_width > 0
    space["mine"] = space.pop("curator")
    told = run(shell, f'%%discreet --epsilon 0.5 --on mine --purpose "planning"\n{COUNT}')
    assert len(told) == 1
    assert float(before.epsilon) - float(space["mine"].remaining.epsilon) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        (f"%%discreet\n{COUNT}", "spend_or_accuracy"),
        (f"%%discreet --epsilon lots\n{COUNT}", "magic_misread"),
        (f"%%discreet --epsilon 1 --rho 1\n{COUNT}", "magic_misread"),
        (f"%%discreet --epsilon 1 --into 2x\n{COUNT}", "magic_misread"),
        (f"%%discreet --epsilon 1 --loudly\n{COUNT}", "magic_misread"),
        (f"%%discreet --epsilon 1 words\n{COUNT}", "magic_misread"),
        (f"%%discreet --epsilon 1 --on nobody\n{COUNT}", "magic_without_curator"),
        ("%%discreet --epsilon 1\nSELECT nope FROM visits", "unknown_column"),
    ],
)
def test_a_refusal_is_one_line_with_its_code(
    shell: Any, space: dict[str, Any], cell: str, code: str
) -> None:
    from IPython.core.error import UsageError

    before = space["curator"].remaining
    with pytest.raises(UsageError, match=rf"\[{code}\]"):
        run(shell, cell)
    assert space["curator"].remaining == before


def test_without_a_price_it_says_what_to_write_here(shell: Any, space: dict[str, Any]) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match=r"%discreet --epsilon 0\.5"):
        run(shell, f"%discreet {COUNT}")


def test_prices_are_read() -> None:
    assert MagicOptions.parse("--rho 0.1").spend == dp.ZCDP(rho=0.1)
    both = MagicOptions.parse("--epsilon 1 --delta 1e-6 ")
    assert both.spend == dp.ApproxDP(epsilon=1.0, delta=1e-6)
    assert MagicOptions.parse("").spend is None
    with pytest.raises(InvalidParameter):
        _ = MagicOptions.parse("--delta 1e-6").spend


def test_ipython_is_loaded_by_nobody_else() -> None:
    load = "import sys, discreet, discreet.client, discreet.client.magic"
    code = f"{load}; print('IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
