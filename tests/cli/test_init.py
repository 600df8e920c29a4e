"""``discreet init``: asks or is told, shows no value of the data, and never guesses."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import duckdb
import pytest

import discreet as dp
from discreet.cli.declaration import FORMS
from discreet.curator.project.data_file import schema_of
from tests.cli.hospital import INIT, ROWS, run

ASKED = (
    "\nperson\npatient\n3\ncategory:A,B,C\nnumber:0:120\nnumber:0:5000\n"
    "dates:2024-01-01:2024-12-31\n\n3\n1e-6\n\n"
)


def read(path: str = "discreet.toml") -> dp.Project:
    return dp.Project.read(path)


def test_options_and_answers_to_questions_write_the_same_file(folder: Path) -> None:
    assert run(INIT).code == 0
    told = (folder / "discreet.toml").read_text(encoding="utf-8")
    done = run("init visits.csv --force", typed=ASKED)
    assert done.code == 0
    assert (folder / "discreet.toml").read_text(encoding="utf-8") == told


def test_a_file_of_answers_serves_as_well_and_options_go_before_it(folder: Path) -> None:
    assert run(INIT).code == 0
    told = read()
    (folder / "answers.toml").write_text(
        'unit = "person"\nid = "patient"\nmax_rows = 9\nepsilon = 3\ndelta = 1e-6\n'
        '[columns]\nage = "number:0:120"\nward = "category:A,B,C"\ncost = "number:0:5000"\n'
        'day = "dates:2024-01-01:2024-12-31"\n',
        encoding="utf-8",
    )
    assert run("init visits.csv --force --answers answers.toml --max-rows 3").code == 0
    assert read() == told


def test_a_ledger_that_is_there_is_gone_on_with_on_its_own_terms_only(project: Path) -> None:
    assert run('query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5').code == 0
    told = (project / "discreet.toml").read_text(encoding="utf-8")
    assert run(f"{INIT} --force").code == 0  # the same terms
    other = run(f"{INIT} --force --max-rows 9")
    assert (other.code, "ledger_in_the_way" in other.error) == (2, True)
    richer = run(f"{INIT} --force --epsilon 9")
    assert (richer.code, "ledger_in_the_way" in richer.error) == (2, True)
    assert (project / "discreet.toml").read_text(encoding="utf-8") == told
    assert run(f"{INIT} --force --epsilon 9 --ledger second.ledger").code == 0


def test_the_file_says_what_was_declared(project: Path) -> None:
    entry = read().tables["visits"]
    assert entry.unit == dp.Person("patient", max_rows=3)  # type: ignore[union-attr]
    assert entry.columns == {  # type: ignore[union-attr]
        "ward": dp.Category(["A", "B", "C"]),
        "age": dp.Number(0, 120),
        "cost": dp.Number(0, 5000),
        "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
    }
    assert read().budget == dp.ApproxDP(epsilon=3, delta=1e-6)
    text = (project / "discreet.toml").read_text(encoding="utf-8")
    assert "# notes" in text  # what is not declared is listed as a comment
    assert "never from the data" in text


def test_neither_the_questions_nor_the_file_show_a_value_of_the_data(folder: Path) -> None:
    (folder / "visits.csv").write_text(
        "patient,ward,age\n" + "SECRET,SECRET,77777\n" * 9, encoding="utf-8"
    )
    done = run("init visits.csv", typed="\nrow\n\nSECRETIVE\n\nnumber:0:120\n1\n0\n\n")
    assert done.code == 0, done.error
    written = (folder / "discreet.toml").read_text(encoding="utf-8")
    said = done.output.replace("SECRETIVE", "")
    for shown in (said, done.error, written):
        assert "SECRET" not in shown
        assert "77777" not in shown


def test_what_is_misread_is_asked_again(folder: Path) -> None:
    unit = "\npersons\nperson\nnobody\npatient\nmany\n3\n"
    columns = "\nnumber:9:1\nnumber:0:120\n\n\n\n"
    budget = "-1\n3\n2\n0\n\n"
    done = run("init visits.csv", typed=unit + columns + budget)
    assert done.code == 0, done.output + done.error
    assert read().budget == dp.PureDP(epsilon=3)
    assert "Expected row or person" in done.output
    assert "chance;" not in done.output  # rows count by weight: none is drawn
    assert "chance decides" not in (folder / "discreet.toml").read_text(encoding="utf-8")
    assert "--unit" not in done.output  # who is being asked has no options to pass
    assert "Expected one of the columns" in done.output
    assert "a lower bound below the upper one" in done.output
    assert (folder / "discreet.toml").exists()


def test_every_form_of_a_declaration_is_shown_where_it_is_asked_for(folder: Path) -> None:
    done = run("init visits.csv", typed="\nrow\n\n\nnumber:0:120\nDone\n1\n0\n\n")
    for form in ("number:", "integer:", "boolean", "category:", "category+null:", "dates:"):
        assert form in FORMS
        assert f"\n  {form}" in done.output


def test_a_wide_table_needs_no_answer_for_every_column(folder: Path) -> None:
    done = run("init visits.csv", typed="\nrow\n\n\nnumber:0:120\nDone\n1\n0\n\n")
    assert done.code == 0, done.output + done.error
    assert read().tables["visits"].columns == {"age": dp.Number(0, 120)}  # type: ignore[union-attr]


@pytest.mark.parametrize("left_out", ["--unit person", "--id patient", "--max-rows 3"])
@pytest.mark.parametrize("also", ["--epsilon 3", "--delta 1e-6", ""])
def test_nothing_about_privacy_has_a_default(folder: Path, left_out: str, also: str) -> None:
    done = run(INIT.replace(left_out, "").replace(also, ""))
    assert done.code == 2
    assert "answer_missing" in done.error
    assert not (folder / "discreet.toml").exists()


def test_a_project_file_is_not_overwritten(project: Path) -> None:
    before = (project / "discreet.toml").read_text(encoding="utf-8")
    done = run(INIT.replace("--epsilon 3", "--epsilon 5"))
    assert (done.code, "project_exists" in done.error) == (2, True)
    assert (project / "discreet.toml").read_text(encoding="utf-8") == before
    assert run(INIT.replace("--epsilon 3", "--epsilon 5") + " --force").code == 0
    assert read().budget == dp.ApproxDP(epsilon=5, delta=1e-6)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("age=number:0:120|age=number:120:0", "bounds_crossed"),
        ("age=number:0:120|age=number:0", "declaration_misread"),
        ("age=number:0:120|age=ages:0:120", "declaration_misread"),
        ("age=number:0:120|age", "declaration_misread"),
        ("age=number:0:120|aeg=number:0:120", "unknown_column"),
        ("ward=category:A,B,C|ward=category:A,A", "category_values"),
        ("dates:2024-01-01:2024-12-31|dates:01.01.2024:31.12.2024", "declaration_misread"),
        ("--id patient|--id patients", "unknown_column"),
        ("--max-rows 3|--max-rows 0", "count"),
        ("--delta 1e-6|--delta 1.5", "delta"),
        ("visits.csv|nothing.csv", "file_not_found"),
    ],
)
def test_a_wrong_answer_is_refused_and_nothing_is_written(
    folder: Path, change: str, code: str
) -> None:
    old, new = change.split("|")
    done = run(INIT.replace(old, new))
    assert done.code == 2
    assert code in done.error
    assert not (folder / "discreet.toml").exists()


def test_declarations_must_suit_the_stored_types(folder: Path) -> None:
    duckdb.execute("COPY (SELECT 1 AS id, DATE '2024-01-01' AS day) TO 'v.parquet'")
    done = run("init v.parquet --unit row --column day=number:0:1 --epsilon 1 --delta 0")
    assert (done.code, "type_clash" in done.error) == (2, True)
    assert not (folder / "discreet.toml").exists()


def test_a_table_of_a_duckdb_file_is_named_where_there_are_several(folder: Path) -> None:
    with duckdb.connect("hospital.duckdb") as connection:
        connection.execute("CREATE TABLE visits AS SELECT i % 90 AS age FROM range(500) AS r(i)")
        connection.execute("CREATE TABLE staff AS SELECT 1 AS id")
    line = "init hospital.duckdb --unit row --column age=number:0:100 --epsilon 2 --delta 0"
    done = run(line)
    assert (done.code, "table_not_named" in done.error) == (2, True)
    assert run(f"{line} --table visits").code == 0
    answer = run('query "SELECT COUNT(*) AS n FROM visits" --epsilon 1 --json').json
    assert abs(answer["rows"][0]["n"] - 500) < 40  # farther once in 10**17 runs


# Files as people have them -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("comma.csv", "id,age,city\n"),
        ("semicolon.csv", "id;age;city\n"),
        ("bar.csv", "id|age|city\n"),
        ("tab.tsv", "id\tage\tcity\n"),
        ("tab.csv", "id\tage\tcity\n"),
        ("bom.csv", "\ufeffid,age,city\r\n"),
        ("quoted.csv", '"id","age","city"\n'),
        ("spaced.csv", "id, age , city\n"),
    ],
)
def test_the_header_of_a_csv_file_says_how_it_is_separated(
    folder: Path, name: str, content: str
) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    assert list(schema_of(folder / name, None).stored) == ["id", "age", "city"]


def test_rows_are_separated_as_the_header_is(folder: Path) -> None:
    rows = "".join(f"{i};{i % 80};x\n" for i in range(ROWS))
    (folder / "people.csv").write_text("id;age;city\n" + rows, encoding="utf-8")
    line = "init people.csv --unit row --column age=number:0:100 --epsilon 9 --delta 0"
    assert run(line).code == 0
    answer = run('query "SELECT AVG(age) AS age FROM people" --epsilon 4 --json')
    assert answer.code == 0, answer.error
    assert abs(answer.json["rows"][0]["age"] - 38.9) < 3  # farther less than once in 10**9 runs


def test_accents_spaces_and_nameless_columns_are_names(folder: Path) -> None:
    rows = "".join(f"{i},{i % 80},Genève\n" for i in range(ROWS))
    (folder / "Données 2024.csv").write_text(",âge,ville préférée\n" + rows, encoding="utf-8")
    done = run(
        "init 'Données 2024.csv' --unit row --column 'âge=number:0:100' "
        "--column 'ville préférée=category:Genève,Bern' --epsilon 9 --delta 0"
    )
    assert done.code == 0, done.error
    proposed = re.search(r"^  discreet (query .*)$", done.output, re.MULTILINE)
    assert proposed is not None
    assert run(proposed[1]).code == 0  # what it proposes can be typed
    assert "# column1" in (folder / "discreet.toml").read_text(encoding="utf-8")
    sql = 'SELECT "ville préférée" AS v, AVG(âge) AS m FROM donnees_2024 GROUP BY v'
    rows_back = run(f"query '{sql}' --epsilon 4 --json").json["rows"]
    assert [row["v"] for row in rows_back] == ["Genève", "Bern"]
    unquoted = run("query 'SELECT AVG(ville préférée) AS m FROM donnees_2024' --epsilon 1")
    assert (unquoted.code, "double quotes" in unquoted.error) == (2, True)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_named(folder: Path, encoding: str) -> None:
    (folder / "old.csv").write_text("id,âge\n1,2\n", encoding=encoding)
    done = run("init old.csv --unit row --epsilon 1 --delta 0")
    assert (done.code, "csv_not_utf8" in done.error, "iconv" in done.error) == (2, True, True)


def test_names_that_look_like_values_are_pointed_out(folder: Path) -> None:
    (folder / "bare.csv").write_text("1,44,A\n2,45,B\n", encoding="utf-8")
    done = run("init bare.csv --unit row --epsilon 1 --delta 0")
    assert (done.code, "no_header_line" in done.error) == (2, True)


@pytest.mark.parametrize("listed", ["east,west,", ",east", "east,,west", "east, ,west"])
def test_an_empty_item_of_a_list_is_refused_with_the_form_for_missing_values(
    folder: Path, listed: str
) -> None:
    done = run(INIT.replace("ward=category:A,B,C", f"'ward=category:{listed}'"))
    assert (done.code, "category_values" in done.error) == (2, True)
    assert "category+null:" in done.error
    assert not (folder / "discreet.toml").exists()


def test_missing_values_become_a_group_by_option_or_answer(folder: Path) -> None:
    assert run(INIT.replace("category:A,B,C", "category+null:A,B,C")).code == 0
    told = (folder / "discreet.toml").read_text(encoding="utf-8")
    assert "null = true }  # null = true: missing values are a group of their own" in told
    columns = read().tables["visits"].columns  # type: ignore[union-attr]
    assert columns["ward"] == dp.Category(["A", "B", "C", None])
    typed = ASKED.replace("category:A,B,C", "category+null:A,B,C")
    assert run("init visits.csv --force", typed=typed).code == 0
    assert (folder / "discreet.toml").read_text(encoding="utf-8") == told
