"""The real psql: questions, schema, errors with their place."""

import os
import shutil
import subprocess

import pytest

from discreet.core.guarantee import PureDP
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.opened_wire import BY_WARD, PRICED, OpenedWire, spent

pytestmark = [
    pytest.mark.xdist_group("server"),
    pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed"),
]


def psql(wire: OpenedWire, user: ApiUser, text: str, *more: str) -> tuple[str, str]:
    """What psql prints, and what it complains about."""
    done = subprocess.run(
        ["psql", "-X", wire.dsn(user), *more],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PGCLIENTENCODING": "UTF8"},
    )
    return done.stdout, done.stderr


def test_psql_asks_and_reads_intervals_as_columns(wire: OpenedWire, ann: ApiUser) -> None:
    output, trouble = psql(wire, ann, f"{BY_WARD};", "--csv")
    header, *rows = output.splitlines()
    assert all(line.startswith("NOTICE:  ") for line in trouble.splitlines())
    assert header == "ward,n,n_lower,n_upper,mean,mean_lower,mean_upper"
    assert [row.split(",")[0] for row in rows] == ["medicine", "surgery", "children"]
    for row in rows:
        low, high = (int(row.split(",")[place]) for place in (2, 3))
        assert low <= int(row.split(",")[1]) <= high


def test_psql_is_told_what_intervals_do_not_cover_unless_it_wants_less(
    wire: OpenedWire, ann: ApiUser
) -> None:
    question = f"{PRICED} COUNT(*) AS n, AVG(age) AS mean, MEDIAN(age) AS middle FROM visits;"
    _, told = psql(wire, ann, question)
    assert "NOTICE:  limit: age within 0 and 100: values outside count as the nearest; " in told
    assert "NOTICE:  guarantee: epsilon 0.5 for each " in told
    assert "NOTICE:  middle: chosen among " in told, "it has no interval"
    assert "Laplace" not in told, "noise is in the intervals"
    _, told = psql(wire, ann, f"SET client_min_messages = warning; {question}")
    assert told == ""


def test_show_says_what_is_left_for_nothing(
    wire: OpenedWire, running_service: RunningService
) -> None:
    dora = running_service.analyst(PureDP(epsilon=2))
    question = f"{PRICED} COUNT(*) AS n FROM visits"
    output, trouble = psql(
        wire,
        dora,
        f"SET client_min_messages = warning; {question}; SHOW discreet.remaining;",
        "--csv",
    )
    assert trouble == ""
    header, row = output.splitlines()[-2:]
    assert header == "purpose,remaining,of"
    assert row.endswith(",epsilon 1.5,epsilon 2")
    assert spent(dora) == 0.5


def test_show_lists_the_settings_of_questions(wire: OpenedWire, ann: ApiUser) -> None:
    output, _ = psql(wire, ann, "SHOW ALL; SHOW discreet.confidence;", "--csv")
    assert "discreet.confidence,0.95," in output
    assert "discreet.purpose,," in output
    assert output.splitlines()[-1] == "0.95"


def test_psql_describes_tables_from_public_declarations(wire: OpenedWire, ann: ApiUser) -> None:
    before = spent(ann)
    output, trouble = psql(wire, ann, "\\dt\n\\d visits\n\\d+ visits\n\\d\n\\dn\n\\l\n\\du\n\\df\n")
    assert trouble == ""
    assert " public | visits | table | discreet" in output
    assert " ward    | text             |" in output
    assert "one of medicine, surgery, children" in output
    assert "from 0 to 100" in output
    assert spent(ann) == before


def test_a_mistake_is_shown_under_its_word(wire: OpenedWire, ann: ApiUser) -> None:
    _, trouble = psql(wire, ann, f"SELECT 1; {PRICED}\n  COUNT(*) AS n FORM visits;")
    first, line, caret, hint = trouble.splitlines()[:4]
    assert "[sql_syntax]" in first
    assert line[caret.index("^") :].startswith("FORM")
    assert hint.startswith("HINT:")
    _, trouble = psql(wire, ann, f"{PRICED} COUNT(*) AS n FROM visit;")
    line, caret = trouble.splitlines()[1:3]
    assert line[caret.index("^") :] == "visit;"


def test_explain_previews_for_nothing(wire: OpenedWire, ann: ApiUser) -> None:
    before = spent(ann)
    output, trouble = psql(wire, ann, f"EXPLAIN {PRICED} COUNT(*) AS n FROM visits WHERE age > 7;")
    assert trouble == ""
    assert "price: epsilon 0.5" in output
    assert spent(ann) == before


def test_psql_rolls_back_and_is_told_that_nothing_comes_back(
    wire: OpenedWire, ann: ApiUser
) -> None:
    before = spent(ann)
    text = f"BEGIN; {PRICED} COUNT(*) AS n FROM visits WHERE age > 8; ROLLBACK;"
    _, trouble = psql(wire, ann, text)
    assert "stays charged" in trouble
    assert spent(ann) == pytest.approx(before + 0.5)
