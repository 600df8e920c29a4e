"""``discreet serve`` and ``discreet service``: from nothing to people who may ask, and back-ups."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import httpx
import psycopg
import pytest

from discreet.cli.service_setup import record_gaps, state_of
from discreet.core.errors import DiscreetError
from discreet.curator.project import Project
from discreet.server import Service
from discreet.server.identity.passwords import hashed
from discreet.server.operations.backup import read_back, write_state_lines
from discreet.server.record import ASKED, ProjectRecord
from discreet.server.settings import SQLiteState
from discreet.server.state import audit_log, listening, people
from discreet.server.state.pagination import cursor_from
from discreet.server.state.store import StateStore
from tests import postgres_server
from tests.cli.hospital import run
from tests.server.running_service import PROJECT, ApiUser, RunningService, hospital
from tests.server.states import opened, settings_of

pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    hospital(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_init_adds_what_is_missing_once(folder: Path) -> None:
    place = folder / "discreet.toml"
    place.write_text(PROJECT, encoding="utf-8")
    assert run("service init").code == 0
    assert "[record]" in place.read_text(encoding="utf-8")
    assert run("service upgrade").code == 0, "what was written is read"
    again = run("service init")
    assert again.code == 2
    assert "service_exists" in again.error


def test_what_the_project_file_says_already_is_in_the_record_and_gaps_say_what_to_write(
    folder: Path,
) -> None:
    place = folder / "discreet.toml"
    place.write_text(PROJECT, encoding="utf-8")
    run("service init")
    found = ProjectRecord.of(Project.read(place).record)
    assert found.unit == "each patient (at most 2 rows)"
    assert set(found.missing).isdisjoint({"unit", "attack_model", "residual_harms"})
    told = record_gaps(found, place)
    assert "purpose: what the answers are for" in told
    assert all(f"  {name}: " in told for name in found.missing)
    assert set(ASKED) == {each.name for each in fields(ProjectRecord)}


def test_links_lead_to_where_the_service_listened(folder: Path) -> None:
    run("service people add ann")
    place = folder / "discreet.toml"
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("[service]\n", "[service]\nport = 8123\n"), encoding="utf-8")
    assert run("service people link ann").output.startswith("http://127.0.0.1:8123/enter/")
    with state_of(place) as state:
        for port in (9000, 9001, 9001):
            state.write_now(listening.note, address=f"http://127.0.0.1:{port}")
    assert run("service people link ann").output.startswith("http://127.0.0.1:9001/enter/")


def test_people_are_added_listed_linked_and_disabled(folder: Path) -> None:
    assert run("service people add olga --role owner").code == 0
    told = json.loads(run("service people add ann --token --json").output)
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/enter/[0-9a-f]{64}", told["link"])
    assert told["token"].startswith("dsc_")
    listed = json.loads(run("service people list --json").output)["people"]
    assert [(each["name"], each["role"]) for each in listed] == [
        ("ann", "analyst"),
        ("olga", "owner"),
    ]
    assert "/enter/" in run("service people link ann").output
    assert run("service people disable ann").code == 0
    assert run("service people disable olga").code == 2, "an owner is left"
    assert "person_unknown" in run("service people link nobody").error
    assert "role_unknown" in run("service people add bob --role king").error


def test_tokens_are_listed_ended_and_replaced_at_the_shell_and_the_log_says_where(
    folder: Path,
) -> None:
    run("service people add olga --role owner")
    run("service people add ann --token")
    assert run('service grant ann --purpose "beds" --epsilon 0.5').code == 0
    (first,) = json.loads(run("service people tokens ann --json").output)["tokens"]
    made = run("service people token ann --label notebook").output.strip()
    assert re.fullmatch("dsc_[0-9a-f]{64}", made)
    told = run("service people tokens ann").output
    assert "notebook" in told
    assert made not in told
    assert (
        "ended: 1 token of ann" in run(f"service people end-tokens ann --id {first['id']}").output
    )
    assert "token_unknown" in run(f"service people end-tokens ann --id {first['id']}").error
    assert "ended: 1 token of ann" in run("service people end-tokens ann").output
    assert json.loads(run("service people tokens ann --json").output)["tokens"] == []
    run("service people disable ann")
    assert "person_disabled" in run("service people token ann").error
    with state_of(folder / "discreet.toml") as state:
        entries = state.read_now(audit_log.list_audit_entries, before=cursor_from(None), count=50)
    done = {each.what for each in entries}
    assert {"add person", "new link", "new token", "grant", "revoke token"} <= done
    assert {each.by for each in entries} == {"command line"}, "one rule for what is done here"


def test_a_grant_is_set_aside_from_the_command_line(folder: Path) -> None:
    assert "no_owner" in run('service grant ann --purpose "beds" --epsilon 1').error
    run("service people add olga --role owner")
    run("service people add ann")
    done = run('service grant ann --purpose "planning of beds" --epsilon 0.5 --delta 1e-7')
    assert done.code == 0, done.error
    listed = json.loads(run("service people list --json").output)["people"]
    (grant,) = listed[0]["grants"]
    assert (grant["purpose"], grant["budget"]) == ("planning of beds", "epsilon 0.5, delta 1e-07")
    shown = run("ledger show").output
    assert "epsilon 4999.5" in shown
    assert "grant to ann" in " ".join(shown.split())
    assert grant["account"] not in shown
    assert run('service grant ann --purpose "beds"').code == 2


def test_serving_is_refused_with_words_before_anything_starts(folder: Path) -> None:
    assert "not_loopback" in run("serve --host 0.0.0.0").error
    (folder / "discreet.toml").write_text(PROJECT, encoding="utf-8")
    assert "discreet service init" in " ".join(run("serve").error.split())


def test_a_back_up_brings_people_budgets_and_releases_back_and_no_tokens(tmp_path: Path) -> None:
    place = hospital(tmp_path)
    first = RunningService(place)
    try:
        ann = first.analyst()
        told = ann.ask().json()
    finally:
        first.stop()
    done = run(f"service backup {tmp_path}/monday --project {place}")
    assert done.code == 0, done.error
    assert "written" in done.output
    assert run(f"service backup {tmp_path}/monday --project {place}").code == 2
    kept = (tmp_path / "monday" / "state.jsonl").read_text(encoding="utf-8")
    assert ann.token not in kept
    assert '"tokens"' not in kept
    assert run(f"service restore {tmp_path}/monday --project {place}").code == 2, "not empty"
    (tmp_path / "discreet.service").rename(tmp_path / "lost.service")
    (tmp_path / "visits.ledger").rename(tmp_path / "lost.ledger")
    back = run(f"service restore {tmp_path}/monday --project {place}")
    assert back.code == 0, back.error
    second = RunningService(place, owner=first.owner)
    try:
        assert ApiUser(second, ann.person, ann.token).get("me").status_code == 401
        token = second.call(second.service.people.new_token(ann.person, label="new"))
        again = ApiUser(second, ann.person, token.token)
        assert again.get(f"releases/{told['release']}").json()["result"] == told["result"]
        assert again.ask().json()["result"] == told["result"], "and the ledger has it, free"
        (account,) = again.get("account").json()["accounts"]
        assert account["spent"] == {"epsilon": 0.1}
    finally:
        second.stop()


def test_a_lost_state_comes_back_beside_a_ledger_that_went_on(folder: Path) -> None:
    run("service people add olga --role owner")
    run("service people add ann")
    run('service grant ann --purpose "beds" --epsilon 0.5')
    assert run("service backup monday").code == 0
    run('service grant ann --purpose "later" --epsilon 0.25')
    (folder / "discreet.service").rename(folder / "lost.service")
    refused = run("service restore monday")
    assert (refused.code, "restore_refused" in refused.error) == (2, True)
    assert "--state-only" in " ".join(refused.error.replace("│", "").split())
    assert "`checkpoint=`" not in refused.error
    back = run("service restore monday --state-only")
    assert back.code == 0, back.error
    (ann, _) = json.loads(run("service people list --json").output)["people"]
    assert [each["purpose"] for each in ann["grants"]] == ["beds"]
    assert "epsilon 0.75" in run("ledger show").output, "nothing that was set aside is forgotten"
    (folder / "discreet.service").unlink()
    (folder / "monday" / "checkpoint.txt").write_text("nonsense", encoding="utf-8")
    assert run("service restore monday --state-only").code == 2


@pytest.mark.parametrize("how", ["--state-only", ""])
def test_after_a_restoration_nobody_is_in_who_was_not_let_in_anew(folder: Path, how: str) -> None:
    """Passwords of then, and who was not yet shut out then: neither may come back."""
    project = folder / "discreet.toml"
    for name, role in (("olga", "owner"), ("ann", "analyst"), ("bob", "analyst")):
        run(f"service people add {name} --role {role}")
    run('service grant bob --purpose "beds" --epsilon 0.5')
    store = StateStore(SQLiteState(folder / "discreet.service"))
    for name in ("ann", "bob"):
        found = store.read_now(people.require, name)
        store.write_now(people.set_password, found.id, hashed("four words are enough"))
        store.write_now(people.bind_subject, found.id, f"issuer-{name}")
    store.close()
    assert run("service backup monday").code == 0
    assert run("service people disable ann").code == 0
    (folder / "discreet.service").rename(folder / "lost.service")
    if not how:
        (folder / "visits.ledger").rename(folder / "lost.ledger")
    back = run(f"service restore monday {how}")
    assert back.code == 0, back.error
    service = Service(project)
    state = service.runtime.state

    async def tried(name: str) -> str:
        try:
            login = await service.authentication.by_password(
                name, "four words are enough", address="127.0.0.1"
            )
        except DiscreetError as refusal:
            return refusal.code
        return login.person.name

    def vouched(name: str) -> bool:
        named = f"issuer-{name}"
        return state.read_now(people.vouched_for, subject=named, email=None) is not None

    async def attack() -> None:
        for name in ("ann", "bob"):
            assert await tried(name) == "not_let_in"
            assert not vouched(name), "nor by an issuer"
            assert not state.read_now(people.require, name).has_password
        assert run("service people link bob").code == 0
        assert vouched("bob"), "whom the owner lets in anew"
        assert not vouched("ann")
        await service.runtime.close()

    asyncio.run(attack())


@postgres_server.needed
def test_a_state_moves_between_kinds_of_databases(
    running_service: RunningService, tmp_path: Path
) -> None:
    lines = running_service.service.runtime.state.copy_now(lambda c: list(write_state_lines(c)))
    with settings_of("postgres", tmp_path) as place, opened(place) as state:
        assert state.write_now(read_back, lines) == len(lines) - 1
        moved = state.copy_now(lambda c: list(write_state_lines(c)))
        assert sorted(moved) == sorted(lines)
        with pytest.raises(DiscreetError, match="state_not_empty"):
            state.write_now(read_back, lines)


@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"form": "discreet-service-state/1"}'])
def test_what_is_no_back_up_is_refused(tmp_path: Path, text: str) -> None:
    with settings_of("sqlite", tmp_path) as place, opened(place) as state:
        with pytest.raises(DiscreetError, match="backup_unreadable"):
            state.write_now(read_back, text.splitlines())
        assert state.read_now(people.list_people, after="", count=1) == []


@pytest.mark.slow
def test_the_demonstration_needs_nothing_and_stops_when_told(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet.cli", "serve", "--demo", "--port", "8877"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        said = ""
        while "psql 'host" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        links = re.findall(r"/enter/([0-9a-f]{64})", said)
        assert len(links) == 3
        token = re.search("dsc_[0-9a-f]{64}", said)
        assert token is not None
        bearer = {"Authorization": f"Bearer {token[0]}"}
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                if httpx.get("http://127.0.0.1:8877/ready", timeout=60).status_code == 200:
                    break
            except httpx.ConnectError:
                time.sleep(0.1)
        asked = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 0.1}
        told = httpx.post(
            "http://127.0.0.1:8877/api/v1/questions", json=asked, headers=bearer, timeout=60
        )
        assert len(told.json()["result"]["rows"]) == 4
        door = re.search("psql '([^']+)'", said)
        assert door is not None
        with psycopg.connect(door[1], autocommit=True) as connection:
            priced = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.1)"
            rows = connection.execute(
                f"{priced} ward, COUNT(*) AS n FROM visits GROUP BY ward"
            ).fetchall()
        assert [list(row) for row in rows] == [
            list(row.values()) for row in told.json()["result"]["rows"]
        ], "the same question through another door is the stored release"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
