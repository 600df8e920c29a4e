"""A real browser, headless, for what only a browser shows."""

from __future__ import annotations

import base64
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import pytest

Result = TypeVar("Result")

BROWSER, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-default-apps", "--disable-extensions", "--hide-scrollbars"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
DESKTOP, PHONE = (1280, 900), (390, 844)


@contextmanager
def browser(*, dark: bool = False, size: tuple[int, int] = DESKTOP) -> Iterator[Browser]:
    """A browser with nothing in it; skipped where the distribution has none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    if not BROWSER.exists() or not DRIVER.exists():
        pytest.skip("no Chromium with its driver")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(BROWSER)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(executable_path=str(DRIVER))
        driver = webdriver.Chrome(options=options, service=service)
        try:
            made = Browser(driver)
            made.resize(size)
            made.darken(dark=dark)
            yield made
        finally:
            driver.quit()


class Browser:
    """What a person does with it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        driver.implicitly_wait(0)

    def resize(self, size: tuple[int, int]) -> None:
        width, height = size
        told = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", told)

    def darken(self, *, dark: bool) -> None:
        value = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, address: str) -> None:
        self.driver.get(address)

    def find(self, selector: str) -> Any:
        """The one element of a selector, once it is there."""
        return self.until(lambda: self._first(selector), selector)

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found

    def write(self, selector: str, text: str) -> None:
        field = self.find(selector)
        field.clear()
        field.send_keys(text)

    def press(self, selector: str) -> None:
        self.find(selector).click()

    def choose(self, selector: str, value: str) -> None:
        self.find(f'{selector} option[value="{value}"]').click()

    def text(self, selector: str = "main") -> str:
        found: str = self.find(selector).text
        return found

    def until(self, look: Callable[[], Result | None], what: str = "") -> Result:
        """What a look finds, once it finds something; ten seconds."""
        from selenium.common.exceptions import StaleElementReferenceException

        ends = time.monotonic() + 10
        while True:
            with suppress(StaleElementReferenceException):
                found = look()
                if found:
                    return found
            assert time.monotonic() < ends, f"{what}\n{self.driver.current_url}\n{self._body()}"
            time.sleep(0.03)

    def sees(self, words: str, selector: str = "main") -> None:
        """Wait until words stand there."""
        self.until(lambda: words in self.text(selector), words)

    def picture(self, path: Path) -> None:
        """The whole page, however long."""
        size = self.until(self._size, "a page that is laid out")
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        told = {"captureBeyondViewport": True, "clip": clip, "format": "png"}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", told)
        path.write_bytes(base64.b64decode(taken["data"]))

    def complaints(self) -> list[str]:
        """What the browser itself found wrong: scripts that fail, what the policy forbids."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def overflows(self) -> bool:
        """Whether a page is wider than the screen."""
        found: bool = self.driver.execute_script(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return found

    def out_of_reach(self) -> list[str]:
        """Buttons, and cells of tables that turn into cards, that lie beyond the screen's edge."""
        found: list[str] = self.driver.execute_script(
            "return [...document.querySelectorAll('main button, .cards td, .cards caption')]"
            ".filter(each => each.getBoundingClientRect().right > innerWidth + 1)"
            ".map(each => each.textContent.trim())"
        )
        return found

    def barriers(self) -> list[str]:
        """What axe finds that keeps people out, serious or worse."""
        script = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        self.driver.execute_script(script)
        found = self.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")[
            "violations"
        ]
        return [
            f"{each['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    def _size(self) -> dict[str, float] | None:
        found = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        return found if found["width"] and found["height"] else None

    def _first(self, selector: str) -> Any:
        found = self.all(selector)
        return found[0] if found else None

    def _body(self) -> str:
        return str(self.driver.execute_script("return document.body.innerText"))[:2000]
