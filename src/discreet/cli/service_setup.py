"""What ``discreet serve`` does before anybody comes: the demonstration, and a welcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.cli import display
from discreet.cli.demo import PROJECT
from discreet.cli.invented import PATIENTS, VISITS, write_visits
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.curator.project import Project
from discreet.release.guarantee import guarantee_text
from discreet.server.record import ASKED, ProjectRecord
from discreet.server.rights import PersonRole
from discreet.server.service import Service
from discreet.server.services.people import add_person, issue_link, issue_token
from discreet.server.settings import ServiceSettings, SQLiteState
from discreet.server.state import grants, people, tokens
from discreet.server.state.audit_log import COMMAND_LINE
from discreet.server.state.listening import listened_at
from discreet.server.state.people import Member
from discreet.server.state.store import StateStore

_DEMO = """
[service]
quantum = 0.5  # seconds after which answers leave; "off" would tell how long they took
step = 2  # later ones at 1, 2, 4 ... seconds; 8, the usual, tells less and delays them more

[service.wire]
port = 0  # any port that is free, for psql and its like

[record]
decision_makers = "the board"
data_users = "two analysts"
data_subjects = "patients"
impacted = "patients to come"
privacy_boundary = "this machine; its owner sees the raw rows"
purpose = "to show the service on invented visits"
unit = "a patient, with all visits"
data_window = "the year 2024, which is invented"
attack_model = "analysts who compare answers, and know everything but one patient"
environment = "this machine, for as long as the demonstration runs"
accuracy = "counts of wards within a hundred"
epsilon_set_by = "whoever wrote the demonstration"
epsilon_reason = "nobody is exposed, since nobody exists"
maintained_by = "you"
review_date = 2099-12-31
failure_plan = "stop it and start it again; nothing is lost"
residual_harms = "none: the patients are invented"
"""


def demo_project(folder: Path) -> Path:
    """An invented hospital in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    write_visits(folder / "visits.parquet")
    place = folder / "discreet.toml"
    place.write_text(PROJECT + _DEMO, encoding="utf-8")
    return place


async def introduced(service: Service, address: str) -> None:
    """An owner, two analysts with budgets, and a link for each of them."""
    owner = await _added(service, "olga", PersonRole.OWNER)
    ann = await _added(service, "ann", PersonRole.ANALYST)
    bob = await _added(service, "bob", PersonRole.ANALYST)
    share = ApproxDP(epsilon=1, delta=1e-7)
    await service.budgets.grant(owner, name="ann", purpose="planning of beds", budget=share)
    await service.budgets.grant(owner, name="bob", purpose="research on costs", budget=share)
    display.lines(
        f"An INVENTED hospital: {VISITS:,} visits of up to {PATIENTS:,} patients, in\n"
        f"  {service.runtime.place.parent}\n"
        f"Listening on {address}. One-time links, each for one person:"
    )
    for person in (owner, ann, bob):
        link = await service.runtime.state.write(issue_link, by="setup", person=person)
        display.lines(f"  {person.name} ({person.role.value})  {address}/enter/{link}")
    token = await service.runtime.state.write(issue_token, person=ann, label="demonstration")
    display.lines(
        "Or from a shell, as ann:\n"
        f"  curl {address}/api/v1/questions -H 'Authorization: Bearer {token.token}' \\\n"
        "    -H 'Content-Type: application/json' \\\n"
        '    -d \'{"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", '
        '"epsilon": 0.1}\''
    )
    display.lines(
        "Or with psql:\n"
        f"  psql 'host=127.0.0.1 port={service.wire_port} user=ann password={token.token}' \\\n"
        '    -c "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.1) ward, COUNT(*) AS n '
        'FROM visits GROUP BY ward"'
    )


async def welcomed(service: Service, address: str) -> None:
    """Where it listens; and where nobody is there yet, who comes first."""
    display.lines(f"Listening on {address}.")
    if service.wire_port is not None:
        display.lines(f"For psql and its like: port {service.wire_port}.")
    if await service.runtime.state.read(people.owners) == 0:
        display.note("There is no owner yet: discreet service people add NAME --role owner")
    overdue = service.runtime.record.overdue(datetime.now(UTC).date())
    if overdue is not None:
        display.note(
            f"The record was to be looked at again by {overdue}: nothing is published until "
            f"review_date in {service.runtime.place.name} says a later day."
        )
    if service.runtime.record.missing:
        display.note(record_gaps(service.runtime.record, service.runtime.place))


def record_gaps(record: ProjectRecord, place: Path) -> str:
    """What is still to be written into the record, each with what it is to say."""
    gaps = "\n".join(f"  {name}: {ASKED[name]}" for name in record.missing)
    return (
        f"Nothing is released until [record] in {place.name} says, in a sentence each:\n{gaps}\n"
        "Then start the service again."
    )


async def _added(service: Service, name: str, role: PersonRole) -> Member:
    return await service.runtime.state.write(add_person, by="setup", name=name, role=role)


def require_role(text: str) -> PersonRole:
    """A role by its name."""
    try:
        return PersonRole(text)
    except ValueError:
        raise InvalidParameter(
            code="role_unknown",
            expectation=f"one of {', '.join(PersonRole)}",
            received=text,
            remedy="Pass --role analyst.",
        ) from None


@contextmanager
def state_of(project: Path) -> Iterator[StateStore]:
    """The state of a project's service, closed at the end."""
    state = StateStore(ServiceSettings.of(Project.read(project), project).state)
    try:
        yield state
    finally:
        state.close()


def address_of(project: Path) -> str:
    """Where people reach the service: as the project file says, or where it last listened."""
    settings = ServiceSettings.of(Project.read(project), project)
    if settings.address is not None:
        return settings.address
    with state_of(project) as state:
        found = state.read_now(listened_at)
    return found or f"http://127.0.0.1:{settings.port}"


def has_state(project: Path) -> bool:
    """Whether a state was begun: to open one in a file would begin it."""
    place = ServiceSettings.of(Project.read(project), project).state
    return not isinstance(place, SQLiteState) or place.path.exists()


def everybody(project: Path) -> list[dict[str, Any]]:
    """Everybody with their budgets, for the owner at the machine."""
    with state_of(project) as state:
        found = state.read_now(people.list_people, after="", count=10_000)
        granted = {each.id: state.read_now(grants.of_person, each.id) for each in found}
    return [
        {
            "name": each.name,
            "role": each.role.value,
            "state": "out" if each.disabled_at is not None else "in",
            "grants": [
                {
                    "purpose": grant.purpose,
                    "budget": guarantee_text(grant.budget),
                    "account": grant.account,
                }
                for grant in granted[each.id]
            ],
        }
        for each in found
    ]


def tokens_of(project: Path, name: str) -> list[dict[str, str]]:
    """Somebody's valid tokens, as a table has them."""
    with state_of(project) as state:
        person = state.read_now(people.require, name)
        found = state.read_now(tokens.list_tokens, person=person.id)
    return [
        {"id": each.id, "label": each.label, "made": _day(each.created_at)}
        | {"ends": _day(each.expires_at)}
        for each in found
    ]


def _day(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"


async def granted(project: Path, name: str, purpose: str, budget: Guarantee) -> None:
    """Set a budget aside; the first owner answers for it, the log names the command line."""
    service = Service(project)
    try:
        owner = await service.runtime.state.read(people.first_owner)
        await service.budgets.grant(
            owner, name=name, purpose=purpose, budget=budget, by=COMMAND_LINE
        )
    finally:
        await service.runtime.close()
