"""Logging in while strangers try: what they cost, what they learn, and whom they keep out.

Strangers come from other addresses of the loopback network, which the service tells apart.
"""

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from discreet.server.api.app import ROUTERS
from discreet.server.services import authentication, login_attempts
from discreet.server.web.routes import PAGES
from tests.server.running_service import RunningService

pytestmark = pytest.mark.xdist_group("server")

PASSWORD = "four words are enough"
WRONG = "not the four words"
_ADDRESSES = count(1)


def new_address() -> str:
    """An address of the loopback network that no test has used."""
    number = next(_ADDRESSES)
    return f"127.7.{number // 250}.{number % 250 + 1}"


@contextmanager
def at(running_service: RunningService, address: str | None = None) -> Iterator[httpx.Client]:
    """A browser at an address, without a cookie."""
    transport = httpx.HTTPTransport(local_address=address or new_address())
    with httpx.Client(base_url=running_service.address, transport=transport, timeout=60) as made:
        yield made


def log_in(browser: httpx.Client, name: str, password: str = WRONG) -> httpx.Response:
    return browser.post("/api/v1/login", json={"name": name, "password": password})


def entered(running_service: RunningService, name: str, address: str) -> None:
    """Somebody new, who came in by a link at an address and went again."""
    told = running_service.owner.post("people", {"name": name, "role": "analyst"}).json()
    with at(running_service, address) as browser:
        reply = browser.post(f"/api/v1/links/{told['link']}", json={"password": PASSWORD})
        assert reply.status_code == 200


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which passwords were hashed or compared meanwhile; nothing takes the time of Argon2."""
    done: list[str] = []

    def matches(kept: str | None, password: str) -> bool:
        done.append(password)
        return kept is not None and password == PASSWORD

    def hashed(password: str) -> str:
        done.append(password)
        return "kept"

    monkeypatch.setattr(authentication, "matches", matches)
    monkeypatch.setattr(authentication, "hashed", hashed)
    return done


def seen(reply: httpx.Response) -> tuple[int, Any]:
    """All that somebody learns from a refusal, but when it may be tried again."""
    told = reply.json()
    return reply.status_code, (told["code"], told["expectation"])


# What strangers cost -----------------------------------------------------------------------------


def test_a_link_is_looked_up_before_its_password_is_hashed(
    running_service: RunningService, hashes: list[str]
) -> None:
    with at(running_service) as stranger:
        for number in range(40):
            place = f"/api/v1/links/{number:064x}" if number % 2 else f"/enter/{number:064x}"
            reply = stranger.post(place, json={"password": PASSWORD})
            assert reply.status_code == 401, reply.text
    assert hashes == []


def test_junk_links_are_counted_by_address_and_a_valid_one_is_never_refused(
    running_service: RunningService, hashes: list[str]
) -> None:
    made = running_service.owner.post("people", {"name": "lou", "role": "analyst"}).json()
    with at(running_service) as stranger:
        most = login_attempts.PER_ADDRESS
        codes = [stranger.get(f"/enter/{n:064x}").status_code for n in range(most + 3)]
        assert codes == [401] * most + [429] * 3
        with at(running_service) as other:
            assert other.get("/enter/unknown").status_code == 401
        reply = stranger.post(f"/api/v1/links/{made['link']}", json={"password": PASSWORD})
        assert reply.status_code == 200
    assert hashes == [PASSWORD]


def test_one_link_sent_many_times_at_once_is_hashed_once(
    running_service: RunningService, hashes: list[str]
) -> None:
    made = running_service.owner.post("people", {"name": "mona", "role": "analyst"}).json()

    def use(_: int) -> int:
        with at(running_service) as browser:
            body = {"password": PASSWORD}
            return browser.post(f"/api/v1/links/{made['link']}", json=body).status_code

    with ThreadPoolExecutor(12) as threads:
        codes = sorted(threads.map(use, range(12)))
    assert codes == [200] + [401] * 11
    assert hashes == [PASSWORD]


def test_a_login_at_a_known_place_does_not_wait_for_strangers(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty strangers' passwords take .05 s each, one after the other: a second in all."""
    home = new_address()
    entered(running_service, "nina", home)

    def matches(kept: str | None, password: str) -> bool:
        time.sleep(0.05)
        return kept is not None and password == PASSWORD

    monkeypatch.setattr(authentication, "matches", matches)

    def guess(_: int) -> int:
        with at(running_service) as stranger:
            return log_in(stranger, "nina").status_code

    with ThreadPoolExecutor(20) as threads, at(running_service, home) as browser:
        guesses = [threads.submit(guess, number) for number in range(20)]
        while not any(each.done() for each in guesses):
            time.sleep(0.01)
        assert log_in(browser, "nina", PASSWORD).status_code == 200
        waiting = sum(not each.done() for each in guesses)
        assert {each.result() for each in guesses} == {401}
    assert waiting > 5, "it did not come after all of them"


def test_one_person_with_many_browsers_has_one_turn_at_a_time(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guesses in twelve browsers of one who may come in, then at their twelve addresses alone.

    None of them ends but as many as somebody else's login in a known browser may wait for.
    """
    home, turns = new_address(), running_service.service.authentication._hashing._turns
    entered(running_service, "mallory", new_address())
    entered(running_service, "tess", home)
    gate = threading.Semaphore(0)

    def matches(kept: str | None, password: str) -> bool:
        if password == WRONG:
            gate.acquire(timeout=60)
        return kept is not None and password == PASSWORD

    def wait_for(most: int) -> None:
        end = time.monotonic() + 60
        while sum(len(users) for _, users in list(turns.values())) < most:
            assert time.monotonic() < end
            time.sleep(0.005)

    monkeypatch.setattr(authentication, "matches", matches)
    addresses = [new_address() for _ in range(12)]
    with ExitStack() as opened:
        known = [opened.enter_context(at(running_service, each)) for each in addresses]
        for browser in known:
            assert log_in(browser, "mallory", PASSWORD).status_code == 200
        bare = [opened.enter_context(at(running_service, each)) for each in addresses]
        tess = opened.enter_context(at(running_service, home))
        assert log_in(tess, "tess", PASSWORD).status_code == 200
        threads = opened.enter_context(ThreadPoolExecutor(30))
        opened.callback(gate.release, 100)  # whatever fails, nobody is left waiting
        for guessing, before_hers in ((known, 2), (bare, 0)):
            guesses = [threads.submit(log_in, each, "mallory") for each in guessing * 2]
            wait_for(24)
            hers = threads.submit(log_in, tess, "tess", PASSWORD)
            if before_hers:
                wait_for(25)
                gate.release(before_hers)
            assert hers.result(30).status_code == 200
            gate.release(24 - before_hers)
            assert {each.result().status_code for each in guesses} == {401}


# What strangers learn ----------------------------------------------------------------------------


def test_a_login_elsewhere_changes_nothing_that_an_observer_sees(
    running_service: RunningService, hashes: list[str]
) -> None:
    """The whole of what one address is told, whether or not somebody logs in meanwhile."""
    home = new_address()
    entered(running_service, "olive", home)
    entered(running_service, "petra", new_address())
    watched: dict[str, list[tuple[int, Any]]] = {}
    for name in ("olive", "petra", "nobody-has-this"):
        with at(running_service) as observer, at(running_service, home) as browser:
            watched[name] = []
            for number in range(login_attempts.PER_NAME + 4):
                if name == "olive" and number % 3 == 1:
                    assert log_in(browser, "olive", PASSWORD).status_code == 200
                watched[name].append(seen(log_in(observer, name)))
    assert watched["olive"] == watched["petra"] == watched["nobody-has-this"]
    assert [status for status, _ in watched["olive"]] == [401] * login_attempts.PER_NAME + [429] * 4


def test_a_login_at_ones_own_address_is_not_seen_there_either(
    running_service: RunningService, hashes: list[str]
) -> None:
    shared = new_address()
    entered(running_service, "quinn", shared)
    with at(running_service, shared) as observer, at(running_service, shared) as browser:
        codes = []
        for _ in range(login_attempts.PER_NAME + 1):
            codes.append(log_in(observer, "quinn").status_code)
            if len(codes) < login_attempts.PER_NAME:
                assert log_in(browser, "quinn", PASSWORD).status_code == 200
        assert codes == [401] * login_attempts.PER_NAME + [429]


# Whom strangers keep out -------------------------------------------------------------------------


def test_guessing_from_everywhere_is_bounded_and_shuts_nobody_out_at_a_known_place(
    running_service: RunningService, hashes: list[str]
) -> None:
    home, name = new_address(), "rosa"
    entered(running_service, name, home)
    with ExitStack() as opened:
        strangers = [opened.enter_context(at(running_service)) for _ in range(8)]
        told = [
            seen(log_in(stranger, name))
            for _ in range(login_attempts.PER_NAME)
            for stranger in strangers
        ]
        assert set(told) == {told[0]}, "where the bound was reached is not to be seen"
        assert len(told) > login_attempts.ELSEWHERE
        guessed = log_in(opened.enter_context(at(running_service)), name, PASSWORD)
        assert seen(guessed) == told[0], "beyond the bound not even the right one lets in"
        assert hashes[-1] == PASSWORD, "and it takes as long"
        browser = opened.enter_context(at(running_service, home))
        assert log_in(browser, name, PASSWORD).status_code == 200
        assert log_in(browser, name, PASSWORD).status_code == 200, "as often as she likes"
    link = running_service.owner.post(f"people/{name}/link").json()["link"]
    with at(running_service, moved := new_address()) as elsewhere:
        body = {"password": PASSWORD}
        assert elsewhere.post(f"/api/v1/links/{link}", json=body).status_code == 200
    with at(running_service, moved) as elsewhere:
        assert log_in(elsewhere, name, PASSWORD).status_code == 200


def test_who_shares_an_address_does_not_shut_out_a_browser_that_was_there_before(
    running_service: RunningService, hashes: list[str]
) -> None:
    shared = new_address()
    entered(running_service, "sara", shared)
    with at(running_service, shared) as browser, at(running_service, shared) as neighbour:
        assert log_in(browser, "sara", PASSWORD).status_code == 200
        for number in range(login_attempts.PER_ADDRESS + 1):
            last = log_in(neighbour, "sara" if number < 9 else f"x{number}")
        assert last.status_code == 429
        assert log_in(neighbour, "sara", PASSWORD).status_code == 429
        assert log_in(browser, "sara", PASSWORD).status_code == 200
        browser.cookies.delete("discreet_login")
        codes = [log_in(browser, "sara").status_code for _ in range(login_attempts.PER_NAME + 1)]
        assert codes == [401] * login_attempts.PER_NAME + [429], "a browser has its own limit"
        stolen = log_in(browser, "greta-who-is-unknown")
        assert stolen.status_code == 429, "and is known for nobody else"


# Every door that needs no login ------------------------------------------------------------------

OPEN = {  # what answers a stranger otherwise than by sending them to log in
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/openapi.json"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/enter/{secret}"),
    ("POST", "/enter/{secret}"),
    ("POST", "/api/v1/login"),
    ("POST", "/api/v1/links/{secret}"),
    ("GET", "/api/v1/login/issuer"),
    ("GET", "/api/v1/login/issuer/return"),
    ("GET", "/static/{name}"),
    ("GET", "/{path:path}"),
}
COMPARES = {("POST", "/login"), ("POST", "/api/v1/login")}
"""Where a password is compared, for a name that is counted, whether or not anybody has it."""
_SECONDS = 0.1
"""Of processor time for one junk request, the client's own included; Argon2 is not among it."""


def doors(app: Any) -> Iterator[tuple[str, str]]:
    """Every method and path of the service."""
    mounted = [(prefix, each) for prefix, part in ROUTERS for each in part.routes]
    mounted += [("", each) for part in PAGES for each in part.routes]
    mounted += [("", each) for each in app.routes if isinstance(each, Route)]
    for prefix, route in mounted:
        assert isinstance(route, Route | APIRoute)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, prefix + route.path


def test_every_door_without_a_login_is_listed_and_junk_there_is_cheap(
    running_service: RunningService, hashes: list[str]
) -> None:
    app = running_service._server.config.app
    found, compared, tried = set(), set(), 0
    with at(running_service) as stranger:
        for method, path in doors(app):
            place = re.sub(r"\{\w+(:path)?\}", "0" * 64, path)
            bodies: tuple[dict[str, Any], ...] = ({},)
            if method not in ("GET", "DELETE"):
                junk = {"name": "nobody", "password": WRONG}
                bodies = ({"json": junk}, {"json": {"password": WRONG}}, {"data": junk})
            for body in bodies:
                hashes.clear()
                took = 1.0
                for _ in range(3):  # what is made once is made now, and others work beside
                    before = time.process_time()
                    reply = stranger.request(method, place, **body)
                    took = min(took, time.process_time() - before)
                    if took < _SECONDS:
                        break
                tried += 1
                assert took < _SECONDS, (method, path, took)
                if hashes:
                    compared.add((method, path))
                sent = reply.headers.get("location", "").startswith("/login")
                refused = reply.status_code == 401 and not path.endswith(("{secret}", "login"))
                if not (sent or refused):
                    found.add((method, path))
    assert tried > 100
    assert compared == COMPARES
    assert found == OPEN
