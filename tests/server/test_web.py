"""Pages: who sees which, what a forged request does, and what nobody sees of another."""

import re
from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute

from discreet.core.guarantee import PureDP
from discreet.server.rights import Action, PersonRole, may
from discreet.server.web.routes import PAGES
from tests.server.running_service import RunningService
from tests.server.web_user import PASSWORD, Page, Stranger, WebUser

pytestmark = pytest.mark.xdist_group("server")

OPEN = {"/static/{name}", "/login", "/enter/{secret}", "/{path:path}"}
GROUPED = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
Everybody = dict[PersonRole, WebUser]


def routes() -> Iterator[tuple[str, str, Action | None]]:
    for route in (each for part in PAGES for each in part.routes):
        assert isinstance(route, APIRoute)
        actions = [
            each.call.action  # type: ignore[union-attr]
            for each in route.dependant.dependencies
            if hasattr(each.call, "action")
        ]
        assert len(actions) <= 1, route.path
        for method in sorted(route.methods or ()):
            yield method, route.path, actions[0] if actions else None


@pytest.fixture(scope="module")
def everybody(running_service: RunningService) -> Everybody:
    made = {}
    for role in PersonRole:
        user = running_service.person(role, name=f"web-{role.value}")
        if role in (PersonRole.OWNER, PersonRole.ANALYST):
            running_service.grant(user, PureDP(epsilon=5), f"purpose of {role.value}")
        made[role] = WebUser(running_service, user.person.name)
    return made


@pytest.fixture(scope="module")
def ann(everybody: Everybody) -> WebUser:
    return everybody[PersonRole.ANALYST]


@pytest.fixture(scope="module")
def owner(everybody: Everybody) -> WebUser:
    return everybody[PersonRole.OWNER]


@pytest.fixture(scope="module")
def release(ann: WebUser) -> str:
    """The address of a release of ann's."""
    reply = ann.send("/ask", {"sql": GROUPED, "epsilon": "0.25", "pay": "price"})
    assert reply.status_code == 303, reply.text
    address: str = reply.headers["location"]
    assert address.startswith("/releases/")
    return address


def test_every_page_names_its_action() -> None:
    assert {path for _, path, action in routes() if action is None} == OPEN


def test_every_page_is_for_those_who_may_and_says_what_every_page_must(
    everybody: Everybody, release: str
) -> None:
    seen = 0
    for method, path, action in routes():
        if action is None or method != "GET" or "{" in path:
            continue
        for role, user in everybody.items():
            reply = user.http.get(path, follow_redirects=True)
            assert (reply.status_code == 200) is may(role, action), (path, role, reply.text)
            if reply.status_code == 200 and reply.text.startswith("<!doctype"):
                assert Page(reply.text).faults() == [], path
                seen += 1
            elif reply.status_code != 200:
                assert "not_allowed" in reply.text
    assert seen > 30


def test_nothing_is_done_for_who_may_not_nor_without_the_login_s_own_token(
    everybody: Everybody,
) -> None:
    for method, path, action in routes():
        if action is None or method != "POST" or path == "/logout":
            continue
        place = re.sub(r"\{\w+\}", "0" * 32, path)
        for role, user in everybody.items():
            forged = user.http.post(place, data={"name": "x"})
            assert (forged.status_code, "forged_request" in forged.text) == (403, True), path
            wrong = user.http.post(place, data={"csrf": "0" * 64})
            assert wrong.status_code == 403
            if not may(role, action):
                refused = user.send(place)
                assert (refused.status_code, "not_allowed" in refused.text) == (403, True), path


def test_strangers_are_sent_to_the_door_and_find_nothing(running_service: RunningService) -> None:
    stranger = Stranger(running_service).http
    for method, path, action in routes():
        place = re.sub(r"\{\w+\}", "0" * 32, path)
        if action is not None and method == "GET":
            reply = stranger.get(place)
            assert reply.status_code == 303
            assert reply.headers["location"].startswith("/login"), path
        elif action is not None:
            assert stranger.post(place, data={}).status_code == 401
    with_token = {"Authorization": f"Bearer {running_service.owner.token}"}
    assert stranger.get("/budget", headers=with_token).status_code == 303, "tokens are for the API"
    lost = stranger.get("/nowhere", headers={"Accept": "text/html"})
    assert (lost.status_code, Page(lost.text).faults()) == (404, [])
    assert stranger.get("/static/style.css").headers["cache-control"] == "max-age=300"
    assert stranger.get("/static/..%2frendering.py").status_code == 404


def test_logging_in_and_out(running_service: RunningService, ann: WebUser) -> None:
    browser = Stranger(running_service).http
    assert Page(browser.get("/login").text).faults() == []
    wrong = browser.post("/login", data={"name": ann.name, "password": "not that one"})
    assert (wrong.status_code, "not_let_in" in wrong.text) == (401, True)
    nobody = browser.post("/login", data={"name": "nobody-here", "password": "not that one"})
    told = [re.sub(r'value="[^"]*"', "", reply.text) for reply in (wrong, nobody)]
    assert told[0] == told[1], "whether there is such a person is not told"
    right = {"name": ann.name, "password": PASSWORD}
    elsewhere = browser.post("/login", data={**right, "next": "//else.example/"})
    assert elsewhere.headers["location"] == "/"
    inside = browser.post("/login", data={**right, "next": "/history"})
    assert (inside.status_code, inside.headers["location"]) == (303, "/history")
    cookie = inside.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    csrf = Page(browser.get("/account").text).csrf
    assert browser.post("/logout", data={}).status_code == 403
    assert browser.post("/logout", data={"csrf": csrf}).headers["location"] == "/login"
    assert browser.get("/account").status_code == 303


def test_another_site_cannot_log_a_browser_in(
    running_service: RunningService, ann: WebUser
) -> None:
    right = {"name": ann.name, "password": PASSWORD}
    for site in ("cross-site", "same-site"):
        browser = Stranger(running_service).http
        forged = browser.post("/login", data=right, headers={"Sec-Fetch-Site": site})
        assert (forged.status_code, "set-cookie" in forged.headers) == (403, False)


def test_a_link_lets_in_once_and_a_short_password_does_not_use_it_up(
    running_service: RunningService,
) -> None:
    user = running_service.person()
    secret = running_service.call(
        running_service.service.people.new_link(running_service.owner.person, user.person.name)
    )
    browser = Stranger(running_service).http
    welcome = Page(browser.get(f"/enter/{secret}").text)
    assert user.person.name in welcome.text
    assert welcome.faults() == []
    short = browser.post(f"/enter/{secret}", data={"password": "short"})
    assert (short.status_code, "password_length" in short.text) == (400, True)
    assert browser.post(f"/enter/{secret}", data={"password": PASSWORD}).status_code == 303
    other = Stranger(running_service).http
    assert other.post(f"/enter/{secret}", data={"password": PASSWORD}).status_code == 401
    gone = other.get(f"/enter/{secret}")
    assert (gone.status_code, "ask a steward for a new link" in gone.text) == (401, True)


def test_the_preview_tells_the_error_of_every_column_and_moves_with_epsilon(ann: WebUser) -> None:
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
    widths = []
    for epsilon in ("0.1", "1"):
        part = ann.send("/ask/preview", {"sql": sql, "epsilon": epsilon, "pay": "price"})
        assert part.status_code == 200
        page = Page(part.text)
        assert "n± " in page.text
        assert re.search(r"± [\d.]+ at 1,000 values, typically ± [\d.]+", page.text)
        assert f"ε {epsilon}" in page.text
        found = re.search(r"± (\d+)", page.text)
        assert found
        widths.append(int(found[1]))
    assert widths[0] > 5 * widths[1]
    accurate = {"sql": GROUPED, "pay": "accuracy", "within": "20", "epsilon": "9"}
    assert "Price ε" in Page(ann.send("/ask/preview", accurate).text).text
    whole = ann.send("/ask/look", {"sql": sql, "epsilon": "0.1", "pay": "price"})
    assert Page(whole.text).faults() == [], "without scripts it is a page of its own"


def test_a_mistake_stands_under_its_word(ann: WebUser) -> None:
    sql = "SELECT ward,\r\n  COUNT(*) AS n\r\nFROM vizits GROUP BY ward"
    part = ann.send("/ask/preview", {"sql": sql, "epsilon": "0.1"}).text
    assert "FROM <mark>vizits</mark> GROUP BY ward" in part
    start = sql.replace("\r\n", "\n").index("vizits")
    assert f'data-start="{start}" data-end="{start + 6}"' in part
    asked = ann.send("/ask", {"sql": sql, "epsilon": "0.1"})
    assert (asked.status_code, "<mark>vizits</mark>" in asked.text) == (400, True)
    assert Page(asked.text).faults() == []


def test_what_is_written_stays_and_never_becomes_a_part_of_the_page(ann: WebUser) -> None:
    hostile = "SELECT '<script>alert(1)</script>' AS \"<b>\" FROM visits"
    for path in ("/ask", "/ask/preview", "/ask/look"):
        reply = ann.send(path, {"sql": hostile, "epsilon": "<i>", "within": '"><img src=x>'})
        assert "<script>alert" not in reply.text
        assert "<img" not in reply.text
        assert "<i>" not in reply.text
        assert "form_number" in reply.text


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"sql=%ff", b"sql=a%00b", b"&".join(b"a%d=1" % n for n in range(500))]
)
def test_what_is_no_form_is_refused(ann: WebUser, body: bytes) -> None:
    reply = ann.http.post("/ask", content=body)
    assert (reply.status_code, "form_misread" in reply.text) == (400, True)


FIELDS = (
    *("name", "role", "email", "purpose", "epsilon", "delta", "rho", "reason", "title", "releases"),
    *("sql", "account", "confidence", "rows_at_least", "pay", "within", "unit", "where", "by"),
    *("questions", "about", "label", "days", "replaces", "token", "checkpoint", "analysts"),
    *("queries_each", "ways", "protects", "promise_epsilon", "promise_delta", "closes"),
)
ODD = (
    "",
    "nan",
    "-inf",
    "1e999",
    "-1",
    "9" * 400,
    "\x00",
    "a\x00b",
    "\ud800",
    "'\"><b>",
    "=;=,",
    "../..",
)


@pytest.mark.parametrize("odd", ODD, ids=[repr(each)[:9] for each in ODD])
def test_no_form_and_no_address_makes_a_page_fail(owner: WebUser, odd: str) -> None:
    fields = dict.fromkeys(FIELDS, odd.encode("utf-8", "surrogatepass"))
    for method, path, action in routes():
        if action is None or path in ("/logout", "/ledger/verification"):
            continue
        place = re.sub(r"\{\w+\}", "0" * 32, path)
        if method == "POST":
            for sent in (fields, {**fields, "sql": GROUPED, "epsilon": "0.01"}):
                reply = owner.http.post(place, data={"csrf": owner.csrf, **sent})
                assert reply.status_code < 500, (path, reply.text)
        elif "\ud800" not in odd:
            reply = owner.http.get(place, params=dict.fromkeys(("after", "name", *FIELDS), odd))
            assert reply.status_code < 500, (path, reply.text)


def test_a_release_has_table_picture_statement_and_files(ann: WebUser, release: str) -> None:
    page = ann.page(release)
    assert page.faults() == []
    for words in ("95 % interval", "medicine", "Paid epsilon 0.25", "PRIVACY STATEMENT"):
        assert words in page.text
    assert len(page.all("rect")) == 3
    files = [link for link in page.links() if link.startswith("/api/")]
    assert len(files) == 4
    for link in files:
        reply = ann.get(link)
        assert reply.status_code == 200, link
        assert reply.content
    assert release in ann.page("/releases").links()
    assert release in ann.page("/history").links()
    again = ann.send("/ask", {"sql": GROUPED, "epsilon": "0.25", "pay": "price"})
    same = f"{release}?said=again"
    assert again.headers["location"] == same, "the same question is the same release"
    assert "free of charge" in ann.page(same).text
    assert "Limit: " in ann.page(release).text, "what the intervals do not cover"


def test_no_page_shows_one_analyst_anything_of_another(
    running_service: RunningService, ann: WebUser, release: str, owner: WebUser
) -> None:
    bob_user = running_service.person(name="web-bob-apart")
    grant = running_service.grant(bob_user, PureDP(epsilon=1), "purpose-of-bob-alone")
    bob = WebUser(running_service, bob_user.person.name)
    marker = "SELECT COUNT(*) AS marker_of_bob FROM visits"
    his = bob.send("/ask", {"sql": marker, "epsilon": "0.125"}).headers["location"]
    assert his.startswith("/releases/")
    foreign = [bob.name, "purpose-of-bob-alone", "marker_of_bob", his, grant.account]
    pages = [path for method, path, _ in routes() if method == "GET" and "{" not in path]
    for path in pages:
        reply = ann.http.get(path, follow_redirects=True)
        assert [each for each in foreign if each in reply.text] == [], path
        if reply.status_code == 200 and path == "/account":
            assert "purpose of analyst" in reply.text
    for path in (his, f"/jobs/{his.split('/')[-1]}"):
        assert ann.get(path).status_code == 404
    assert bob.get(release).status_code == 404
    seen = owner.page("/budget").text
    assert "purpose-of-bob-alone" in seen, "the owner sees whose budget it is"
    assert bob.name in seen

    made = owner.done("/published", {"title": "One of bob's", "releases": his.split("/")[-1]})
    assert "Published" in made.text
    shown = ann.page(his)
    assert "marker_of_bob" in shown.text, "what is published is for everybody"
    assert bob.name not in shown.text
    assert "Made 20" not in shown.text, "not when it was asked for"
    assert his in [
        link
        for each in ann.page("/published").links()
        if "/published/" in each
        for link in ann.page(each).links()
    ]
