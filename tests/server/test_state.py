"""The state, on SQLite and on PostgreSQL alike: migrations, leases, limits, secrets."""

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, select, text

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import PureDP
from discreet.server.identity.tokens import digest_of, new_token
from discreet.server.jobs.registry import kind_named
from discreet.server.rights import PersonRole
from discreet.server.services.job_runner import JobOutcome, PreparedJob, _delayed, _ended
from discreet.server.state import (
    conversations,
    counters,
    grants,
    jobs,
    links,
    logins,
    oidc_flows,
    overruns,
    people,
    releases,
    tokens,
)
from discreet.server.state.clock import DAY, MINUTE, now
from discreet.server.state.jobs import Job, JobPhase, Turn
from discreet.server.state.links import holder as links_holder
from discreet.server.state.migrate import form_of, migrate, steps
from discreet.server.state.pagination import cursor_from
from discreet.server.state.people import Member
from discreet.server.state.schema import METADATA, versions
from discreet.server.state.store import StateStore
from discreet.server.workers.pool import prepare
from tests import postgres_server
from tests.server.open_together import open_together
from tests.server.states import Settings, opened, settings_of, variables_of

KINDS = ["sqlite", pytest.param("postgres", marks=postgres_server.needed)]
pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture(scope="module", params=KINDS)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    with settings_of(request.param, tmp_path_factory.mktemp("state")) as made:
        yield made


@pytest.fixture(scope="module")
def state(place: Settings) -> Iterator[StateStore]:
    with opened(place) as made:
        yield made


def member(state: StateStore, name: str, role: PersonRole = PersonRole.ANALYST) -> Member:
    return state.write_now(people.add, name=name, role=role)


def job(state: StateStore, person: Member, key: str | None = None, digest: str = "d") -> Job:
    return state.write_relaxed_now(
        jobs.add, person=person.id, grant=None, kind="sql", request="{}", digest=digest, key=key
    )


def at(connection: Connection) -> int:
    return connection.execute(select(now())).scalar_one()


# Form ------------------------------------------------------------------------------------------


def test_migrations_make_the_tables_that_are_asked(state: StateStore) -> None:
    def columns(connection: Connection) -> dict[str, set[str]]:
        found = inspect(connection)
        return {
            name: {column["name"] for column in found.get_columns(name)}
            for name in found.get_table_names()
        }

    wanted = {
        table.name: {column.name for column in table.columns} for table in METADATA.sorted_tables
    }
    assert state.read_now(columns) == wanted
    assert state.read_now(form_of) == len(steps())


def test_a_later_step_is_taken_once_and_a_newer_form_is_refused(
    tmp_path: Path, place: Settings
) -> None:
    kind = "sqlite" if hasattr(place, "path") else "postgres"
    taken = []
    with settings_of(kind, tmp_path) as fresh, opened(fresh) as state:

        def later(connection: Connection) -> None:
            taken.append(1)
            connection.execute(text("ALTER TABLE people ADD COLUMN shoe_size TEXT"))

        assert state.write_now(migrate, (*steps(), later)) == len(steps()) + 1
        assert state.write_now(migrate, (*steps(), later)) == len(steps()) + 1
        assert taken == [1]
        with pytest.raises(DiscreetError, match="state_newer"):
            state.write_now(migrate)
        with pytest.raises(DiscreetError, match="state_newer"):
            StateStore(fresh)


def test_a_step_that_fails_leaves_all_as_it_was(tmp_path: Path, place: Settings) -> None:
    kind = "sqlite" if hasattr(place, "path") else "postgres"
    with settings_of(kind, tmp_path) as fresh, opened(fresh) as state:

        def broken(connection: Connection) -> None:
            connection.execute(text("ALTER TABLE people ADD COLUMN hat TEXT"))
            connection.execute(text("SELECT nothing FROM nowhere"))

        with pytest.raises(DiscreetError, match="state_unavailable"):
            state.write_now(migrate, (*steps(), broken))
        assert state.read_now(form_of) == len(steps())
        assert "hat" not in state.read_now(
            lambda connection: {each["name"] for each in inspect(connection).get_columns("people")}
        )


def test_processes_that_start_at_once_migrate_once(tmp_path: Path, place: Settings) -> None:
    kind = "sqlite" if hasattr(place, "path") else "postgres"
    prepare()
    context = multiprocessing.get_context("forkserver")
    with settings_of(kind, tmp_path) as fresh:
        environment = {name: os.environ[name] for name in variables_of(fresh)}
        ready = context.Barrier(3)
        processes = [
            context.Process(target=open_together, args=(fresh, environment, ready))
            for _ in range(3)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(120)
        assert [process.exitcode for process in processes] == [0] * 3
        with opened(fresh) as state:
            numbers = state.read_now(lambda c: list(c.scalars(select(versions.c.number))))
            assert numbers == list(range(1, len(steps()) + 1))


# People and secrets ----------------------------------------------------------------------------


def test_names_are_never_used_twice_even_by_two_at_once(state: StateStore) -> None:
    start = threading.Barrier(4)

    def add(_: int) -> str:
        start.wait()
        try:
            return member(state, "twin").id
        except DiscreetError as refusal:
            return refusal.code

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(add, range(4)))
    assert sum(len(each) == 32 for each in found) == 1


@pytest.mark.parametrize("name", ["", "Ann", "a b", "ann@x", "-", "é", "a" * 65, "a\x00b"])
def test_names_that_a_ledger_should_not_have_are_refused(state: StateStore, name: str) -> None:
    with pytest.raises(DiscreetError, match="person_name"):
        member(state, name)


def test_a_token_is_kept_as_a_digest_and_ends(state: StateStore) -> None:
    ann = member(state, "tokens-ann")
    token = new_token()
    entry = state.write_now(
        tokens.add, person=ann.id, label="x", digest=digest_of(token), verifier="", lasts=DAY
    )
    assert state.read_now(tokens.bearer, digest_of(token)) == ann
    assert state.read_now(tokens.bearer, digest_of(new_token())) is None
    dump = state.read_now(lambda c: str(c.execute(text("SELECT * FROM tokens")).all()))
    assert token not in dump
    assert token.removeprefix("dsc_") not in dump
    assert state.write_now(tokens.shorten, person=ann.id, token=entry.id, lasts=0)
    assert state.read_now(tokens.bearer, digest_of(token)) is None


def test_nobody_ends_the_token_of_another(state: StateStore) -> None:
    ann, eve = member(state, "tokens-own"), member(state, "tokens-eve")
    token = new_token()
    entry = state.write_now(
        tokens.add, person=ann.id, label="x", digest=digest_of(token), verifier="", lasts=DAY
    )
    assert not state.write_now(tokens.forget, person=eve.id, token=entry.id)
    assert not state.write_now(tokens.shorten, person=eve.id, token=entry.id, lasts=0)
    assert state.read_now(tokens.bearer, digest_of(token)) == ann
    state.write_now(people.disable, ann.id)
    assert state.read_now(tokens.bearer, digest_of(token)) is None


def test_a_link_lets_in_once(state: StateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(4)

    def holder(connection: Connection, digest: str) -> Member | None:
        found = links_holder(connection, digest)
        with suppress(threading.BrokenBarrierError):  # in SQLite nobody else gets as far
            together.wait(0.2)
        return found

    ann = member(state, "links-ann")
    state.write_now(links.add, person=ann.id, digest="first", lasts=DAY)
    state.write_now(links.add, person=ann.id, digest="second", lasts=DAY)
    assert state.read_now(links.holder, "first") is None
    monkeypatch.setattr(links, "holder", holder)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: state.write_now(links.use, "second"), range(4)))
    assert [each for each in found if each is not None] == [ann]
    state.write_now(links.add, person=ann.id, digest="old", lasts=-1)
    assert state.write_now(links.use, "old") is None


def test_a_login_ends_with_its_time_and_its_person(state: StateStore) -> None:
    ann = member(state, "logins-ann")
    state.write_now(logins.add, person=ann.id, digest="cookie", csrf="c", lasts=DAY)
    state.write_now(logins.add, person=ann.id, digest="stale", csrf="c", lasts=0)
    assert state.read_now(logins.holder, "cookie") == (ann, "c")
    assert state.read_now(logins.holder, "stale") is None
    state.write_now(people.disable, ann.id)
    assert state.read_now(logins.holder, "cookie") is None


def test_a_login_at_an_issuer_comes_back_once(state: StateStore) -> None:
    state.write_relaxed_now(oidc_flows.add, digest="flow", nonce="n", verifier="v")
    assert state.write_relaxed_now(oidc_flows.take, "flow") is not None
    assert state.write_relaxed_now(oidc_flows.take, "flow") is None


# Limits and leases -----------------------------------------------------------------------------


def test_counters_count_all_of_one_subject_and_nobody_else(state: StateStore) -> None:
    def once(_: int) -> int:
        return state.write_relaxed_now(
            counters.count, subject="ann", what=counters.REQUESTS, within=DAY
        ).number

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(once, range(40))) == list(range(1, 41))
    other = state.write_relaxed_now(
        counters.count, subject="bob", what=counters.REQUESTS, within=DAY
    )
    assert other.number == 1
    state.write_relaxed_now(counters.take_back, other)
    state.write_relaxed_now(counters.take_back, other)
    again = state.write_relaxed_now(
        counters.count, subject="bob", what=counters.REQUESTS, within=DAY
    )
    assert again.number == 1, "what was counted is taken back, and no more"


def test_a_limit_refuses_and_says_how_long(state: StateStore) -> None:
    terms = {"subject": "cid", "what": counters.LOGINS, "most": 2, "within": 900_000}
    for _ in range(2):
        state.write_relaxed_now(counters.require_within, **terms)  # type: ignore[arg-type]
    with pytest.raises(counters.TooMany) as refusal:
        state.write_relaxed_now(counters.require_within, **terms)  # type: ignore[arg-type]
    assert 1 <= refusal.value.retry_after <= 901


def test_one_person_has_no_more_leases_than_may_be_whoever_asks(state: StateStore) -> None:
    ann = member(state, "leases-ann")
    every = [job(state, ann).id for _ in range(12)]

    def start(name: str) -> Turn:
        return state.write_relaxed_now(jobs.start, job=name, person=ann.id, most=3)

    with ThreadPoolExecutor(6) as threads:
        turns = list(threads.map(start, every))
    assert turns.count(Turn.NOW) == 3
    assert turns.count(Turn.LATER) == 9
    other = member(state, "leases-bob")
    assert (
        state.write_relaxed_now(jobs.start, job=job(state, other).id, person=other.id, most=1)
        is Turn.NOW
    )


def test_a_lease_lasts_until_the_answer_has_left(state: StateStore) -> None:
    ann = member(state, "leaving-ann")
    first, second = job(state, ann), job(state, ann)
    start = {"person": ann.id, "most": 1}
    assert state.write_relaxed_now(jobs.start, job=first.id, **start) is Turn.NOW  # type: ignore[arg-type]
    state.write_relaxed_now(
        jobs.end, job=first.id, phase=JobPhase.FINISHED, leaves_in=150, result="{}"
    )
    seen = state.read_now(jobs.of_person, person=ann.id, job=first.id)
    assert seen is not None
    assert (seen.phase, seen.result) == (JobPhase.STARTED, None)
    assert state.write_relaxed_now(jobs.start, job=second.id, **start) is Turn.LATER  # type: ignore[arg-type]
    threading.Event().wait(0.2)
    seen = state.read_now(jobs.of_person, person=ann.id, job=first.id)
    assert seen is not None
    assert (seen.phase, seen.result) == (JobPhase.FINISHED, "{}")
    assert state.write_relaxed_now(jobs.start, job=second.id, **start) is Turn.NOW  # type: ignore[arg-type]


def test_a_job_whose_front_fell_silent_is_lost_and_its_lease_free(state: StateStore) -> None:
    ann = member(state, "silent-ann")
    lost, next_one = job(state, ann), job(state, ann)
    assert state.write_relaxed_now(jobs.start, job=lost.id, person=ann.id, most=1) is Turn.NOW
    state.write_relaxed_now(
        lambda c: c.execute(
            text("UPDATE jobs SET lease_until = lease_until - 60000 WHERE id = :id"),
            {"id": lost.id},
        )
    )
    seen = state.read_now(jobs.of_person, person=ann.id, job=lost.id)
    assert seen is not None
    assert seen.phase is JobPhase.FAILED
    assert "worker_lost" in str(seen.error)
    assert state.write_relaxed_now(jobs.start, job=next_one.id, person=ann.id, most=1) is Turn.NOW


def test_a_cancelled_job_stays_so_and_is_told_to_who_works_on_it(state: StateStore) -> None:
    ann = member(state, "cancel-ann")
    made = job(state, ann)
    state.write_relaxed_now(jobs.start, job=made.id, person=ann.id, most=1)
    assert state.write_relaxed_now(jobs.renew, [made.id]) == []
    state.write_relaxed_now(jobs.cancel, job=made.id)
    assert state.write_relaxed_now(jobs.renew, [made.id]) == [made.id]
    assert not state.write_relaxed_now(jobs.end, job=made.id, phase=JobPhase.FINISHED, leaves_in=0)
    seen = state.read_now(jobs.of_person, person=ann.id, job=made.id)
    assert seen is not None
    assert not seen.told_charge, "nobody knows yet but the ledger"
    assert state.read_now(jobs.is_held, made.id)
    state.write_relaxed_now(jobs.let_go, job=made.id, reservation="r")
    assert not state.read_now(jobs.is_held, made.id)
    seen = state.read_now(jobs.of_person, person=ann.id, job=made.id)
    assert seen is not None
    assert (seen.phase, seen.reservation) == (JobPhase.CANCELLED, "r")
    assert seen.told_charge
    assert state.write_relaxed_now(jobs.start, job=made.id, person=ann.id, most=5) is Turn.NEVER


def test_the_same_key_is_the_same_job_and_another_request_is_refused(state: StateStore) -> None:
    ann, bob = member(state, "keys-ann"), member(state, "keys-bob")
    made = job(state, ann, key="k")
    found = state.read_now(jobs.find_earlier_job, person=ann.id, key="k", digest="d")
    assert found is not None
    assert found.id == made.id
    assert state.read_now(jobs.find_earlier_job, person=bob.id, key="k", digest="d") is None
    with pytest.raises(DiscreetError, match="idempotency_mismatch"):
        state.read_now(jobs.find_earlier_job, person=ann.id, key="k", digest="other")


def test_overruns_count_for_a_day_and_for_their_person_alone(state: StateStore) -> None:
    ann, bob = member(state, "over-ann"), member(state, "over-bob")
    for name in ("over-1", "over-2", "over-2"):  # one of each job
        state.write_relaxed_now(overruns.add, person=ann.id, job=name, level=1)
    state.read_now(overruns.require_left, person=bob.id, most=1)
    state.read_now(overruns.require_left, person=ann.id, most=3)
    with pytest.raises(DiscreetError, match="overruns_used_up"):
        state.read_now(overruns.require_left, person=ann.id, most=2)
    state.write_relaxed_now(
        lambda c: c.execute(text("UPDATE overruns SET at = at - :day"), {"day": DAY + MINUTE})
    )
    assert state.read_now(overruns.lately, person=ann.id) == 0


def test_no_more_people_have_grants_than_there_are_workers(tmp_path: Path, place: Settings) -> None:
    kind = "sqlite" if hasattr(place, "path") else "postgres"
    with settings_of(kind, tmp_path) as fresh, opened(fresh) as state:
        olga = member(state, "olga", PersonRole.OWNER)
        several = [member(state, f"ann-{number}") for number in range(6)]

        def grant(person: Member) -> str:
            try:
                return state.write_now(
                    grants.add,
                    person=person.id,
                    purpose="beds",
                    budget=PureDP(epsilon=1),
                    made_by=olga.id,
                    most_people=3,
                ).account
            except DiscreetError as refusal:
                return refusal.code

        with ThreadPoolExecutor(6) as threads:
            found = list(threads.map(grant, several))
        assert found.count("workers_used_up") == 3
        holder = several[next(n for n, each in enumerate(found) if each != "workers_used_up")]
        assert grant(holder) != "workers_used_up", "somebody who has one may have another"
        state.write_now(people.disable, holder.id)
        loser = several[found.index("workers_used_up")]
        assert grant(loser) != "workers_used_up", "who was shut out takes no place"


def test_a_release_is_kept_once_and_seen_when_it_has_left(state: StateStore) -> None:
    ann, eve = member(state, "rel-ann"), member(state, "rel-eve")

    def add(leaves_in: int, release: str) -> str:
        return state.write_relaxed_now(
            releases.add,
            person=ann.id,
            grant=None,
            kind="sql",
            release=release,
            question="q",
            request="{}",
            reservation=None,
            document="{}",
            leaves_in=leaves_in,
        )

    key = add(0, "r1")
    assert add(0, "r1") == key
    assert state.read_now(releases.of_person, person=ann.id, key=key) is not None
    assert state.read_now(releases.of_person, person=eve.id, key=key) is None
    hidden = add(60_000, "r2")
    assert state.read_now(releases.of_person, person=ann.id, key=hidden) is None
    assert state.read_now(releases.by_id, hidden) is None


def ended(
    state: StateStore, person: Member, name: str, *, left: float
) -> tuple[PreparedJob, JobOutcome, str]:
    """A job that opened a conversation, late, and leaves in so many seconds."""
    grant = state.write_now(
        grants.add,
        person=person.id,
        purpose="beds",
        budget=PureDP(epsilon=1),
        made_by=person.id,
        most_people=99,
    )
    made = replace(job(state, person), grant_id=grant.account, request=f'{{"about": "{name}"}}')
    prepared = PreparedJob(person, kind_named("conversation"), made, None)
    outcome = JobOutcome(
        JobPhase.FINISHED, release=name, opened=name, result="{}", reservation="paid"
    )
    state.write_relaxed_now(jobs.start, job=made.id, person=person.id, most=9)
    _, kept = state.write_relaxed_now(
        _ended, prepared=prepared, outcome=outcome, level=1, left=left
    )
    assert kept is not None
    return prepared, outcome, kept


def test_nothing_shows_that_work_ended_before_the_answer_has_left(state: StateStore) -> None:
    ann = member(state, "end-ann")
    prepared, _, kept = ended(state, ann, "end-talk", left=60)
    seen = state.read_now(jobs.of_person, person=ann.id, job=prepared.job.id)
    assert seen is not None
    assert (seen.phase, seen.release_id) == (JobPhase.STARTED, None)
    assert seen.reservation is None, "it is written with the outcome"
    assert state.read_now(releases.of_person, person=ann.id, key=kept) is None
    assert (
        state.read_now(
            conversations.list_conversations, person=ann.id, before=cursor_from(None), count=9
        )
        == []
    )
    with pytest.raises(DiscreetError, match="conversation_unknown"):
        state.read_now(conversations.require, person=ann.id, key="end-talk")
    assert state.read_now(overruns.lately, person=ann.id) == 0
    state.read_now(overruns.require_left, person=ann.id, most=1)


def test_what_was_made_was_made_when_it_left(state: StateStore) -> None:
    ann = member(state, "made-ann")
    before = state.read_now(at)
    _, _, kept = ended(state, ann, "made-talk", left=0.51)
    while state.read_now(overruns.lately, person=ann.id) == 0:
        time.sleep(0.02)
    release = state.read_now(releases.of_person, person=ann.id, key=kept)
    assert release is not None
    (title,) = state.read_now(releases.titles, person=ann.id, before=cursor_from(None), count=9)
    (talk,) = state.read_now(
        conversations.list_conversations, person=ann.id, before=cursor_from(None), count=9
    )
    for moment in (release.made_at, title.made_at, talk.opened_at):
        assert abs(moment - release.leaves_at) < 100
        assert moment >= before + 500
    with pytest.raises(DiscreetError, match="overruns_used_up"):
        state.read_now(overruns.require_left, person=ann.id, most=1)


def test_what_leaves_later_than_noted_takes_all_with_it(state: StateStore) -> None:
    ann = member(state, "later-ann")
    prepared, outcome, kept = ended(state, ann, "later-talk", left=0)
    assert state.read_now(overruns.lately, person=ann.id) == 1
    late: dict[str, Any] = {"job": prepared.job, "opened": outcome.opened, "level": 2}
    state.write_relaxed_now(_delayed, **late, left=60)
    assert state.read_now(overruns.lately, person=ann.id) == 0
    assert state.read_now(releases.of_person, person=ann.id, key=kept) is None
    assert (
        state.read_now(
            conversations.list_conversations, person=ann.id, before=cursor_from(None), count=9
        )
        == []
    )
    state.write_relaxed_now(_delayed, **late, left=0)
    found = state.read_now(releases.of_person, person=ann.id, key=kept)
    assert found is not None
    assert abs(found.made_at - found.leaves_at) < 100


def test_a_release_of_before_stays_where_asking_again_is_late(state: StateStore) -> None:
    ann = member(state, "twice-ann")
    _, _, kept = ended(state, ann, "twice-talk", left=0)
    time.sleep(0.01)
    again = job(state, ann)
    state.write_relaxed_now(
        jobs.end, job=again.id, phase=JobPhase.FINISHED, leaves_in=0, release_id=kept
    )
    assert state.write_relaxed_now(jobs.delay, job=again.id, leaves_in=60_000)
    assert state.read_now(releases.of_person, person=ann.id, key=kept) is not None


def test_giving_up_is_the_overrun_of_a_job_whenever_it_ends(state: StateStore) -> None:
    ann = member(state, "gone-ann")
    prepared, outcome, _ = ended(state, ann, "gone-talk", left=0.2)
    key = prepared.job.id
    state.write_relaxed_now(jobs.cancel, job=key)
    state.write_relaxed_now(overruns.add, person=ann.id, job=key, level=0)
    late: dict[str, Any] = {"job": prepared.job, "opened": outcome.opened, "level": 2}
    state.write_relaxed_now(_delayed, **late, left=0)
    gone = JobOutcome(JobPhase.FAILED)
    wanted, _ = state.write_relaxed_now(_ended, prepared=prepared, outcome=gone, level=1, left=0)
    assert not wanted
    time.sleep(0.3)
    assert state.read_now(overruns.lately, person=ann.id) == 1
    listed = state.read_now(overruns.list_overruns, before=cursor_from(None), count=200)
    assert [each.level for each in listed if each.job_id == key] == [0]


def test_what_was_begun_and_failed_is_taken_back(state: StateStore) -> None:
    def half(connection: Connection) -> None:
        people.add(connection, name="half-ann", role=PersonRole.ANALYST)
        raise DiscreetError(code="x", expectation="x", remedy="x")

    with pytest.raises(DiscreetError):
        state.write_now(half)
    assert state.read_now(people.by_name, "half-ann") is None


def test_the_clock_is_the_databases(state: StateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state.read_now(at)
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert state.read_now(at) >= before > 1_600_000_000_000
