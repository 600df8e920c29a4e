"""Who may do what: one table, and every route of the service held to it, for every role."""

import re
from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute

from discreet.server.api.app import ROUTERS
from discreet.server.rights import RIGHTS, Action, PersonRole, may
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")

OPEN = {  # what nobody needs a right for: it finds out who somebody is, or says nothing
    "/health",
    "/ready",
    "/api/v1/login",
    "/api/v1/links/{secret}",
    "/api/v1/logout",
    "/api/v1/session",
    "/api/v1/login/issuer",
    "/api/v1/login/issuer/return",
}


def routes() -> Iterator[tuple[str, str, Action | None]]:
    for prefix, route in [(prefix, each) for prefix, part in ROUTERS for each in part.routes]:
        assert isinstance(route, APIRoute)
        actions = [
            dependency.call.action  # type: ignore[union-attr]
            for dependency in route.dependant.dependencies
            if hasattr(dependency.call, "action")
        ]
        assert len(actions) <= 1, route.path
        for method in sorted(route.methods or ()):
            yield method, prefix + route.path, actions[0] if actions else None


@pytest.fixture(scope="module")
def everybody(running_service: RunningService) -> dict[PersonRole, ApiUser]:
    return {role: running_service.person(role) for role in PersonRole}


def test_every_action_is_in_the_table_and_somebody_may_do_it() -> None:
    assert set(RIGHTS) == set(Action)
    assert all(RIGHTS.values())


def test_nobody_but_owners_and_analysts_asks_and_no_analyst_sees_others() -> None:
    assert {role for role in PersonRole if may(role, Action.ASK)} == {"owner", "analyst"}
    own = {Action.ENTER, Action.ASK, Action.READ_PUBLISHED}
    assert {action for action in Action if may(PersonRole.ANALYST, action)} == own


def test_every_route_names_its_action() -> None:
    assert {path for _, path, action in routes() if action is None} == OPEN


def test_there_is_no_route_to_the_profile() -> None:
    assert not [path for _, path, _ in routes() if "profile" in path]


def test_every_route_is_refused_to_every_role_that_may_not(
    running_service: RunningService, everybody: dict[PersonRole, ApiUser]
) -> None:
    tried = 0
    for method, path, action in routes():
        if action is None:
            continue
        place = re.sub(r"\{form\}", "csv", path)
        place = re.sub(r"\{\w+\}", "0" * 32, place)
        for role, user in everybody.items():
            body: dict[str, str] | None = {} if method == "POST" else None
            reply = user.http.request(method, place, json=body)
            refused = reply.status_code in (401, 403)
            assert refused is not may(role, action), (method, path, role, reply.text)
            if refused:
                assert reply.json()["code"] == "not_allowed"
            tried += 1
    assert tried > 150


def test_every_route_is_refused_to_strangers(running_service: RunningService) -> None:
    stranger = ApiUser(running_service, running_service.owner.person, f"dsc_{'0' * 64}")
    for method, path, action in routes():
        if action is not None:
            reply = stranger.http.request(method, re.sub(r"\{\w+\}", "0", path), json={})
            assert (reply.status_code, reply.json()["code"]) == (401, "not_let_in"), path


def test_a_steward_makes_analysts_and_no_stewards_or_owners(
    running_service: RunningService, everybody: dict[PersonRole, ApiUser]
) -> None:
    steward = everybody[PersonRole.STEWARD]
    assert steward.post("people", {"name": "new-analyst", "role": "analyst"}).status_code == 201
    for role in ("owner", "steward"):
        assert steward.post("people", {"name": f"new-{role}", "role": role}).status_code == 403
    owner = running_service.owner.person.name
    assert steward.post(f"people/{owner}/link").status_code == 403
    assert steward.post(f"people/{owner}/disable").status_code == 403


def test_a_steward_grants_to_analysts_and_nobody_to_who_may_not_ask(
    running_service: RunningService, everybody: dict[PersonRole, ApiUser]
) -> None:
    steward, owner = everybody[PersonRole.STEWARD], running_service.owner
    other = running_service.person(PersonRole.STEWARD)
    terms = {"purpose": "beds", "epsilon": 0.25}

    def granted(by: ApiUser, to: ApiUser) -> tuple[int, str]:
        reply = by.post("grants", {"name": to.person.name, **terms})
        return reply.status_code, reply.json().get("code", "")

    assert granted(steward, running_service.person())[0] == 201
    for each in (steward, other, owner, running_service.person(PersonRole.AUDITOR)):
        assert granted(steward, each) == (403, "not_allowed"), each.person.role
    for each in (steward, everybody[PersonRole.AUDITOR]):
        assert granted(owner, each) == (403, "not_allowed"), "it could never be spent"
