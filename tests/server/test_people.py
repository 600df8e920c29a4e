"""People, and coming in: tokens, links, passwords, browser logins; guessing, forging, leaving."""

import httpx
import pytest

from discreet.server.identity import passwords
from discreet.server.identity.tokens import is_token
from discreet.server.rights import PersonRole
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")
PASSWORD = "four words are enough"


def added(running_service: RunningService, name: str, role: str = "analyst") -> str:
    """Somebody new; the secret of their one-time link."""
    reply = running_service.owner.post("people", {"name": name, "role": role})
    assert reply.status_code == 201, reply.text
    return str(reply.json()["link"])


def browser(running_service: RunningService) -> httpx.Client:
    return httpx.Client(base_url=running_service.address, timeout=60)


def test_a_link_sets_a_password_once_and_a_browser_is_logged_in(
    running_service: RunningService,
) -> None:
    link = added(running_service, "linda")
    with browser(running_service) as visitor:
        short = visitor.post(f"/api/v1/links/{link}", json={"password": "short"})
        assert short.json()["code"] == "password_length"
        entered = visitor.post(f"/api/v1/links/{link}", json={"password": PASSWORD})
        assert entered.json()["name"] == "linda"
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert visitor.get("/api/v1/me").json()["role"] == "analyst"
    with browser(running_service) as other:
        again = other.post(f"/api/v1/links/{link}", json={"password": PASSWORD})
        assert (again.status_code, again.json()["code"]) == (401, "not_let_in")
        assert other.get("/api/v1/me").status_code == 401


def test_a_password_lets_in_and_a_wrong_one_looks_like_an_unknown_name(
    running_service: RunningService,
) -> None:
    link = added(running_service, "paula")
    with browser(running_service) as visitor:
        visitor.post(f"/api/v1/links/{link}", json={"password": PASSWORD})
        told = visitor.post("/api/v1/login", json={"name": "paula", "password": PASSWORD})
        assert told.status_code == 200
        wrong = visitor.post("/api/v1/login", json={"name": "paula", "password": "x" * 20})
        nobody = visitor.post("/api/v1/login", json={"name": "nobody", "password": "x" * 20})
        assert wrong.status_code == nobody.status_code == 401
        assert wrong.json() == nobody.json()


def test_a_changing_request_of_a_browser_needs_the_logins_own_token(
    running_service: RunningService,
) -> None:
    link = added(running_service, "carla")
    with browser(running_service) as visitor:
        csrf = visitor.post(f"/api/v1/links/{link}", json={"password": PASSWORD}).json()["csrf"]
        body = {"label": "notebook"}
        for headers in ({}, {"X-CSRF-Token": "0" * 64}):
            forged = visitor.post("/api/v1/tokens", json=body, headers=headers)
            assert (forged.status_code, forged.json()["code"]) == (403, "forged_request")
        assert visitor.get("/api/v1/session").json()["csrf"] == csrf
        made = visitor.post("/api/v1/tokens", json=body, headers={"X-CSRF-Token": csrf})
        assert made.status_code == 201
        assert visitor.post("/api/v1/logout").status_code == 403
        assert visitor.post("/api/v1/logout", headers={"X-CSRF-Token": csrf}).status_code == 204
        assert visitor.get("/api/v1/me").status_code == 401


def test_attempts_are_limited_for_a_name_whether_or_not_anybody_has_it(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "discreet.server.services.authentication.matches", lambda *_: False
    )  # slow as it is
    added(running_service, "greta")
    with browser(running_service) as visitor:
        for name in ("greta", "no-greta"):
            body = {"name": name, "password": "a wrong password"}
            codes = [visitor.post("/api/v1/login", json=body).status_code for _ in range(22)]
            assert codes[:20] == [401] * 20
            assert codes[20:] == [429] * 2
        refused = visitor.post("/api/v1/login", json=body)
        assert int(refused.headers["retry-after"]) > 0


def test_a_token_is_shown_once_rotated_and_revoked(running_service: RunningService) -> None:
    ann = running_service.person()
    (own,) = ann.get("tokens").json()["items"]
    assert "token" not in own
    made = ann.post("tokens", {"label": "new", "replaces": own["id"], "overlap": 3600}).json()
    assert is_token(made["token"])
    assert ann.get("me").status_code == 200, "the old one goes on for the overlap"
    new = ApiUser(running_service, ann.person, made["token"])
    assert new.delete(f"tokens/{own['id']}").status_code == 204
    assert ann.get("me").status_code == 401
    assert new.get("me").status_code == 200
    at_once = new.post("tokens", {"label": "last", "replaces": made["id"]}).json()
    assert new.get("me").status_code == 401
    last = ApiUser(running_service, ann.person, at_once["token"])
    assert last.delete("tokens/unknown").json()["code"] == "token_unknown"
    for wrong in ({"label": "x", "days": 0}, {"label": " "}, {"label": "x", "overlap": 10**7}):
        assert last.post("tokens", wrong).json()["code"] == "token_terms"


def test_an_owner_ends_tokens_of_others_and_nobody_else_does(
    running_service: RunningService,
) -> None:
    owner, steward = running_service.owner, running_service.person(PersonRole.STEWARD)
    ann, bob = running_service.person(), running_service.person()
    name = ann.person.name
    second = ann.post("tokens", {"label": "notebook"}).json()
    listed = owner.get(f"people/{name}/tokens").json()["items"]
    assert {each["label"] for each in listed} == {"tests", "notebook"}
    assert not any("token" in each or "digest" in each for each in listed)
    assert bob.delete(f"people/{name}/tokens").status_code == 403
    assert steward.delete(f"people/{owner.person.name}/tokens").status_code == 403
    assert owner.delete(f"people/{bob.person.name}/tokens/{second['id']}").status_code == 404
    assert owner.delete(f"people/{name}/tokens/{second['id']}").json() == {"ended": 1}
    assert ApiUser(running_service, ann.person, second["token"]).get("me").status_code == 401
    assert ann.get("me").status_code == 200
    assert steward.delete(f"people/{name}/tokens").json() == {"ended": 1}
    assert (ann.get("me").status_code, bob.get("me").status_code) == (401, 200)
    entries = owner.get("audit-log").json()["items"][:2]
    assert {(each["by"], each["what"], each["about"]) for each in entries} == {
        (owner.person.name, "revoke token", name),
        (steward.person.name, "revoke token", name),
    }


def test_whoever_is_disabled_is_out_at_once_and_for_ever(running_service: RunningService) -> None:
    link = added(running_service, "doris")
    with browser(running_service) as visitor:
        csrf = visitor.post(f"/api/v1/links/{link}", json={"password": PASSWORD}).json()["csrf"]
        headers = {"X-CSRF-Token": csrf}
        token = visitor.post("/api/v1/tokens", json={"label": "x"}, headers=headers).json()["token"]
        assert running_service.owner.post("people/doris/disable").json()["disabled_at"] is not None
        assert visitor.get("/api/v1/me").status_code == 401
        body = {"name": "doris", "password": PASSWORD}
        assert visitor.post("/api/v1/login", json=body).status_code == 401
        bearer = {"Authorization": f"Bearer {token}"}
        reply = httpx.get(f"{running_service.address}/api/v1/me", headers=bearer, timeout=60)
        assert reply.status_code == 401
    assert running_service.owner.post("people/doris/link").json()["code"] == "person_disabled"
    taken = running_service.owner.post("people", {"name": "doris", "role": "analyst"})
    assert (taken.status_code, taken.json()["code"]) == (409, "person_exists")


def test_there_is_always_an_owner(running_service: RunningService) -> None:
    listed = running_service.owner.get("people", params={"count": 200}).json()["items"]
    for each in listed:  # other tests may have left some
        if each["role"] == "owner" and each["name"] != "olga":
            running_service.owner.post(f"people/{each['name']}/disable")
    assert running_service.owner.post("people/olga/disable").json()["code"] == "last_owner"


def test_people_are_listed_for_those_who_look_after_them(running_service: RunningService) -> None:
    listed = running_service.owner.get("people", params={"count": 200}).json()["items"]
    assert {"name", "role", "has_password"} <= set(listed[0])
    assert "olga" in {each["name"] for each in listed}
    assert running_service.person(PersonRole.AUDITOR).get("people").status_code == 200
    first = running_service.owner.get("people", params={"count": 1}).json()
    second = running_service.owner.get("people", params={"count": 1, "after": first["next"]}).json()
    assert first["items"][0]["name"] < second["items"][0]["name"]


def test_what_was_done_stands_in_the_owners_log_without_secrets(
    running_service: RunningService,
) -> None:
    link = added(running_service, "logged")
    entries = running_service.owner.get("audit-log", params={"count": 200}).json()["items"]
    assert ("add person", "logged") in {(each["what"], each["about"]) for each in entries}
    assert link not in str(entries)


def test_passwords_are_argon2_and_nobody_has_none() -> None:
    kept = passwords.hashed(PASSWORD)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert passwords.matches(kept, PASSWORD)
    assert not passwords.matches(kept, PASSWORD + "x")
    assert not passwords.matches(None, "nobody has this password, whatever it is")
    assert not passwords.matches(kept, "x" * 10_000)
    assert not passwords.matches("not a hash", PASSWORD)


def test_requests_are_limited_for_each_person(running_service: RunningService) -> None:
    settings = running_service.service.runtime.settings
    ann, bob = running_service.analyst(), running_service.analyst()
    before = settings.per_minute
    settings.__dict__["per_minute"] = 3
    try:
        codes = [ann.post("previews", {"sql": "x"}).status_code for _ in range(8)]
        assert 429 in codes
        assert bob.post("previews", {"sql": "x"}).status_code != 429
    finally:
        settings.__dict__["per_minute"] = before
