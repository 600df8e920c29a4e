"""Somebody with a browser, as far as pages need none: a cookie, forms, and what a page says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser

import httpx

from tests.server.running_service import RunningService

PASSWORD = "correct horse battery"


class Stranger:
    """A browser in which nobody is logged in."""

    def __init__(self, running: RunningService) -> None:
        self.http = httpx.Client(base_url=running.address, timeout=60)
        running.clients.append(self)


class WebUser(Stranger):
    """One person who came in by a one-time link."""

    def __init__(self, running: RunningService, name: str, link: str | None = None) -> None:
        super().__init__(running)
        self.name = name
        if link is None:
            owner = running.owner.person
            link = f"/enter/{running.call(running.service.people.new_link(owner, name))}"
        entered = self.http.post(link, data={"password": PASSWORD})
        assert entered.status_code == 303, entered.text
        self.csrf = self.page("/account").csrf

    def get(self, path: str) -> httpx.Response:
        return self.http.get(path)

    def page(self, path: str) -> Page:
        reply = self.http.get(path, follow_redirects=True)
        assert reply.status_code == 200, (path, reply.text)
        return Page(reply.text)

    def send(self, path: str, fields: Mapping[str, object] | None = None) -> httpx.Response:
        """Send a form with the login's token in it."""
        return self.http.post(path, data={"csrf": self.csrf, **(fields or {})})

    def done(self, path: str, fields: Mapping[str, object] | None = None) -> Page:
        """Send a form, and see where it leads."""
        reply = self.send(path, fields)
        assert reply.status_code == 303, reply.text
        return self.page(reply.headers["location"])


class Page(HTMLParser):
    """A page taken apart: enough to hold it to what every page must be."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self._silent = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        self.words += "" if self._silent else data

    @property
    def text(self) -> str:
        return " ".join(self.words.split())

    @property
    def csrf(self) -> str:
        return next(each["content"] for each in self.all("meta") if each.get("name") == "csrf")

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def links(self) -> list[str]:
        return [each["href"] for each in self.all("a") if "href" in each]

    def id_of(self, form: str) -> str:
        """The id in the action of a form."""
        for each in self.all("form"):
            found = re.fullmatch(form, each.get("action", ""))
            if found:
                return found[1]
        raise AssertionError(form)

    def faults(self) -> list[str]:
        """What a page must not have, and lacks: for the policy, and for who does not see it."""
        found = []
        for tag, attributes in self.tags:
            for name, value in attributes.items():
                if name == "style" or name.startswith("on"):
                    found.append(f"{tag} has {name}")
                if name in ("src", "href", "action", "formaction") and not re.match(r"/|#", value):
                    found.append(f"{tag} leads to {value}")
            if tag == "script" and "src" not in attributes:
                found.append("a script inside the page")
        ids = [each["id"] for _, each in self.tags if "id" in each]
        found += [f"twice: {each}" for each in set(ids) if ids.count(each) > 1]
        named = {each.get("for") for each in self.all("label")}
        for tag in ("input", "select", "textarea"):
            for each in self.all(tag):
                silent = each.get("type") in ("hidden", "radio", "checkbox")
                if not silent and each.get("id") not in named and "aria-label" not in each:
                    found.append(f"{tag} {each.get('name')} without a label")
        if len(self.all("caption")) < len(self.all("table")):
            found.append("a table without a caption")
        if len(self.all("h1")) != 1 or len(self.all("main")) != 1:
            found.append("not one heading and one main part")
        if any("role" not in each and "aria-hidden" not in each for each in self.all("svg")):
            found.append("a picture that says nothing")
        return found
