"""``discreet account``: the numbers are the library's, shown to people and to machines."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet import events
from discreet.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
RUNNER = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
RUN = "--noise-multiplier 1 --rate 0.01 --steps 1000 --delta 1e-5"


def ask(line: str) -> tuple[int, str, str]:
    done = RUNNER.invoke(app, ["account", *shlex.split(line)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def told(line: str) -> Any:
    code, output, _ = ask(f"{line} --json")
    assert code == 0
    assert output.count("\n") == 1
    return json.loads(output)


def test_a_training_run_is_priced_by_all_accountants() -> None:
    code, output, _ = ask(f"training {RUN}")
    assert code == 0
    assert output.startswith("epsilon 1.82")
    for name in ("pure", "approximate", "zero-concentrated", "Gaussian", "Rényi", "privacy loss"):
        assert name in output
    assert re.search(r"privacy loss +1\.82\d+ .* tightest", output)
    assert "added or removed" in output


def test_machines_get_the_numbers_in_full() -> None:
    values = told(f"training {RUN}")
    event = events.Gaussian(noise_multiplier=1.0).subsample(rate=0.01) * 1000
    lower, upper = event.epsilon_bounds(delta=1e-5)
    assert (values["epsilon_lower"], values["epsilon"]) == (lower, upper)
    assert values["delta"] == 1e-5
    assert values["neighbours"] == "add/remove"
    assert events.from_json(values["event"]) == event
    quotes = {quote["accountant"]: quote for quote in values["accountants"]}
    assert quotes["privacy loss"]["epsilon"] == upper
    assert quotes["Gaussian"] | {"seconds": 0} == {
        "accountant": "Gaussian",
        "epsilon": None,
        "refusal": "unpriced",
        "seconds": 0,
    }


def test_samples_of_fixed_size_are_about_replacing() -> None:
    line = "training --noise-multiplier 1 --batch-size 600 --people 60000 --steps 100 --delta 1e-5"
    assert told(line)["neighbours"] == "replace"
    _, output, _ = ask(line)
    assert "2 C" in output


def test_noise_for_a_target_meets_it_also_as_shown() -> None:
    line = "noise --epsilon 2 --delta 1e-5 --rate 0.01 --steps 1000"
    values = told(line)
    assert values["epsilon"] <= 2
    assert values["epsilon"] == pytest.approx(2, rel=1e-3)
    _, output, _ = ask(line)
    shown = re.match(r"noise multiplier ([0-9.]+): epsilon 2 at", output)
    assert shown is not None
    assert float(shown[1]) >= values["noise_multiplier"]


def test_steps_for_a_target_are_the_most() -> None:
    line = "--noise-multiplier 1 --rate 0.01 --delta 1e-5"
    found = told(f"steps --epsilon 1 {line}")
    assert found["epsilon"] <= 1 < told(f"training {line} --steps {found['steps'] + 1}")["epsilon"]


def test_an_expression_is_priced() -> None:
    text = "Laplace(epsilon=0.1) * 1000 + Gaussian(noise_multiplier=5)"
    event = events.Laplace(epsilon=0.1) * 1000 + events.Gaussian(noise_multiplier=5)
    values = told(f"price '{text}' --delta 1e-6")
    assert values["epsilon"] == event.epsilon(delta=1e-6)
    assert values["neighbours"] is None


def test_infinite_prices_are_said_and_are_null() -> None:
    line = "price 'Gaussian(noise_multiplier=5)' --delta 0"
    assert told(line)["epsilon"] is None
    code, output, _ = ask(line)
    assert code == 0
    assert output.startswith("epsilon ∞ at delta 0")


def test_misses_of_tests_are_shown() -> None:
    line = "tradeoff 'Laplace(epsilon=1)' 'Gaussian(noise_multiplier=1)'"
    values = told(line)
    at = values["false_alarms"].index(0.05)
    assert values["misses"]["Laplace(epsilon=1)"][at] == pytest.approx(1 - 0.05 * 2.71828, abs=1e-4)
    _, output, _ = ask(line)
    assert "0.86408" in output


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("price 'Gausian(noise_multiplier=5)' --delta 1e-6", "Did you mean Gaussian?"),
        ("price 'Laplace(epsilon=0)' --delta 1e-6", "not_positive"),
        ("price 'Laplace(epsilon=1)' --delta 2", "delta_out_of_range"),
        ("training --noise-multiplier 1 --steps 10 --delta 1e-5", "--batch-size and --people"),
        ("training --noise-multiplier 1 --steps 10 --delta 1e-5 --rate 2", "rate_out_of_range"),
        ("training --noise-multiplier 1 --steps 10 --delta 1e-5 --rate .1 --people 5", "sampler"),
        ("training --noise-multiplier 0 --steps 10 --delta 1e-5 --rate .1", "not_positive"),
        ("training --noise-multiplier 1 --steps -1 --delta 1e-5 --rate .1", "not_a_count"),
        ("noise --epsilon 0 --delta 1e-5 --rate 0.01 --steps 1000", "not_positive"),
        ("noise --epsilon 1 --delta 0 --rate 0.01 --steps 10", "target_out_of_reach"),
        (
            "steps --epsilon 0.01 --delta 1e-9 --rate 0.5 --noise-multiplier 1",
            "target_out_of_reach",
        ),
        ("price 'Laplace(epsilon=1)' --delta 1e-6 --plot x.exe", "plot_format"),
        ("price 'Laplace(epsilon=1)' --delta 1e-6 --plot /no/such/place/x.svg", "plot_not_saved"),
        ("price 'Laplace(epsilon=1)'", "--delta"),
        ("price 'Laplace(epsilon=1)' --delta much", "as a number"),
    ],
)
def test_refusals_are_short_and_leave_with_two(line: str, says: str) -> None:
    code, _, output = ask(line)
    assert code == 2
    assert says in output
    assert "Traceback" not in output
    assert output.count("\n") < 15


def test_a_fault_of_the_library_is_short_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "math range error"
        raise OverflowError(message)

    monkeypatch.setattr("discreet.accounting.compare.quotes", fail)
    code, _, output = ask("price 'Laplace(epsilon=1)' --delta 1e-6")
    assert code == 1
    assert "OverflowError: math range error" in output
    assert "please report it" in output


def test_machines_get_refusals_as_json() -> None:
    code, output, errors = ask("price 'Laplace(epsilon=0.1) + x' --delta 1e-6 --json")
    assert (code, output) == (2, "")
    said = json.loads(errors)["error"]
    assert (said["code"], said["received"]) == ("expression_misread", "x")
    assert (said["start"], said["end"]) == (23, 24)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"training {RUN}", "svg"),
        ("steps --epsilon 1 --delta 1e-5 --rate 0.01 --noise-multiplier 1", "json"),
        ("price 'Laplace(epsilon=0.1) * 10' --delta 1e-6", "html"),
        ("tradeoff 'Laplace(epsilon=1)'", "png"),
    ],
)
def test_pictures_are_drawn(line: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{kind}"
    code, _, errors = ask(f"{line} --plot {path}")
    assert code == 0
    assert str(path) in errors.replace("\n", "")
    begins = {"svg": b"<svg", "json": b"{", "html": b"<!DOCTYPE html>", "png": b"\x89PNG"}
    content = path.read_bytes().lstrip()
    assert content.startswith(begins[kind])
    assert b'src="http' not in content


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_command_says_what_to_install(missing: str) -> None:
    done = run(
        f"import sys; sys.modules[{missing!r}] = None; from discreet.cli import main; main()"
    )
    assert done.returncode == 2
    assert "pip install 'discreet[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_plots_extra_the_plot_says_what_to_install(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    code, _, errors = ask(f"tradeoff 'Laplace(epsilon=1)' --plot {tmp_path / 'x.svg'}")
    assert code == 2
    assert "pip install 'discreet[plots]'" in errors


def test_neither_the_library_nor_its_prices_import_the_command() -> None:
    done = run(
        "import sys, discreet, discreet.accounting.plots as p; "
        "discreet.events.Laplace(epsilon=1).epsilon(delta=0); "
        "print({'discreet.cli', 'typer', 'rich', 'altair'} & set(sys.modules))"
    )
    assert done.stdout.strip() == "set()", done.stderr


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "discreet.cli", "account", "price", "Pure(epsilon=1)"]
    done = subprocess.run([*command, "--delta", "0"], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("epsilon 1 at delta 0")


def examples() -> list[tuple[str, str]]:
    """The commands of the page, each with what the page says it prints."""
    page = (ROOT / "docs" / "accounting.md").read_text(encoding="utf-8")
    found = re.findall(r"```sh\n(discreet account .*?)\n```(?:\n\n```text\n(.*?)```)?", page, re.S)
    return [(command.replace("\\\n", " "), printed) for command, printed in found]


@pytest.mark.parametrize(("command", "printed"), examples())
def test_the_examples_of_the_page_print_what_it_says(
    command: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output, _ = ask(command.removeprefix("discreet account "))
    assert code == 0

    def words(text: str) -> list[str]:
        return re.sub(r"[\d.]+ ms|─+|[:.](?=\s)", "", text).split()

    def same(shown: str, said: str) -> bool:
        try:
            return float(shown) == pytest.approx(float(said), rel=0.02)
        except ValueError:
            return shown == said

    if printed:
        shown, said = words(output), words(printed)
        assert len(shown) == len(said)
        assert [pair for pair in zip(shown, said, strict=True) if not same(*pair)] == []
