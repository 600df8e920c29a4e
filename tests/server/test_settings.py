"""[service] and [record] of the project file: every mistake by name, before anything starts."""

import re
from datetime import date
from pathlib import Path

import pytest

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import ApproxDP
from discreet.curator.project import Project
from discreet.server.operations.http_server import require_safe
from discreet.server.record import ProjectRecord
from discreet.server.settings import PostgresState, ServiceSettings, SQLiteState, WireSettings
from tests.server.running_service import PROJECT, RECORD, SERVICE, RunningService


def settings(tmp_path: Path, service: str) -> ServiceSettings:
    text = PROJECT + service
    return ServiceSettings.of(Project.parse(text, tmp_path), tmp_path / "clinic.toml")


def record(tmp_path: Path, text: str) -> ProjectRecord:
    return ProjectRecord.of(Project.parse(PROJECT + text, tmp_path).record)


def test_a_project_file_without_a_service_is_a_project_file(tmp_path: Path) -> None:
    assert Project.parse(PROJECT, tmp_path).service is None
    with pytest.raises(DiscreetError, match=r"\[service\]"):
        settings(tmp_path, "")


def test_the_least_that_must_be_said_is_the_quantum(tmp_path: Path) -> None:
    made = settings(tmp_path, "[service]\nquantum = 2\n")
    assert made.quanta.seconds == {"visits": 2.0}
    assert made.state == SQLiteState(tmp_path / "clinic.service")
    assert (made.per_analyst, made.behind_proxy, made.approval) == (1, False, None)
    with pytest.raises(DiscreetError, match=r"service\.quantum"):
        settings(tmp_path, "[service]\nworkers = 3\n")


def test_all_of_it_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "c.pem").write_text("")
    made = settings(
        tmp_path,
        """
[service]
overruns = 0
workers = 3
per_analyst = 2
per_minute = 7
wait = 1.5
longest = 60
idle = 10
body = 5000
threads = 1
address = "https://data.example.org"
behind_proxy = true
state = { kind = "postgres", address_from = "CLINIC_STATE" }

[service.quantum]
visits = "off"

[service.approval]
epsilon = 0.5
delta = 1e-6

[service.tls]
certificate = "c.pem"
key = "c.pem"

[service.oidc]
issuer = "https://id.example.org/"
client_id = "discreet"
secret_from = "CLINIC_SECRET"
""",
    )
    assert made.state == PostgresState("CLINIC_STATE")
    assert made.quanta.seconds == {"visits": 0.0}
    assert made.approval == ApproxDP(epsilon=0.5, delta=1e-6)
    assert made.oidc is not None
    assert made.oidc.issuer == "https://id.example.org"
    assert made.plain()["quantum"] == {"visits": "off"}
    assert "CLINIC" not in str(made.plain())


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("quantum = 1\nquanta = 2", "project_field_unknown", "service.quanta"),
        ("quantum = 0", "project_field_kind", "service.quantum"),
        ("quantum = -1", "project_field_kind", "service.quantum"),
        ("quantum = nan", "project_field_kind", "service.quantum"),
        ("quantum = inf", "project_field_kind", "service.quantum"),
        ('quantum = "no"', "project_field_kind", "service.quantum"),
        ("quantum = { visit = 1 }", "project_field_missing", "service.quantum.visits"),
        ("quantum = { visits = 1, wards = 1 }", "project_field_unknown", "service.quantum.wards"),
        ("quantum = 1\nstep = 6", "project_field_kind", "service.step"),
        ("quantum = 1\nstep = 1", "project_field_kind", "service.step"),
        ("quantum = 1\nworkers = 0", "project_field_kind", "service.workers"),
        ("quantum = 1\nworkers = true", "project_field_kind", "service.workers"),
        ("quantum = 1\nwait = 0", "project_field_kind", "service.wait"),
        ("quantum = 1\noverruns = -1", "project_field_kind", "service.overruns"),
        ('quantum = 1\naddress = "ftp://x"', "project_field_kind", "service.address"),
        ('quantum = 1\nstate = { kind = "mongo" }', "project_field_value", "service.state.kind"),
        ("quantum = 1\n[service.approval]", "project_field_missing", "service.approval.epsilon"),
        ("quantum = 1\n[service.approval]\nrho = 1", "spend_notion", "service.approval"),
        ("quantum = 1\n[service.approval]\nepsilon = 1\nrho = 1", "spend_unclear", "service"),
        (
            'quantum = 1\n[service.tls]\ncertificate = "no.pem"\nkey = "no.pem"',
            "certificate_missing",
            "service.tls",
        ),
        (
            "quantum = 1\n[service.oidc]\n"
            'issuer = "https://x"\nclient_id = "y"\nsecret_from = "hush hush"',
            "project_field_kind",
            "service.oidc.secret_from",
        ),
    ],
)
def test_a_mistake_is_refused_by_name(tmp_path: Path, text: str, code: str, named: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        settings(tmp_path, f"[service]\n{text}\n")
    assert refusal.value.code == code
    assert named in str(refusal.value)
    assert "hush hush" not in str(refusal.value)


def test_a_record_with_a_gap_says_which(tmp_path: Path) -> None:
    whole = record(tmp_path, RECORD)
    assert whole.missing == ()
    whole.require_complete()
    for line in RECORD.strip().splitlines()[1:]:
        name = line.partition(" =")[0]
        found = record(tmp_path, RECORD.replace(line, ""))
        assert found.missing == (name,)
        with pytest.raises(DiscreetError, match=name):
            found.require_complete()
    assert len(ProjectRecord().missing) == 17


@pytest.mark.parametrize("name", ["purpose", "epsilon_reason", "failure_plan"])
def test_a_word_is_no_reason(tmp_path: Path, name: str) -> None:
    text = "\n".join(
        f'{name} = "personalisation"' if line.startswith(f"{name} =") else line
        for line in RECORD.splitlines()
    )
    assert record(tmp_path, text).missing == (name,)


def test_a_record_has_a_day_and_no_unknown_fields(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match=r"record\.purpos"):
        record(tmp_path, '[record]\npurpos = "x"\n')
    with pytest.raises(DiscreetError, match=r"record\.review_date"):
        record(tmp_path, '[record]\nreview_date = "soon"\n')
    whole = record(tmp_path, RECORD)
    whole.require_reviewed(date(2098, 1, 1))
    with pytest.raises(DiscreetError, match="review_overdue"):
        whole.require_reviewed(date(2099, 1, 2))


def test_the_project_file_of_the_page_is_understood(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    (block,) = re.findall("```toml\n(.*?)```", page, re.DOTALL)
    made = settings(tmp_path, block)
    assert made.approval == ApproxDP(epsilon=0.5, delta=1e-7)
    usual = ServiceSettings(state=SQLiteState(tmp_path), quanta=made.quanta)
    said = (made.overruns, made.workers, made.per_analyst, made.per_minute, made.wait)
    assert said == (usual.overruns, usual.workers, usual.per_analyst, usual.per_minute, usual.wait)
    assert (made.longest, made.idle, made.body) == (usual.longest, usual.idle, usual.body)
    assert record(tmp_path, block).missing == ()


def test_elsewhere_than_here_needs_encryption_or_a_word(tmp_path: Path) -> None:
    plain = settings(tmp_path, SERVICE)
    for host in ("127.0.0.1", "::1", "localhost"):
        require_safe(host, plain)
    for host in ("0.0.0.0", "::", "192.168.1.1", "data.example.org"):
        with pytest.raises(DiscreetError, match="not_loopback"):
            require_safe(host, plain)
    require_safe("0.0.0.0", settings(tmp_path, SERVICE + "behind_proxy = true\n"))


@pytest.mark.xdist_group("server")
def test_nothing_is_released_while_the_record_has_gaps(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = running_service.analyst()
    full = running_service.service.runtime.record
    gaps = ProjectRecord(purpose="planning of beds and staff")
    monkeypatch.setitem(running_service.service.runtime.__dict__, "record", gaps)
    refused = ann.ask()
    assert (refused.status_code, refused.json()["code"]) == (409, "record_incomplete")
    assert "epsilon_reason" in refused.json()["received"]
    universe = {"table": "visits", "columns": ["ward"]}
    for body in (
        {"kind": "synopsis", "universe": universe, "epsilon": 1},
        {"kind": "bounds", "table": "visits", "column": "age", "epsilon": 1},
        {"kind": "batch", "queries": {"n": "SELECT COUNT(*) AS n FROM visits"}, "epsilon": 1},
    ):
        assert ann.post("questions", body).json()["code"] == "record_incomplete"
    assert (
        ann.post("previews", {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1}).status_code
        == 200
    )
    published = running_service.owner.post("publications", {"title": "x", "releases": ["y"]})
    assert published.json()["code"] == "record_incomplete"
    monkeypatch.setitem(running_service.service.runtime.__dict__, "record", full)
    assert ann.get("account").json()["accounts"][0]["spent"] == {"epsilon": 0.0}


def test_the_postgresql_door_is_a_part_of_its_own(tmp_path: Path) -> None:
    assert settings(tmp_path, SERVICE).wire is None
    made = settings(tmp_path, SERVICE + "[service.wire]\nport = 5433\nconnections = 3\n")
    assert made.wire == WireSettings(port=5433, connections=3)
    assert made.plain()["wire"] == {
        "entry": "password",
        "port": 5433,
        "connections": 3,
        "patience": 10.0,
        "idle": 3600.0,
    }
    for wrong in (
        "",
        "port = 70000",
        "port = true",
        "port = 1\nidle = 0",
        "port = 1\nprot = 2",
        'port = 1\nentry = "no"',
    ):
        with pytest.raises(DiscreetError, match=r"service\.wire"):
            settings(tmp_path, f"{SERVICE}[service.wire]\n{wrong}\n")


def test_a_record_is_overdue_once_its_day_has_passed() -> None:
    day = date(2026, 5, 1)
    assert ProjectRecord(review_date=day).overdue(date(2026, 5, 1)) is None
    assert ProjectRecord(review_date=day).overdue(date(2026, 5, 2)) == day
    assert ProjectRecord().overdue(date(2026, 5, 2)) is None
