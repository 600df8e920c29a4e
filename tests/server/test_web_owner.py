"""Pages of owners and stewards, as forms: people, budgets, approvals, the ledger, rounds."""

import re
from collections.abc import Iterator

import pytest

from discreet.core.guarantee import ApproxDP
from discreet.server.rights import PersonRole
from tests.server.running_service import SERVICE, RunningService, running
from tests.server.web_user import Page, WebUser

pytestmark = pytest.mark.xdist_group("server")

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    approval = "[service.approval]\nepsilon = 40.0\ndelta = 1e-4\n"
    with running(tmp_path_factory.mktemp("pages"), service=SERVICE + approval) as made:
        yield made


@pytest.fixture(scope="module")
def owner(place: RunningService) -> WebUser:
    return WebUser(place, place.owner.person.name)


@pytest.fixture(scope="module")
def ann(place: RunningService, owner: WebUser) -> WebUser:
    """Added, granted and let in by nothing but pages."""
    added = owner.send("/people", {"name": "ann", "role": "analyst"})
    assert added.status_code == 200, added.text
    link = re.search(r"http://[\d.:]+(/enter/[0-9a-f]+)", added.text)
    assert link
    assert Page(added.text).faults() == []
    assert link[1] not in owner.page("/people").html, "it is shown once"
    terms = {"name": "ann", "purpose": "beds", "epsilon": "200", "delta": "1e-4"}
    assert "set aside" in owner.done("/grants", terms).text
    return WebUser(place, "ann", link[1])


def test_the_budget_burns_down_by_purpose_and_person(owner: WebUser, ann: WebUser) -> None:
    ann.done("/ask", {"sql": COUNT, "epsilon": "30"})
    page = owner.page("/budget")
    assert page.faults() == []
    told = [each["aria-label"] for each in page.all("svg")]
    assert "beds: 170 of 200 left after 1 charges." in told
    assert "ann: 170 of 200 left after 1 charges." in told
    assert "ε 4800, δ 0.0009" in page.text, "what is free to be granted"


def test_a_mistake_in_a_form_leaves_what_was_written(owner: WebUser) -> None:
    terms = {"name": "nobody-at-all", "purpose": "a purpose kept", "epsilon": "1"}
    reply = owner.send("/grants", terms)
    assert (reply.status_code, "person_unknown" in reply.text) == (404, True)
    assert "a purpose kept" in reply.text
    much = owner.send("/grants", {**terms, "name": "olga", "epsilon": "1e9"})
    assert (much.status_code, "budget_exhausted" in much.text) == (409, True)


def test_an_expensive_question_waits_and_is_agreed_to_or_not(owner: WebUser, ann: WebUser) -> None:
    waiting = ann.done("/ask", {"sql": COUNT, "epsilon": "50"})
    assert "waits for the owner or a steward" in waiting.text
    assert "50" in waiting.text
    page = owner.page("/approvals")
    assert (page.faults(), "ann" in page.text, COUNT in page.text) == ([], True, True)
    assert re.search(r"Price ε 50 of ε [\d.]+.* that ann has left in this grant", page.text)
    key = page.id_of(r"/approvals/(\w+)/agree")
    declined = owner.done(f"/approvals/{key}/decline", {"reason": "too much for a count"})
    assert "nothing was charged" in declined.text
    assert "too much for a count" in ann.page("/history").html or any(
        "too much for a count" in ann.page(link).text
        for link in ann.page("/history").links()
        if link.startswith("/jobs/")
    )
    ann.done("/ask", {"sql": COUNT, "epsilon": "51"})
    key = owner.page("/approvals").id_of(r"/approvals/(\w+)/agree")
    assert "being asked" in owner.done(f"/approvals/{key}/agree", {"reason": ""}).text


def test_the_ledger_is_shown_and_verified(owner: WebUser, ann: WebUser) -> None:
    page = owner.page("/ledger")
    assert page.faults() == []
    assert "granted" in page.text
    verified = Page(owner.send("/ledger/verification", {"checkpoint": ""}).text)
    found = re.search(r"\d+:[0-9a-f]{64}", verified.text)
    assert found
    again = owner.send("/ledger/verification", {"checkpoint": found[0]})
    assert "the checkpoint that you kept is there" in Page(again.text).text
    other = found[0][:-4] + "0000"
    refused = owner.send("/ledger/verification", {"checkpoint": other})
    assert refused.status_code >= 400
    assert "Verified" not in refused.text


def test_an_amendment_is_signed_with_its_reason(owner: WebUser) -> None:
    empty = owner.send("/budget/amendments", {"epsilon": "1100", "delta": "1e-3", "reason": ""})
    assert empty.status_code >= 400, "no reason, no change"
    terms = {"epsilon": "1100", "delta": "1e-3", "reason": "the board said so"}
    assert "Whole budgetε 1100" in owner.done("/budget/amendments", terms).text
    assert "the board said so" in owner.page("/log").text


def test_tokens_are_shown_once_and_ended(owner: WebUser, ann: WebUser) -> None:
    made = ann.send("/account/tokens", {"label": "notebook", "days": "7"})
    token = re.search(r"dsc_\w+", made.text)
    assert token
    assert token[0] not in ann.page("/account").html
    bearer = {"Authorization": f"Bearer {token[0]}"}
    me = f"{ann.http.base_url}/api/v1/me"
    assert ann.http.get(me, headers=bearer).json()["name"] == "ann"
    page = ann.page("/account")
    (key,) = [each["value"] for each in page.all("input") if each.get("name") == "replaces"][-1:]
    assert "ended" in ann.done("/account/tokens/revoke", {"token": key}).text
    refused = ann.send("/account/tokens", {"label": "", "days": "7"})
    assert (refused.status_code, "token_terms" in refused.text) == (400, True)


def test_tokens_of_somebody_end_and_the_password_stays(
    place: RunningService, owner: WebUser
) -> None:
    zoe = place.person(name="zoe")
    browser = WebUser(place, "zoe")
    assert "End tokens" in owner.page("/people").text
    assert "no program in any more" in owner.done("/people/tokens", {"name": "zoe"}).text
    assert zoe.get("me").status_code == 401
    assert browser.get("/account").status_code == 200
    assert owner.send("/people/tokens", {"name": "nobody"}).status_code == 404


def test_somebody_is_shut_out(place: RunningService, owner: WebUser) -> None:
    eve = WebUser(place, place.person(name="eve").person.name)
    assert "any more" in owner.done("/people/disable", {"name": "eve"}).text
    assert eve.get("/account").status_code == 303
    last = owner.send("/people/disable", {"name": "olga"})
    assert (last.status_code, "last_owner" in last.text) == (400, True)


def test_a_conversation_on_pages(ann: WebUser) -> None:
    terms = {
        "sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "epsilon": "30",
        "delta": "1e-6",
        "questions": "20",
        "about": "600",
    }
    reply = ann.send("/conversations", terms)
    assert reply.status_code == 303, reply.text
    page = ann.page(reply.headers["location"])
    assert (page.faults(), "It is open." in page.text) == ([], True)
    key = page.id_of(r"/conversations/(\w+)/questions")
    asked = ann.send(
        f"/conversations/{key}/questions", {"where": "ward = surgery\nward = medicine"}
    )
    assert "updates are left" in asked.text
    assert len(re.findall("<code>ward = ", asked.text)) == 2
    odd = ann.send(f"/conversations/{key}/questions", {"where": "ward surgery"})
    assert (odd.status_code, "condition_misread" in odd.text) == (400, True)
    estimate = ann.send(f"/conversations/{key}/estimate", {"by": "ward"})
    assert "The estimate as it stands" in estimate.text
    assert "closed" in ann.done(f"/conversations/{key}/close").text


def test_a_round_on_pages(place: RunningService, owner: WebUser, ann: WebUser) -> None:
    terms = {
        "sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "analysts": "ann",
        "queries_each": "2",
        "ways": "1",
        "epsilon": "5",
        "delta": "1e-6",
        "protects": "query",
        "promise_epsilon": "1",
        "promise_delta": "1e-6",
    }
    none = owner.send("/rounds", {**terms, "queries_each": ""})
    assert (none.status_code, "request_misread" in none.text) == (400, True)
    late = owner.send("/rounds", {**terms, "closes": "soon"})
    assert (late.status_code, "form_moment" in late.text) == (400, True)
    assert "It is open" in owner.done("/rounds", terms).text
    key = ann.page("/rounds").id_of(r"/rounds/(\w+)/submissions")
    kept = ann.done(f"/rounds/{key}/submissions", {"where": "ward = surgery"})
    assert "kept for the round" in kept.text
    eve = place.analyst(ApproxDP(epsilon=1, delta=1e-6))
    assert key not in WebUser(place, eve.person.name).page("/rounds").html
    assert "closed" in owner.done(f"/rounds/{key}/close").text
    share = next(link for link in ann.page("/releases").links() if "/releases/" in link)
    page = ann.page(share)
    assert (page.faults(), "Answers to your queries" in page.text) == ([], True)
    assert "children" in ann.page(f"{share}?name=ward").text


def test_the_record_and_what_is_missing_of_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("gaps")
    with running(folder, record='[record]\npurpose = "planning of beds"\n') as made:
        owner = WebUser(made, made.owner.person.name)
        record = owner.page("/record")
        assert (record.faults(), "fields are still to be written" in record.text) == ([], True)
        assert "Nothing is released yet" in owner.page("/budget").text
        assert "planning of beds" in record.text


def test_a_batch_on_a_page(ann: WebUser) -> None:
    wards = "wards:\nSELECT ward, COUNT(*) AS n\nFROM visits GROUP BY ward"
    both = f"all: SELECT COUNT(*) AS n FROM visits\n\n{wards}"
    found = ann.done("/batches", {"questions": both, "epsilon": "0.05"})
    assert "/releases/" in found.html
    assert "all" in found.text
    assert "wards" in found.text
    for wrong in ("SELECT 1", "all: SELECT 1\n\nall: SELECT 2", "all:"):
        refused = ann.send("/batches", {"questions": wrong, "epsilon": "0.05"})
        assert refused.status_code == 400
        assert "a colon before each" in refused.text
    typed = ann.send("/batches", {"questions": "a: SELECT nothing FROM visits", "epsilon": "0.05"})
    assert typed.status_code == 400
    assert "SELECT nothing FROM visits" in typed.text, "what was written is still there"


def test_a_synopsis_on_a_page_is_previewed_for_nothing_and_made(ann: WebUser) -> None:
    terms = {
        "sql": "SELECT ward, age >= 65 AS old, COUNT(*) AS n FROM visits GROUP BY ward, old",
        "ways": "2",
        "mechanism": "best",
        "epsilon": "0.1",
    }
    before = ann.page("/account").text
    ahead = ann.send("/synopses/look", terms)
    assert ahead.status_code == 200
    assert "Standard deviation" in ahead.text
    assert ann.page("/account").text == before, "a preview is free"
    made = ann.done("/synopses", terms)
    assert "ward" in made.text
    assert "old" in made.text
    refused = ann.send("/synopses/look", {**terms, "sql": "SELECT COUNT(*) AS n FROM nothing"})
    assert refused.status_code == 400


def test_the_ledger_names_who_was_granted_what_and_says_what_to_paste(owner: WebUser) -> None:
    page = owner.page("/ledger")
    assert (page.faults(), "to ann, for" in page.text) == ([], True)
    wrong = owner.send("/ledger/verification", {"checkpoint": "not a checkpoint"})
    assert "Paste the line that Verify showed you" in wrong.text
    assert "str(ledger" not in wrong.text


def test_only_the_owner_sees_how_long_answers_took(
    place: RunningService, owner: WebUser, ann: WebUser
) -> None:
    ann.done("/ask", {"sql": COUNT, "epsilon": "0.11"})
    again = ann.done("/ask", {"sql": COUNT, "epsilon": "0.11"})
    assert "asked this before" in again.text
    assert re.search(r"latest \d+ answers took [\d.e-]+ s", owner.page("/log").text)
    for role in (PersonRole.STEWARD, PersonRole.AUDITOR):
        other = WebUser(place, place.person(role).person.name)
        assert "answers took" not in other.page("/log").text
    assert "answers took" not in ann.page("/ask").text
