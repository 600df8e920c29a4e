"""The files for containers fit each other, the project file and the program; none is run here."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.project import Project
from discreet.server.settings import USUAL_PORT, PostgresState, ServiceSettings
from tests.server.running_service import PROJECT

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    """The Containerfile, one instruction each."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def test_everything_that_the_compose_file_names_is_there(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(compose) <= {"x-replica", "services", "networks", "volumes"}
    for name, service in services.items():
        assert "image" in service, name
        assert set(service["networks"]) <= set(compose["networks"])
        assert set(service.get("depends_on", ())) <= set(services)
        for volume in service.get("volumes", ()):
            place = volume.split(":")[0]
            if place.startswith("./"):
                assert place == "./project" or (DEPLOY / place).exists(), place
            else:
                assert place in compose["volumes"]
    build = services["replica-1"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve().is_file()
    assert services["replica-1"] == services["replica-2"]


def test_only_the_proxy_is_reached_from_outside(compose: dict[str, Any]) -> None:
    assert compose["networks"]["inside"] == {"internal": True}
    for name, service in compose["services"].items():
        assert ("ports" in service) == ("outside" in service["networks"]) == (name == "proxy")


def test_replicas_have_no_rights_to_spare(compose: dict[str, Any]) -> None:
    replica = compose["services"]["replica-1"]
    assert (replica["read_only"], replica["cap_drop"]) == (True, ["ALL"])
    assert replica["security_opt"] == ["no-new-privileges:true"]


def test_every_variable_has_an_example() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    example = (DEPLOY / "example.env").read_text(encoding="utf-8")
    told = {line.partition("=")[0] for line in example.splitlines() if "=" in line}
    assert set(re.findall(r"\$\{(\w+)\}", text)) <= told


def test_the_example_project_is_one_and_shares_its_state(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    place = tmp_path / "discreet.toml"
    example = (DEPLOY / "example-project.toml").read_text(encoding="utf-8")
    tables = PROJECT.partition("[budget]")  # the example says what is beside the tables
    place.write_text(f"{example}\n[budget]{tables[2]}", encoding="utf-8")
    settings = ServiceSettings.of(Project.read(place), place)
    assert settings.behind_proxy
    assert isinstance(settings.state, PostgresState)
    assert settings.state.variable in compose["services"]["replica-1"]["environment"]
    caddy = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    assert "max_size 1MB" in caddy
    assert settings.body == 10**6


def test_the_container_file_builds_what_it_starts(instructions: list[tuple[str, str]]) -> None:
    known = {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "EXPOSE", "STOPSIGNAL"}
    words = [word for word, _ in instructions]
    assert set(words) <= known | {"HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert words[0] == "FROM"
    stages = re.findall(
        r" AS (\w+)", " ".join(rest for word, rest in instructions if word == "FROM")
    )
    mounted = re.findall(r"from=(\w+)", " ".join(rest for _, rest in instructions))
    assert set(mounted) <= set(stages)
    extras = set(re.findall(r"\[([\w,]+)\]\"", " ".join(rest for _, rest in instructions)))
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    offered = declared["project"]["optional-dependencies"]
    assert {"server", "postgres"} <= {part for each in extras for part in each.split(",")}
    assert {part for each in extras for part in each.split(",")} <= set(offered)
    assert len(extras) == 1, "what is built is what is installed"
    assert dict(instructions)["USER"] == "discreet"


def test_it_starts_and_is_looked_after_where_it_listens(
    instructions: list[tuple[str, str]],
) -> None:
    from typer.main import get_command

    from discreet.cli.app import app

    last = dict(instructions)
    assert last["EXPOSE"] == str(USUAL_PORT)
    assert f"127.0.0.1:{USUAL_PORT}/health" in last["HEALTHCHECK"]
    assert json.loads(last["ENTRYPOINT"]) == ["discreet"]
    name, *options = json.loads(last["CMD"])
    command = get_command(app)
    found = command.get_command(None, name)  # type: ignore[attr-defined]
    offered = {option for each in found.params for option in each.opts}
    assert {each for each in options if each.startswith("--")} <= offered


def test_the_proxy_knows_the_replicas_and_where_they_say_that_they_are_ready(
    compose: dict[str, Any],
) -> None:
    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    assert sum(line.count("{") - line.count("}") for line in lines if line) == 0
    (upstreams,) = [line[1:-1] for line in lines if line[:1] == ["reverse_proxy"]]
    replicas = {name for name in compose["services"] if name.startswith("replica")}
    assert set(upstreams) == {f"{name}:{USUAL_PORT}" for name in replicas}
    assert ["health_uri", "/ready"] in lines
    assert set(compose["services"]["proxy"]["depends_on"]) == replicas
