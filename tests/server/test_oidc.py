"""Logging in at a real issuer, which the test starts; and issuers that lie."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.server.running_service import SERVICE, RunningService, running

oidc_provider_mock = pytest.importorskip("oidc_provider_mock")
pytestmark = [
    pytest.mark.xdist_group("server"),
    pytest.mark.filterwarnings("ignore:get_jwt_config"),  # the issuer's own, in a thread of ours
]

USERS = [
    oidc_provider_mock.User(sub="42", claims={"email": "Ann@Example.org", "email_verified": True}),
    oidc_provider_mock.User(sub="43", claims={"email": "bob@example.org"}),
    oidc_provider_mock.User(sub="44"),
]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with oidc_provider_mock.run_server_in_thread(user_claims=USERS, require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture(scope="module")
def inn(tmp_path_factory: pytest.TempPathFactory, issuer: str) -> Iterator[RunningService]:
    patch = pytest.MonkeyPatch()
    patch.setenv("DISCREET_TEST_SECRET", "hush")
    part = f'issuer = "{issuer}"\nclient_id = "discreet"\nsecret_from = "DISCREET_TEST_SECRET"\n'
    service = f"{SERVICE}\n[service.oidc]\n{part}"
    with running(tmp_path_factory.mktemp("inn"), service=service) as running_service:
        people = [
            {"name": "ann", "role": "analyst", "email": "ann@example.org"},
            {"name": "bob", "role": "analyst", "email": "bob@example.org"},
            {"name": "cid", "role": "steward", "subject": "44"},
        ]
        for person in people:
            assert running_service.owner.post("people", person).status_code == 201
        yield running_service
    patch.undo()


def come_back(running_service: RunningService, browser: httpx.Client, sub: str) -> httpx.URL:
    """Log in at the issuer as somebody; where the issuer sends the browser."""
    there = browser.get("/api/v1/login/issuer")
    assert there.status_code == 303
    asked = parse_qs(urlsplit(there.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["nonce"][0]) == 64
    form = httpx.post(there.headers["location"], data={"sub": sub}, timeout=60)
    assert form.status_code == 302, form.text
    return httpx.URL(form.headers["location"])


@contextmanager
def entered(
    running_service: RunningService, sub: str
) -> Iterator[tuple[httpx.Response, httpx.Client]]:
    with httpx.Client(base_url=running_service.address, timeout=60) as browser:
        back = come_back(running_service, browser, sub)
        yield browser.get(back.raw_path.decode()), browser


def test_a_verified_address_that_a_steward_listed_lets_in(inn: RunningService) -> None:
    with entered(inn, "42") as (page, browser):
        assert page.status_code == 200, page.text
        assert re.search("url=/", page.text)
        assert browser.get("/api/v1/me").json()["name"] == "ann"


def test_a_subject_that_a_steward_listed_lets_in_with_the_role_given_here(
    inn: RunningService,
) -> None:
    with entered(inn, "44") as (page, browser):
        assert page.status_code == 200
        assert browser.get("/api/v1/me").json()["role"] == "steward"


@pytest.mark.parametrize("sub", ["43", "nobody-listed"])
def test_an_address_that_is_not_verified_or_not_listed_lets_nobody_in(
    inn: RunningService, sub: str
) -> None:
    with entered(inn, sub) as (page, browser):
        assert (page.status_code, page.json()["code"]) == (401, "not_let_in")
        assert browser.get("/api/v1/me").status_code == 401


def test_coming_back_works_once_and_in_the_same_browser_alone(inn: RunningService) -> None:
    with httpx.Client(base_url=inn.address, timeout=60) as browser:
        back = come_back(inn, browser, "42").raw_path.decode()
        with httpx.Client(base_url=inn.address, timeout=60) as other:
            assert other.get(back).status_code == 401
        assert browser.get(back).status_code == 200
        assert browser.get(back).status_code == 401
        bad = browser.get(f"/api/v1/login/issuer/return?state={'0' * 64}&code=x")
        assert bad.status_code == 401


def test_a_code_that_the_issuer_did_not_give_lets_nobody_in(inn: RunningService) -> None:
    with httpx.Client(base_url=inn.address, timeout=60) as browser:
        back = come_back(inn, browser, "42").copy_set_param("code", "made up")
        reply = browser.get(back.raw_path.decode())
        assert (reply.status_code, reply.json()["code"]) == (502, "issuer_unavailable")


def test_an_answer_for_another_login_is_not_believed(
    inn: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.server.identity.oidc import Issuer

    honest = Issuer.identity

    async def confused(self: Issuer, *, nonce: str, **asked: str) -> object:
        return await honest(self, nonce="1" * 64, **asked)

    monkeypatch.setattr(Issuer, "identity", confused)
    with entered(inn, "42") as (page, _):
        assert page.json()["code"] == "issuer_unavailable"


@pytest.mark.parametrize(
    ("claim", "value"), [("iss", "http://evil.example"), ("aud", "another"), ("exp", 1)]
)
def test_an_answer_of_another_issuer_client_or_time_is_not_believed(
    inn: RunningService, monkeypatch: pytest.MonkeyPatch, claim: str, value: object
) -> None:
    from joserfc import jwt

    honest = jwt.decode

    def lying(*args: object, **keywords: object) -> object:
        token = honest(*args, **keywords)  # type: ignore[arg-type]
        token.claims[claim] = value
        return token

    monkeypatch.setattr("discreet.server.identity.oidc.jwt.decode", lying)
    with entered(inn, "42") as (page, _):
        assert page.json()["code"] == "issuer_unavailable"


def test_without_an_issuer_nobody_is_sent_anywhere(running_service: RunningService) -> None:
    reply = httpx.get(f"{running_service.address}/api/v1/login/issuer", timeout=60)
    assert (reply.status_code, reply.json()["code"]) == (400, "no_issuer")


def test_where_the_issuer_sends_browsers_is_not_for_a_request_to_say(inn: RunningService) -> None:
    known = inn.service.authentication._issuer
    for number in range(5):
        headers = {"Host": f"evil-{number}.org", "Cookie": "discreet_flow=x"}
        with httpx.Client(base_url=inn.address, headers=headers, timeout=60) as visitor:
            for place in ("login/issuer", "login/issuer/return?state=x"):
                reply = visitor.get(f"/api/v1/{place}")
                assert (reply.status_code, reply.json()["code"]) == (400, "no_issuer")
    with httpx.Client(base_url=inn.address, timeout=60) as visitor:
        asked = parse_qs(urlsplit(visitor.get("/api/v1/login/issuer").headers["location"]).query)
        assert asked["redirect_uri"] == [f"{inn.address}/api/v1/login/issuer/return"]
    assert known is None or inn.service.authentication._issuer is known, "there is one"
