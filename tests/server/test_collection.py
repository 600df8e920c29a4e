"""The door for devices: reports in, nothing kept that links them to anybody."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import LedgerError
from discreet.local.reports import ReportBatch
from discreet.server.collection import app as door
from discreet.server.collection.app import collection_app
from discreet.server.collection.store import BatchStore
from tests.server.browsing import browser
from tests.server.loop_steps import LONGEST as LONGEST_STEP
from tests.server.loop_steps import LongestStep, measured

testclient = pytest.importorskip("starlette.testclient")

ASKED = local.Collection(
    name="survey",
    version=1,
    oracle=local.DirectEncoding(epsilon=3, domain=["no", "yes"]),
    memoised=False,
)


def body(count: int) -> tuple[list[str], str]:
    client = ASKED.client()
    reports = [client.privatize("yes") for _ in range(count)]
    return reports, "\n".join(reports)


def test_schema_out_reports_in_and_an_estimate(tmp_path: Path) -> None:
    store = BatchStore(ASKED, tmp_path, batch=100)
    with testclient.TestClient(collection_app([store])) as http:
        schema = http.get("/schema", params={"name": "survey"})
        assert schema.text == ASKED.schema
        assert schema.headers["access-control-allow-origin"] == "*"
        assert "discreetLocal" in http.get("/client.js").text
        reports, text = body(250)
        answer = http.post("/reports", params={"name": "survey"}, content=text)
        assert (answer.status_code, answer.json()) == (202, {"accepted": 250, "rejected": 0})
        again = http.post("/reports", params={"name": "survey"}, content=reports[0] + "\njunk")
        assert again.json() == {"accepted": 0, "rejected": 2}
        assert store.tally().people == 200  # fifty wait for others
    assert store.tally().people == 250
    shares = ASKED.oracle.estimate(store.tally())
    assert abs(shares.shares[1] - 1) < 6 * shares.standard_errors[1]


def test_a_length_in_two_ways_is_refused(tmp_path: Path) -> None:
    store = BatchStore(ASKED, tmp_path, batch=100)
    _, text = body(3)
    with testclient.TestClient(collection_app([store])) as http:
        both = {"Transfer-Encoding": "chunked", "Content-Length": str(len(text))}
        answer = http.post("/reports", params={"name": "survey"}, content=text, headers=both)
        assert (answer.status_code, answer.json()["code"]) == (400, "request_misread")
    assert store.tally().people == 0


def test_a_body_of_very_many_lines_holds_nobody_up(tmp_path: Path) -> None:
    """It was taken apart on the event loop: half a million lines in one step."""
    app = collection_app([BatchStore(ASKED, tmp_path, batch=100)])
    told: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x\n" * (door.MOST_BYTES // 2)}

    async def send(message: MutableMapping[str, Any]) -> None:
        told.append(message)

    async def sent() -> LongestStep:
        longest = measured(asyncio.get_running_loop())
        asked = {"type": "http", "method": "POST", "path": "/reports", "headers": []}
        await app({**asked, "query_string": b"name=survey"}, receive, send)
        return longest

    longest = asyncio.run(sent())
    assert told[0]["status"] == 413
    assert longest.seconds < LONGEST_STEP / 50, longest


def test_replays_are_noticed_after_a_restart(tmp_path: Path) -> None:
    reports, _ = body(10)
    store = BatchStore(ASKED, tmp_path, batch=5)
    assert store.take(reports) == 10
    second = BatchStore(ASKED, tmp_path, batch=5)
    assert second.take(reports) == 0
    assert second.rejected.replayed == 10


def test_a_disk_that_is_full_for_a_moment_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BatchStore(ASKED, tmp_path, batch=5)

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        reports, _ = body(7)
        with pytest.raises(LedgerError, match="ledger_unwritable"):
            store.take(reports)
    assert store.take(reports) == 0  # whoever was told nothing sends again; they are here
    store.flush()
    assert store.tally().people == 7


def test_what_is_on_disk_has_no_nonce_time_or_order(tmp_path: Path) -> None:
    reports, _ = body(400)
    store = BatchStore(ASKED, tmp_path, batch=400)
    store.take(reports)
    (path,) = tmp_path.rglob("*.reports")
    assert path.stat().st_mtime == 0
    data = path.read_bytes()
    nonces = [json.loads(each)["nonce"] for each in reports]
    assert not any(nonce.encode() in data or bytes.fromhex(nonce) in data for nonce in nonces)
    kept = (path.parent / "nonces").read_text().split()
    assert kept == sorted(nonces)
    sent = [json.loads(each)["report"] for each in reports]
    told = ReportBatch.from_bytes(data, ASKED.oracle.fields).columns["value"].tolist()
    assert sorted(told) == sorted(sent)
    assert told != sent
    assert np.all(np.isin(told, [0, 1]))


def test_refusals_repeat_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_BYTES", 1000)
    with testclient.TestClient(collection_app([BatchStore(ASKED, tmp_path, batch=5)])) as http:
        for path in ("/schema", "/reports"):
            verb = http.get if path == "/schema" else http.post
            answer = verb(path, params={"name": "secret"})
            assert answer.status_code == 404
            assert "secret" not in answer.text
        large = http.post("/reports", params={"name": "survey"}, content="x" * 2000)
        assert (large.status_code, large.json()) == (413, {"code": "local_request_too_large"})
        many = http.post("/reports", params={"name": "survey"}, content="x\n" * 400)
        assert many.json() == {"accepted": 0, "rejected": 400}


def test_collections_of_one_oracle_are_kept_apart(tmp_path: Path) -> None:
    other = local.Collection(name="other", version=1, oracle=ASKED.oracle, memoised=False)
    stores = [BatchStore(each, tmp_path, batch=5) for each in (ASKED, other)]
    assert stores[0].take(body(10)[0]) == 10
    assert [each.tally().people for each in stores] == [10, 0]


@contextmanager
def served(application: Any) -> Iterator[int]:
    """The port at which an application listens."""
    uvicorn = pytest.importorskip("uvicorn")
    settings = uvicorn.Config(application, port=0, access_log=False, log_level="error")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.05)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.slow
def test_a_page_in_a_real_browser_reports_over_http(tmp_path: Path) -> None:
    store = BatchStore(ASKED, tmp_path, batch=50)
    script = """
    const [door, done] = [arguments[0], arguments[1]];
    (async () => {
      (0, eval)(await (await fetch(`${door}/client.js`)).text());
      const schema = await (await fetch(`${door}/schema?name=survey`)).text();
      const client = new discreetLocal.Client(schema);
      const lines = Array.from({length: 400}, () => client.privatize("yes")).join("\\n");
      const sent = await fetch(`${door}/reports?name=survey`, {method: "POST", body: lines});
      done(await sent.json());
    })().catch((error) => done(String(error)));
    """
    with served(collection_app([store])) as port, browser() as seen:
        seen.open(f"http://127.0.0.1:{port}/client.js")
        answer = seen.driver.execute_async_script(script, f"http://127.0.0.1:{port}")
    assert answer == {"accepted": 400, "rejected": 0}
    shares = ASKED.oracle.estimate(store.tally())
    assert store.tally().people == 400
    assert abs(shares.shares[1] - 1) < 6 * shares.standard_errors[1]


@pytest.mark.slow
def test_the_page_of_the_documents_sends_an_answer_from_another_origin(tmp_path: Path) -> None:
    """What a reader does: choose, press, be thanked. The store then has one report."""
    staticfiles = pytest.importorskip("starlette.staticfiles")
    oracle = local.OptimalLocalHashing(epsilon=1, domain=["never", "once", "often"])
    asked = local.Collection(name="survey", version=1, oracle=oracle, memoised=False)
    site = tmp_path / "site"
    site.mkdir()
    page = Path(__file__).resolve().parents[2] / "examples" / "survey.html"
    (site / "survey.html").write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    (site / "survey.schema.json").write_text(asked.schema, encoding="utf-8")
    client = (files("discreet.local") / "client.js").read_text(encoding="utf-8")
    (site / "client.js").write_text(client, encoding="utf-8")
    store = BatchStore(asked, tmp_path / "reports", batch=1)
    with (
        served(collection_app([store])) as door,
        served(staticfiles.StaticFiles(directory=site)) as own,
        browser() as seen,
    ):
        seen.open(f"http://127.0.0.1:{own}/survey.html?door=http://127.0.0.1:{door}")
        seen.press("input[value=often]")
        seen.press("button")
        seen.until(lambda: seen.text("output") == "Thank you.", "thanks")
    assert store.tally().people == 1
    assert store.rejected.total == 0
