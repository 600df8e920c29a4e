"""A package imports only packages before it, and only `noise` draws randomness."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "discreet"
LAYERS = (
    *("core", "calculus", "accounting", "noise", "mechanisms", "release", "postgres", "ledger"),
    *("streams", "queries", "synthetic", "local", "learn", "deep", "federated", "markets"),
    *("fairness", "relational", "curator", "theory", "audit", "applications", "client", "server"),
    "cli",
)
ONLY = {"client": {"client", "core", "release"}}  # a client needs no tables, engines or ledgers
FACES = {"__init__", "errors", "events"}  # what users import; they may import anything
BY_NAME = {  # what is loaded upwards, each by its name and from one place
    ("core/pricing.py", "discreet.accounting"),
    *(
        ("client/loaded.py", f"discreet.{name}")
        for name in (
            *("queries", "queries.workload.universe", "queries.workload.families"),
            *("relational.plan.keyed_universe", "relational.frontends.frame.frame"),
            *("curator.synopsis.stored_form", "curator.synopsis.preview", "curator.bounds"),
            *("curator.history", "curator.interactive.sessions", "synthetic.stored_form"),
            *("curator.fit_preview", "learn.tags", "learn.saved_models", "learn.load_models"),
            *("synthetic.tables.stored_tables", "curator.synthetic.preview_tables"),
            *("synthetic.mechanism_words", "synthetic.encoding.number_column"),
        )
    ),
}
SOURCES_OF_RANDOMNESS = {"random", "secrets", "numpy.random", "os.urandom", "os.getrandom"}
DEVICE = "local/client.py"  # runs alone on people's devices, with the standard library only
LOADERS = {"import_module", "__import__"}


def modules(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(root.rglob("*.py")):
        yield path.relative_to(root).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def imported(place: str, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Every import at any depth: its line, the absolute name, and the name it binds."""
    package = ["discreet", *place.split("/")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}", alias.asname or alias.name
        elif (
            isinstance(node, ast.Call)
            and dotted(node.func).split(".")[-1] in LOADERS
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and (place, node.args[0].value) not in BY_NAME
        ):
            yield node.lineno, str(node.args[0].value), ""


def layer_faults(root: Path) -> list[str]:
    faults = []
    for place, tree in modules(root):
        own = place.split("/")[0].removesuffix(".py")
        if place == f"{own}.py" and own in FACES:
            continue
        if own not in LAYERS:
            faults.append(f"{place}: {own} is not a known package")
            continue
        below = ONLY.get(own, LAYERS[: LAYERS.index(own) + 1])
        for line, name, _ in imported(place, tree):
            root_name, _, rest = name.partition(".")
            if root_name == "discreet" and rest.split(".")[0] not in below:
                faults.append(f"{place}:{line}: {own} may not import {name}")
    return faults


def randomness_faults(root: Path) -> list[str]:
    faults = []
    for place, tree in modules(root):
        if place.startswith("noise/") or place == DEVICE:
            continue
        names = {}
        for line, name, bound in imported(place, tree):
            names[bound] = name
            if any(f"{name}.".startswith(f"{banned}.") for banned in SOURCES_OF_RANDOMNESS):
                faults.append(f"{place}:{line}: imports {name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                first, _, rest = dotted(node).partition(".")
                name = f"{names.get(first, first)}.{rest}"
                if name in SOURCES_OF_RANDOMNESS or node.attr == "rvs":
                    faults.append(f"{place}:{node.lineno}: uses {name}")
    return faults


def planted(root: Path, place: str, text: str) -> Path:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return root


def test_packages_import_only_those_before_them() -> None:
    assert layer_faults(SOURCE) == []


def test_only_noise_draws_randomness() -> None:
    assert randomness_faults(SOURCE) == []


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("core/unit.py", "import discreet.noise"),
        ("core/unit.py", "from discreet.noise.laplace import draw"),
        ("core/unit.py", "from discreet import noise as n"),
        ("core/unit.py", "from discreet import events"),
        ("core/unit.py", "import discreet"),
        ("core/unit.py", "from ..noise import laplace"),
        ("core/unit.py", "from .. import noise"),
        ("core/deep/unit.py", "from ...noise import laplace"),
        ("core/__init__.py", "from ..noise import laplace"),
        ("core/unit.py", "def f() -> None:\n    from discreet.accounting import calibrate"),
        ("core/unit.py", "import importlib\nimportlib.import_module('discreet.accounting')"),
        ("core/pricing.py", "import importlib\nimportlib.import_module('discreet.noise')"),
        ("core/pricing.py", "import discreet.accounting"),
        ("queries/analysts/round.py", "from discreet.curator import Curator"),
        ("client/curator.py", "from discreet.curator import Curator"),
        ("client/curator.py", "import importlib\nimportlib.import_module('discreet.queries')"),
        ("client/loaded.py", "import importlib\nimportlib.import_module('discreet.ledger')"),
        ("helpers/unit.py", "x = 1"),
        ("stray.py", "x = 1"),
    ],
)
def test_the_checker_catches_an_upward_import(tmp_path: Path, place: str, text: str) -> None:
    assert len(layer_faults(planted(tmp_path, place, text))) == 1


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("noise/laplace.py", "from discreet.core import unit\nfrom ..core.unit import Row"),
        ("noise/laplace.py", "from . import table\nfrom .table import Table\nimport numpy"),
        ("cli/main.py", "from discreet import curator, server"),
        ("client/loaded.py", "import importlib\nimportlib.import_module('discreet.queries')"),
        ("events.py", "from discreet.accounting import events"),
        ("__init__.py", "from discreet.cli import main"),
        ("core/pricing.py", "import importlib\nimportlib.import_module('discreet.accounting')"),
    ],
)
def test_the_checker_passes_a_downward_import(tmp_path: Path, place: str, text: str) -> None:
    assert layer_faults(planted(tmp_path, place, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import random",
        "import secrets as s",
        "from random import gauss",
        "from os import urandom",
        "import os\nx = os.urandom(8)",
        "import os as system\nx = system.getrandom(8)",
        "import numpy as np\nx = np.random.default_rng()",
        "import numpy\ndef f() -> object:\n    return numpy.random",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "from scipy import stats\nx = stats.norm.rvs()",
        "import importlib\nx = importlib.import_module('random')",
    ],
)
def test_the_checker_catches_randomness(tmp_path: Path, text: str) -> None:
    assert len(randomness_faults(planted(tmp_path, "mechanisms/laplace.py", text))) == 1
    assert randomness_faults(planted(tmp_path / "other", "noise/laplace.py", text)) == []


def test_the_checker_passes_other_uses_of_the_word(tmp_path: Path) -> None:
    text = "from discreet.noise import randomness\nx = randomness.random(8)\n"
    assert randomness_faults(planted(tmp_path, "mechanisms/laplace.py", text)) == []
