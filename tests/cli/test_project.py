"""The project file: what is missing, misspelt or wrong is refused by name, with what to write."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest

import discreet as dp
from discreet.curator.project.fields import NUMBER
from discreet.errors import DiscreetError
from tests.cli.hospital import write_visits

ROOT = Path(__file__).resolve().parents[2]
WHOLE = """\
# A comment.
ledger = "visits.ledger"

[budget]
kind = "approx"
epsilon = 3
delta = 1e-6

[tables.visits]
path = "visits.csv"
rows_at_most = 100_000
snapshot = "2024-12"
max_rows_per = { ward = 3 }

[tables.visits.unit]
kind = "person"
id = "patient"
max_rows = 20
max_groups = 5

[tables.visits.columns]
age = { kind = "number", low = 0, high = 120, step = 0.5 }
ward = { kind = "category", values = ["A", "B"], null = true }
day = { kind = "dates", first = 2024-01-01, last = 2024-12-31 }
town = { kind = "discovered", min_people = 20 }
children = { kind = "integer", low = 0, high = 9 }

[tables.visits.derived]
ward = "upper(trim(ward))"
children = "length(notes)"

[public.wards]
path = "wards.csv"
"""


def read(text: str, folder: Path = Path("/data")) -> dp.Project:
    return dp.Project.parse(text, folder)


def refused(text: str) -> DiscreetError:
    with pytest.raises(DiscreetError) as caught:
        read(text)
    return caught.value


def test_every_part_is_read_and_paths_are_relative_to_the_file() -> None:
    project = read(WHOLE)
    assert project.budget == dp.ApproxDP(epsilon=3, delta=1e-6)
    assert project.ledger.path == Path("/data/visits.ledger")  # type: ignore[union-attr]
    visits, wards = project.tables["visits"], project.tables["wards"]
    assert project.unit == dp.Person("patient", max_rows=20, max_groups=5)
    assert [table.place.path for table in (visits, wards)] == [  # type: ignore[union-attr]
        Path("/data/visits.csv"),
        Path("/data/wards.csv"),
    ]
    assert (visits.rows_at_most, visits.snapshot) == (100_000, "2024-12")  # type: ignore[union-attr]
    assert visits.columns == {  # type: ignore[union-attr]
        "age": dp.Number(0, 120, step=0.5),
        "ward": dp.Category(["A", "B", None]),
        "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
        "town": dp.Discovered(min_people=20),
        "children": dp.Integer(0, 9),
    }
    assert visits.derived == {  # type: ignore[union-attr]
        "ward": "upper(trim(ward))",
        "children": "length(notes)",
    }


@pytest.mark.parametrize(
    ("lines", "budget"),
    [
        ('kind = "pure"\nepsilon = 0.5', dp.PureDP(epsilon=0.5)),
        ('kind = "zcdp"\nrho = 0.1', dp.ZCDP(rho=0.1)),
        ('kind = "renyi"\nalpha = 8\nepsilon = 1', dp.RenyiDP(alpha=8, epsilon=1)),
        ('kind = "approx_zcdp"\nrho = 1\ndelta = 1e-7', dp.ApproxZCDP(rho=1, delta=1e-7)),
    ],
)
def test_budgets_of_every_notion(lines: str, budget: object) -> None:
    old = 'kind = "approx"\nepsilon = 3\ndelta = 1e-6'
    assert read(WHOLE.replace(old, lines)).budget == budget


def test_a_budget_may_be_converted_when_it_is_opened() -> None:
    made = read(WHOLE.replace("delta = 1e-6", 'delta = 1e-6\nby = "zcdp"')).budget
    assert isinstance(made, dp.ApproxDP)
    assert made.by is dp.ZCDP


def test_units_of_every_kind() -> None:
    person = 'kind = "person"\nid = "patient"\nmax_rows = 20\nmax_groups = 5'
    assert read(WHOLE.replace(person, 'kind = "row"')).unit == dp.Row()
    replaced = read(WHOLE.replace(person, 'kind = "row"\nrelation = "replace"')).unit
    assert replaced == dp.Replace(dp.Row())
    via = person + '\nvia = "visits.patient"\nof = "patients"'
    made = dp.Person("patient", max_rows=20, max_groups=5, via="visits.patient", of="patients")
    assert read(WHOLE.replace(person, via)).unit == made


def test_moments_are_written_like_days() -> None:
    text = WHOLE.replace(
        "2024-01-01, last = 2024-12-31", "2024-01-01T08:00:00, last = 2024-12-31T18:00:00"
    )
    declared = read(text).tables["visits"].columns["day"]  # type: ignore[union-attr]
    assert declared == dp.Dates(datetime(2024, 1, 1, 8), datetime(2024, 12, 31, 18))


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('ledger = "visits.ledger"', "", "project_field_missing", "the field ledger"),
        ("epsilon = 3", "", "project_field_missing", "budget.epsilon"),
        ("delta = 1e-6", "", "project_field_missing", "budget.delta"),
        ("epsilon = 3", "epsilom = 3", "project_field_missing", "did you mean epsilon"),
        ("max_rows = 20", "", "project_field_missing", "tables.visits.unit.max_rows"),
        ("low = 0, ", "", "project_field_missing", "tables.visits.columns.age.low (line 22)"),
        ('kind = "person"', "", "project_field_missing", "tables.visits.unit.kind"),
        ("max_groups = 5", "max_group = 5", "project_field_unknown", "did you mean max_groups"),
        ("epsilon = 3", "epsilon = 3\nseed = 1", "project_field_unknown", "budget.seed (line 7)"),
        ("step = 0.5", "stride = 0.5", "project_field_unknown", "tables.visits.columns.age"),
        ("snapshot =", "test_mode =", "project_field_unknown", "tables.visits.test_mode"),
        ("[public.wards]", "[pulbic.wards]", "project_field_unknown", "did you mean public"),
        ("epsilon = 3", 'epsilon = "3"', "project_field_kind", "a number in budget.epsilon"),
        ("epsilon = 3", "epsilon = true", "project_field_kind", "a number in budget.epsilon"),
        ("max_rows = 20", "max_rows = 2.5", "project_field_kind", "a whole number"),
        ("= 2024-01-01", '= "2024-01-01"', "project_field_kind", "a day or a moment"),
        ('["A", "B"]', '"A, B"', "project_field_kind", "a list"),
        ('kind = "number"', 'kind = "numeric"', "project_field_value", '"number"'),
        ('kind = "approx"', 'kind = "aprox"', "project_field_value", '"approx"'),
        ("low = 0, high = 120", "low = 120, high = 0", "bounds_crossed", "columns.age (line 22)"),
        ('["A", "B"]', '["A", 1]', "category_values", "columns.ward (line 23)"),
        ("max_rows = 20", "max_rows = 0", "not_a_count", "tables.visits.unit"),
        ("epsilon = 3", "epsilon = -3", "negative", "budget"),
        ("[public.wards]", "[public.Visits]", "project_table_name", "no two tables"),
        ("tables.visits", "tables.ledger", "project_table_name", "other than"),
        ("epsilon = 3", "epsilon = 3\nepsilon = 4", "project_unreadable", "line 7"),
        ("epsilon = 3", "epsilon = three", "project_unreadable", "line 6"),
        ("epsilon = 3", "epsilon 3", "project_unreadable", "line 6"),
    ],
)
def test_a_fault_is_named_with_its_remedy(old: str, new: str, code: str, said: str) -> None:
    assert old in WHOLE
    refusal = refused(WHOLE.replace(old, new))
    assert refusal.code == code
    assert said.lower() in str(refusal).lower()


def test_no_password_has_a_place_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    server = '[ledger]\nkind = "postgres"\nname = "visits"\naddress_from = "LEDGER_ADDRESS"\n'
    text = 'key = "owner.key"\n' + WHOLE.replace('ledger = "visits.ledger"\n', "") + server
    project = read(text)
    monkeypatch.delenv("LEDGER_ADDRESS", raising=False)
    with pytest.raises(DiscreetError) as caught:
        project.open_ledger()
    assert caught.value.code == "variable_not_set"
    assert refused(text + 'password = "secret"\n').code == "project_field_unknown"
    assert refused(text.replace('key = "owner.key"\n', "")).code == "project_field_missing"
    address = refused(text.replace("LEDGER_ADDRESS", "postgresql://owner:secret@db/ledgers"))
    assert address.code == "project_field_kind"
    assert "secret" not in str(address)
    as_file = refused(WHOLE.replace('"visits.ledger"', '"postgresql://owner:secret@db/ledgers"'))
    assert as_file.code == "ledger_key_needed"
    assert "secret" not in str(as_file)


def test_tables_on_a_server_are_named_and_not_found_by_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = '[engine]\nkind = "postgres"\naddress_from = "CLINIC_ADDRESS"\n'
    text = WHOLE.partition("[public")[0] + server
    assert refused(text).code == "project_field_missing"
    project = read(text.replace('path = "visits.csv"', 'table = "clinic.visits"'))
    monkeypatch.delenv("CLINIC_ADDRESS", raising=False)
    with pytest.raises(DiscreetError) as caught:
        project.database()
    assert caught.value.code == "variable_not_set"


def test_the_project_file_of_the_page_is_understood(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    whole, server = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "policy.toml").write_text(
        "[max_spend]\nepsilon = 1\n[tables.visits]\nfilter = []\ngroup = []\naggregate = []\n",
        encoding="utf-8",
    )
    assert len(read(whole, tmp_path).tables) == 2
    rest = WHOLE.partition("[tables.visits]")[0].replace('ledger = "visits.ledger"', "")
    unit = '[tables.visits.unit]\nkind = "row"\n'
    assert read(server + rest + unit).unit == dp.Row()


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError) as caught:
        dp.Project.read(tmp_path / "discreet.toml")
    assert caught.value.code == "project_missing"
    assert "discreet init" in caught.value.remedy


def test_a_project_opens_its_curator(tmp_path: Path) -> None:
    write_visits(tmp_path)
    (tmp_path / "wards.csv").write_text("ward,floor\nA,1\nB,2\n", encoding="utf-8")
    text = WHOLE.replace("town =", "# town =")
    (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
    project = dp.Project.read(tmp_path / "discreet.toml")
    with project.curator() as curator:
        sql = "SELECT floor, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY floor"
        assert curator.sql(sql, spend=dp.PureDP(epsilon=1)).keys["floor"] == (1, 2)
    assert (tmp_path / "visits.ledger").exists()
    opened = project.open_ledger()
    assert opened.spent == dp.ApproxDP(epsilon=1, delta=0, unit=project.unit)
    opened.close()


def test_a_look_begins_no_ledger_and_can_release_nothing(tmp_path: Path) -> None:
    write_visits(tmp_path)
    text = WHOLE.replace("town =", "# town =").partition("[public")[0]
    look = read(text, tmp_path).look()
    expected = look.preview("SELECT COUNT(*) AS n FROM visits", spend=dp.PureDP(epsilon=1))
    assert expected.affordable == 3
    look.close()
    assert not (tmp_path / "visits.ledger").exists()
    assert [name for name in ("sql", "release", "open", "batch") if hasattr(look, name)] == []


def test_a_policy_named_in_the_file_holds(tmp_path: Path) -> None:
    write_visits(tmp_path)
    (tmp_path / "policy.toml").write_text(
        'purposes = ["planning"]\n[max_spend]\nepsilon = 0.5\n'
        '[tables.visits]\nfilter = ["age"]\ngroup = ["ward"]\naggregate = ["age"]\n',
        encoding="utf-8",
    )
    text = 'policy = "policy.toml"\n' + WHOLE.replace("town =", "# town =").partition("[public")[0]
    with read(text, tmp_path).curator() as curator:
        sql = "SELECT COUNT(*) AS n FROM visits"
        assert len(curator.sql(sql, spend=dp.PureDP(epsilon=0.5), purpose="planning")) == 1
        with pytest.raises(DiscreetError):
            curator.sql(sql, spend=dp.PureDP(epsilon=0.6), purpose="planning")
        with pytest.raises(DiscreetError):
            curator.sql(sql, spend=dp.PureDP(epsilon=0.5))


def test_parts_of_the_service_are_kept_as_they_stand_and_others_refused() -> None:
    plain = read(WHOLE)
    assert (plain.service, plain.record) == (None, None)
    both = read(f"{WHOLE}\n[service]\nquantum = 1\n[record]\nunit = 'a patient'\n")
    assert both.service is not None
    assert both.service.take("quantum", NUMBER) == 1
    assert both.record is not None
    assert replace(both, service=None, record=None) == plain
    assert "servise" in str(refused(f"{WHOLE}\n[servise]\nquantum = 1\n"))
    assert refused(f"service = 1\n{WHOLE}").code == "project_field_kind"
