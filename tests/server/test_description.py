"""The description of the API, and requests made from it by schemathesis: no server error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import pytest
from hypothesis import HealthCheck, Phase

from discreet.core.guarantee import PureDP
from tests.server.running_service import ApiUser, RunningService, running

pytestmark = pytest.mark.xdist_group("server")
EACH = 60
"""Requests to each route, for each kind of caller."""


def test_every_route_says_who_may_call_it_and_what_a_refusal_is(
    running_service: RunningService,
) -> None:
    told = httpx.get(f"{running_service.address}/openapi.json", timeout=60).json()
    routes = [each for methods in told["paths"].values() for each in methods.values()]
    assert all("4XX" in each["responses"] and "422" not in each["responses"] for each in routes)
    open_to_all = {path for path, each in told["paths"].items() if not any_guarded(each)}
    assert open_to_all == {
        "/health",
        "/ready",
        "/api/v1/login",
        "/api/v1/links/{secret}",
        "/api/v1/logout",
        "/api/v1/session",
        "/api/v1/login/issuer",
        "/api/v1/login/issuer/return",
    }


def any_guarded(methods: dict[str, Any]) -> bool:
    return any(each["security"] for each in methods.values())


@pytest.mark.parametrize("after", ["¹", "-1", "1e3", "9" * 19, "x"])
@pytest.mark.parametrize("path", ["ledger/entries", "budget/charges", "audit-log"])
def test_a_place_that_no_page_gave_is_refused(
    running_service: RunningService, path: str, after: str
) -> None:
    reply = running_service.owner.get(path, params={"after": after})
    assert (reply.status_code, reply.json()["code"]) == (400, "page_cursor")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service of its own: what is made up may add people, grants and rounds."""
    with running(tmp_path_factory.mktemp("fuzzed")) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("caller", ["owner", "analyst", "nobody"])
def test_no_request_made_from_the_description_is_a_server_error(
    fuzzed: RunningService, caller: str
) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks as conformance

    checks = [
        not_a_server_error,
        conformance.status_code_conformance,
        conformance.content_type_conformance,
        conformance.response_schema_conformance,
    ]
    user: ApiUser | None = fuzzed.owner if caller == "owner" else None
    if caller == "analyst":
        user = fuzzed.analyst(PureDP(epsilon=5))
    if user is fuzzed.owner:
        fuzzed.grant(user, PureDP(epsilon=5))
    headers = {} if user is None else {"Authorization": f"Bearer {user.token}"}
    schema = schemathesis.openapi.from_url(f"{fuzzed.address}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    asked = 0
    for operation in operations:

        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(
            max_examples=EACH,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        def held(case: Any) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate(headers=headers, checks=checks)

        held()
    assert asked > 20 * len(operations)
    assert fuzzed.analyst().ask().status_code == 200, "and it goes on"
