"""``discreet profile``: what is there, for the owner alone; planted properties are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.hospital import run

PLANTED = 1_000


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A table with known faults: dirty numbers, days, a list, a heavy person, a dependency."""
    lines = ["person,town,region,age,fee,day,score,rooms,insured"]
    for row in range(PLANTED):
        person = 0 if row < 100 else row  # one person has a hundred rows
        town = ("Bern", "Thun", "Genf")[row % 3] if row else "Atlantis"
        region = {"Bern": "b", "Thun": "b", "Genf": "g", "Atlantis": "sea"}[town]
        age = "unknown" if row < 20 else str(row % 130)
        fee = "" if row < 7 else f"{row / 4:.2f}"
        day = "31.12.2024" if row < 30 else f"2023-0{1 + row % 9}-01"
        rooms = f"{row % 6}.5" if row < 40 else str(row % 6)
        insured = "maybe" if row < 50 else ("yes", "no")[row % 2]
        score = person % 10
        lines.append(f"{person},{town},{region},{age},{fee},{day},{score},{rooms},{insured}")
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("planted")
        patch.chdir(folder)
        Path("towns.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = run(
            "init towns.csv --unit person --id person --max-rows 5 --column age=number:0:100 "
            "--column town=category:Bern,Thun,Genf,Zug --column fee=number:0:200 "
            "--column score=number:0:9 --column rooms=integer:0:4 --column insured=boolean "
            "--column day=dates:2024-01-01:2024-12-31 "
            "--epsilon 1 --delta 0"
        )
        assert done.code == 0, done.error
        told = run("profile --not-private --json")
        assert told.code == 0, told.error
        assert not Path("towns.ledger").exists()
        (table,) = told.json["tables"]
        return {**table, "said": told.json, "shown": run("profile --not-private").output}


def column(planted: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (each for each in planted["columns"] if each["name"] == name)
    return {"declared": found["declared"], **found["facts"]}


def test_it_says_that_it_is_not_private_first_and_last(planted: dict[str, Any]) -> None:
    assert planted["said"]["not_private"] is True
    assert "NOT PRIVATE" in planted["said"]["warning"]
    assert planted["shown"].startswith("NOT PRIVATE")
    assert planted["shown"].rstrip().splitlines()[-1].startswith("NOT PRIVATE")
    assert "do not copy bounds" in planted["shown"]


def test_whole_numbers_and_truth_values_that_are_not_read_are_counted(
    planted: dict[str, Any],
) -> None:
    rooms = column(planted, "rooms")
    assert rooms["declared"] == "whole number from 0 to 4"
    assert rooms["unreadable"] == 40
    assert rooms["above"] == sum(row % 6 == 5 for row in range(40, PLANTED))
    insured = column(planted, "insured")
    assert insured["declared"] == "truth value"
    assert insured["outside_the_list"] == 50
    assert "rooms: 4% of the rows are not read as declared" in planted["shown"]


def test_it_must_be_acknowledged(project: Path) -> None:
    done = run("profile")
    assert (done.code, done.output, "not_acknowledged" in done.error) == (2, "", True)


def test_rows_of_people_and_what_bounds_would_drop(planted: dict[str, Any]) -> None:
    people = planted["contributions"]
    assert (people["people"], people["rows"], people["most"]) == (901, 1000, 100)
    assert (people["median"], people["ninety_nine"]) == (1, 1)
    cuts = {cut["max_rows"]: (cut["people"], cut["rows"]) for cut in people["cuts"]}
    assert cuts[1] == (1, 99)
    assert cuts[5] == (1, 95)
    assert cuts[100] == (0, 0)
    assert people["heaviest"] == pytest.approx(108 / 1000)  # nine people of 901


def test_what_declarations_do_to_columns(planted: dict[str, Any]) -> None:
    age = column(planted, "age")
    ages = [row % 130 for row in range(20, PLANTED)]
    assert (age["unreadable"], age["above"], age["below"]) == (20, sum(a > 100 for a in ages), 0)
    assert (age["least"], age["greatest"], age["whole_numbers"]) == (0, 129, True)
    assert age["unreadable_examples"] == [["unknown", 20]]
    fee = column(planted, "fee")
    assert (fee["missing"], fee["above"], fee["whole_numbers"]) == (7, 199, False)
    town = column(planted, "town")
    assert (town["outside_the_list"], town["listed_but_absent"]) == (1, 1)
    assert town["outside_examples"] == [["Atlantis", 1]]
    day = column(planted, "day")
    assert (day["unreadable"], day["below"], day["above"]) == (30, PLANTED - 30, 0)


def test_dependencies_cells_and_rows_that_are_alike(planted: dict[str, Any]) -> None:
    assert ["town", "region"] in planted["determines"]
    assert ["region", "town"] not in planted["determines"]
    assert (planted["cells"], planted["empty_cells"]) == (4, 1)
    assert column(planted, "score")["alike_within_a_person"] == 1
    assert abs(column(planted, "fee")["alike_within_a_person"]) > 0.5  # early rows are one person's


def test_what_is_not_declared_is_described_too(planted: dict[str, Any]) -> None:
    person = column(planted, "person")
    assert (person["declared"], person["readable_as_number"]) == (None, PLANTED)
    assert column(planted, "region")["different_values"] == 3


def test_notes_point_at_what_would_spoil_answers(planted: dict[str, Any]) -> None:
    assert any(note.startswith("age: 2% of the rows are not read") for note in planted["notes"])
    assert any(note.startswith("day: 3% of the rows are not read") for note in planted["notes"])


def test_few_people_are_pointed_out(folder: Path) -> None:
    (folder / "few.csv").write_text("id\n" + "x\n" * 50, encoding="utf-8")
    assert run("init few.csv --unit row --epsilon 1 --delta 0").code == 0
    (table,) = json.loads(run("profile --not-private --json").output)["tables"]
    assert "with 50 people" in table["notes"][0]


def test_odd_lines_are_told_by_their_places(folder: Path) -> None:
    rows = [b"%d,Zug" % i for i in range(400)]
    odd = {
        7: ("1,Genève".encode("latin-1"), "not UTF-8"),
        9: (b'1,"Zug', "quote"),
        11: (b"1,Zug\rBern", "carriage return"),
        13: (b"1", "fewer or more fields"),
        15: (b"1,Zug,Bern", "fewer or more fields"),
        17: (b"1," + b"x" * 70_000, "longer"),
        19: (b"1,Zug\r", "another end of line"),
        21: (b"", ""),
    }
    for place, (line, _) in odd.items():
        rows[place] = line
    (folder / "mixed.csv").write_bytes(b"id,town\n" + b"\n".join(rows) + b"\n")
    assert run("init mixed.csv --unit row --epsilon 1 --delta 0").code == 0
    (table,) = json.loads(run("profile --not-private --json").output)["tables"]
    assert (table["rows"], table["unread_lines"]) == (398, 1)
    told = {each["number"]: each["reason"] for each in table["fixed_lines"]}
    assert list(told) == [place + 2 for place, (line, _) in odd.items() if line]
    assert all(reason in told[place + 2] for place, (line, reason) in odd.items() if line)
    assert "line 11: a quote" in run("profile --not-private").output


def test_a_broken_file_is_told_without_its_contents(folder: Path) -> None:
    duckdb.execute("COPY (SELECT i AS id FROM range(9000) AS r(i)) TO 'v.parquet'")
    whole = Path("v.parquet").read_bytes()
    Path("v.parquet").write_bytes(whole[:4] + b"X" * 999 + whole[1003:])
    assert run("init v.parquet --unit row --epsilon 1 --delta 0").code == 0
    done = run("profile --not-private")
    assert (done.code, "profile_failed" in done.error) == (2, True)


def test_people_are_counted_through_another_table(folder: Path) -> None:
    orders = "".join(f"{order},{order % 100}\n" for order in range(400))
    items = "".join(f"{item % 400},{item}\n" for item in range(1200))
    (folder / "orders.csv").write_text("order,customer\n" + orders, encoding="utf-8")
    (folder / "items.csv").write_text("order,price\n" + items, encoding="utf-8")
    unit = 'kind = "person"\nmax_rows = 4\n'
    (folder / "discreet.toml").write_text(
        'ledger = "shop.ledger"\n[budget]\nkind = "pure"\nepsilon = 1\n'
        f'[tables.orders]\npath = "orders.csv"\n[tables.orders.unit]\nid = "customer"\n{unit}'
        f'[tables.items]\npath = "items.csv"\n[tables.items.unit]\nid = "order"\n'
        f'via = "orders.customer"\n{unit}',
        encoding="utf-8",
    )
    done = run("profile --not-private --json")
    assert done.code == 0, done.error
    people = {table["name"]: table["contributions"] for table in done.json["tables"]}
    assert {name: (each["people"], each["most"]) for name, each in people.items()} == {
        "orders": (100, 4),
        "items": (100, 12),
    }
    cuts = {cut["max_rows"]: cut["rows"] for cut in people["items"]["cuts"]}
    assert (cuts[4], cuts[12]) == (800, 0)
