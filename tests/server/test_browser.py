"""In a real browser: the first ten minutes of an analyst and of an owner, by hand and by keyboard.

Pictures of every page, wide, on a phone and in the dark, are left in the folder of the test; the
variable ``DISCREET_PICTURES`` names another.
"""

import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from discreet.core.guarantee import ApproxDP
from discreet.server.rights import PersonRole
from tests.server.browsing import PHONE, Browser, browser
from tests.server.running_service import SERVICE, RunningService, running
from tests.server.web_user import PASSWORD

pytestmark = pytest.mark.xdist_group("server")

GROUPED = "SELECT ward, COUNT(*) AS n, AVG(age) AS age\nFROM visits\nGROUP BY ward"
SETTINGS = (
    SERVICE.replace('"off"', "0.5\nstep = 2") + "[service.approval]\nepsilon = 2.0\ndelta = 1e-5\n"
)
MISSPELT = "SELECT ward, COUNT(*) AS n\nFROM vizits\nGROUP BY ward"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    named = os.environ.get("DISCREET_PICTURES")
    folder = tmp_path if named is None else Path(named)
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def wards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service of its own, with a quantum and a limit for approval, as an owner would have it."""
    with running(tmp_path_factory.mktemp("wards"), service=SETTINGS) as made:
        yield made


def come_in(page: Browser, running: RunningService, name: str) -> None:
    owner = running.owner.person
    page.open(
        f"{running.address}/enter/{running.call(running.service.people.new_link(owner, name))}"
    )
    page.write("#password", PASSWORD)
    page.press("button.main")
    page.find("header.top")


def ask(page: Browser, running: RunningService, sql: str, epsilon: str) -> None:
    page.open(f"{running.address}/ask")
    page.write("#sql", sql)
    page.write("#epsilon", epsilon)
    page.press("#send")


def widths(page: Browser) -> list[float]:
    """Each ± of the preview."""
    found: list[str] = page.driver.execute_script(
        "return [...document.querySelectorAll('#found .width')].map(e => e.textContent)"
    )
    return [float(each.removeprefix("± ")) for each in found]


def test_the_errors_move_while_epsilon_moves_and_a_mistake_is_under_its_word(
    running_service: RunningService,
) -> None:
    ann = running_service.analyst(ApproxDP(epsilon=3, delta=1e-6))
    with browser() as page:
        come_in(page, running_service, ann.person.name)
        page.write("#sql", GROUPED)
        before = page.until(lambda: widths(page), "the preview comes by itself")
        slide = page.find("#slide")
        page.driver.execute_script("arguments[0].focus()", slide)
        slide.send_keys(*["\ue012"] * 3, *["\ue014"] * 60)  # arrows, as by keyboard
        after = page.until(lambda: widths(page) if widths(page)[0] < before[0] else None)
        assert all(new < old or old in (50, 100) for new, old in zip(after, before, strict=True))
        page.until(
            lambda: (
                "plus or minus"
                in page.driver.execute_script(
                    "return document.getElementById('spoken').textContent"
                )
            ),
            "it is said, too",
        )
        page.write("#sql", MISSPELT)
        marked = page.until(lambda: page.all("#marks mark"), "the word is marked in the editor")
        assert marked[0].get_attribute("textContent") == "vizits"
        assert page.find("#sql").get_attribute("aria-invalid") == "true"
        page.write("#sql", GROUPED)
        page.until(lambda: not page.all("#marks mark") and widths(page))
        page.find("#sql").send_keys("\ue009", "\ue007")  # Ctrl + Enter
        page.sees("95 % interval")
        assert page.all(".chart svg .bar")
        assert [each for each in page.complaints() if "favicon" not in each] == []


class Tour:
    """A browser on its way through pages: each is pictured, and barred to nobody."""

    def __init__(self, page: Browser, address: str, folder: Path, name: str) -> None:
        self.page, self.address, self._folder = page, address, folder
        self._names = (f"{name}-{n:02}" for n in count(1))

    def look(self, name: str) -> None:
        self.page.picture(self._folder / f"{next(self._names)}-{name}.png")
        assert self.page.barriers() == [], name

    def visit(self, *names: str) -> None:
        for name in names:
            self.page.open(f"{self.address}/{name}")
            self.look(name)

    def visit_by_phone(self, *names: str) -> None:
        """Also in the dark; nothing is wider than the screen, and no button lies beyond it."""
        self.page.resize(PHONE)
        for dark in (False, True):
            self.page.darken(dark=dark)
            for name in names:
                self.page.open(f"{self.address}/{name}")
                assert not self.page.overflows(), name
                assert self.page.out_of_reach() == [], name
                self.look(f"{name}-phone{'-dark' * dark}")


@pytest.mark.slow
def test_an_analyst_s_first_ten_minutes(wards: RunningService, pictures: Path) -> None:
    user = wards.person(name="anna")
    with browser() as page:
        tour = Tour(page, wards.address, pictures, "analyst")
        page.open(wards.address)
        tour.look("door")
        come_in(page, wards, "anna")
        page.sees("You have no budget yet")
        tour.look("no-budget")
        wards.grant(user, ApproxDP(epsilon=20, delta=1e-4), "planning of beds")
        write_a_question(tour)
        page.press("#send")
        page.sees("Privacy statement")
        tour.look("release")
        page.press(".statement summary")
        page.sees("WHO IS PROTECTED")
        ask(page, wards, "SELECT SUM(age) AS years FROM visits", "3")
        page.sees("waits for the owner or a steward")
        tour.look("waiting")
        page.press("form[action$=cancel] button")
        page.sees("given up")
        name_an_accuracy(tour)
        tour.visit("batches", "synopses", "releases", "history", "account", "record", "published")
        log_out_and_in(page, "anna")
        tour.visit_by_phone(
            "ask", "batches", "synopses", "releases", "history", "account", "meaning", "rounds"
        )
        assert [each for each in page.complaints() if "policy" in each or "script" in each] == []


def write_a_question(tour: Tour) -> None:
    """From an example, with a mistake, to a preview."""
    page = tour.page
    page.open(f"{tour.address}/ask")
    page.sees("planning of beds", "#standing")
    page.press("[data-whole]")
    page.find("table.preview")
    page.press('[data-insert="age"]')
    assert page.find("#sql").get_attribute("value").endswith(" age")
    page.write("#sql", MISSPELT)
    page.find("#found .refused")
    tour.look("mistake")
    page.write("#sql", GROUPED)
    page.find("table.preview")
    tour.look("preview")


def name_an_accuracy(tour: Tour) -> None:
    """The price is asked for instead of named."""
    page = tour.page
    page.open(f"{tour.address}/ask")
    page.press("input[value=accuracy]")
    page.write("#sql", "SELECT COUNT(*) AS n FROM visits")
    page.write("#within", "9")
    page.sees("Price", "#found .priceline")
    tour.look("accuracy")


def log_out_and_in(page: Browser, name: str) -> None:
    page.press(".who button")
    page.find("#password")
    page.write("#name", name)
    page.write("#password", PASSWORD)
    page.press("button.main")
    page.find("#sql")


@pytest.mark.slow
def test_an_owner_s_first_ten_minutes(tmp_path: Path, pictures: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    with running(folder, service=SETTINGS) as made, browser() as page, browser() as other:
        tour = Tour(page, made.address, pictures, "owner")
        come_in(page, made, "olga")
        page.sees("First steps")
        tour.look("first-steps")
        page.press(".notice a")
        links = [let_in(tour, name) for name in ("ann", "bob")]
        tour.look("people")
        other.open(links[0])
        other.write("#password", PASSWORD)
        other.press("button.main")
        other.find("header.top")
        ask(other, made, GROUPED, "1.5")
        other.sees("Privacy statement")
        release = other.driver.current_url.rpartition("/")[2]
        ask(other, made, "SELECT COUNT(*) AS n FROM visits", "5")
        other.sees("waits for the owner")
        agree(tour)
        other.sees("Privacy statement")  # the other browser goes on by itself
        page.open(f"{made.address}/budget")
        page.sees("3.5 of 10 left")
        tour.look("budget")
        publish_and_verify(tour, release)
        open_a_round(tour)
        page.open(f"{made.address}/people")
        page.press("form[action='/people/disable'] button")
        page.driver.switch_to.alert.dismiss()  # somebody is shut out after a second thought only
        tour.visit_by_phone("budget", "people", "approvals", "ledger", "log", "rounds", "record")
        assert [each for each in page.complaints() if "policy" in each or "script" in each] == []


def let_in(tour: Tour, name: str) -> str:
    """Add somebody, and set a budget aside; their link."""
    page = tour.page
    page.write("#name", name)
    page.press("section[aria-labelledby=adding] button.main")
    page.sees(f"Give this link to {name}")
    tour.look(f"link-{name}")
    link = page.text("#secret")
    page.write("#purpose", f"work of {name}")
    page.write("#epsilon", "10")
    page.write("#delta", "1e-5")
    page.press("section[aria-labelledby=granting] button.main")
    page.sees("The budget is set aside")
    return link


def agree(tour: Tour) -> None:
    tour.page.open(f"{tour.address}/approvals")
    tour.page.sees("SELECT COUNT(*)")
    tour.look("approval")
    tour.page.press("button.main")
    tour.page.sees("being asked")


def publish_and_verify(tour: Tour, release: str) -> None:
    page = tour.page
    page.open(f"{tour.address}/published")
    page.write("#title", "Visits by ward")
    page.write("#releases", release)
    page.press("button.main")
    page.sees("everybody here can read it now")
    tour.look("published")
    page.open(f"{tour.address}/ledger")
    page.press("button.main")
    page.sees("Verified")
    tour.look("ledger")


def open_a_round(tour: Tour) -> None:
    page = tour.page
    page.open(f"{tour.address}/rounds")
    page.write("#sql", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    page.press("input[value=ann]")
    page.write("#epsilon", "5")
    page.write("#delta", "1e-6")
    page.press("form.stack button.main")
    page.sees("It is open")
    tour.look("round")


@pytest.mark.slow
def test_a_page_is_used_by_keyboard_alone(wards: RunningService) -> None:
    user = wards.person(PersonRole.OWNER, name="kim")
    wards.grant(user, ApproxDP(epsilon=2, delta=1e-6), "by keyboard")
    with browser() as page:
        come_in(page, wards, "kim")
        page.open(f"{wards.address}/ask")
        page.find("#sql")
        active = "return document.activeElement.{}"

        def tab(until: str) -> None:
            for _ in range(60):
                page.driver.switch_to.active_element.send_keys("\ue004")
                if page.driver.execute_script(active.format("id")) == until:
                    return
            raise AssertionError(until)

        page.driver.switch_to.active_element.send_keys("\ue004")
        assert "Skip" in page.driver.execute_script(active.format("textContent"))
        page.driver.switch_to.active_element.send_keys("\ue007")
        assert page.driver.execute_script(active.format("id")) == "main"
        tab("sql")
        page.driver.switch_to.active_element.send_keys("SELECT COUNT(*) AS n FROM visits")
        tab("epsilon")
        tab("slide")
        time.sleep(0.6)
        tab("send")
        page.driver.switch_to.active_element.send_keys("\ue007")
        page.sees("Privacy statement")
