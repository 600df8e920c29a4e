"""Whatever is renamed or moved, what is stored and hashed stays as it was."""

from __future__ import annotations

import inspect
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name, walk_packages
from typing import Any, get_args

import pytest

import discreet
import discreet as dp
from discreet.core import written
from discreet.core.events import tuned as tuned_event
from discreet.core.events import versioned
from discreet.core.events.event import Event
from discreet.core.written import Form
from discreet.curator import tags as curator_tags
from discreet.curator.rounds import plan as planning
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.synopsis.fingerprint import fingerprint_of
from discreet.mechanisms import tags as mechanism_tags
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.mechanisms.scores import Scores
from discreet.queries import tags as query_tags
from discreet.queries.analysts import tags as analyst_tags
from discreet.queries.online.updaters import Updater
from discreet.queries.synopses import synopsis
from discreet.relational.identity import tags as relational_tags
from discreet.relational.identity.identity import canonical_text
from discreet.relational.plan.nodes import JoinKind
from discreet.relational.types.data_type import DataType
from discreet.release import intervals
from discreet.synthetic import tags as synthetic_tags
from tests.curator.golden import digests, hospital
from tests.curator.golden.hospital import CARE
from tests.curator.golden.test_digests import KEPT
from tests.curator.golden.test_hospital import TOLD

SOURCE = Path(discreet.__file__).parent
TABLES: tuple[dict[Any, Form], ...] = (
    written.FORMS,
    relational_tags.FORMS,
    curator_tags.FORMS,
    mechanism_tags.FORMS,
    query_tags.FORMS,
    analyst_tags.FORMS,
    synthetic_tags.FORMS,
)


def below(kind: type[Any]) -> Iterator[type[Any]]:
    every: list[type[Any]] = kind.__subclasses__()
    for each in every:
        yield each
        yield from below(each)


def renamed() -> set[Any]:
    """Every class and function that something stored is about."""
    bases: tuple[type, ...] = (Event, Distribution, Updater)
    laws = (tuned_event.TruncatedNegativeBinomial, tuned_event.PoissonRuns)
    found = {kind for base in bases for kind in below(base)} | set(laws)
    found |= {kind for table in TABLES for kind in table}
    return {kind for kind in found if kind.__module__.startswith("discreet.")}


NAMES = ("__name__", "__qualname__", "__module__")
ENUMERATIONS: tuple[type[Enum], ...] = (DataType, JoinKind, Scores)


@contextmanager
def other_names(*members: str) -> Iterator[None]:
    """Call everything something else, and hide these ``members`` of enumerations."""
    kept = [(kind, part, getattr(kind, part)) for kind in renamed() for part in NAMES]
    try:
        for number, (kind, part, _) in enumerate(kept):
            setattr(kind, part, f"elsewhere{number}")
        for enumeration in ENUMERATIONS:
            for part in members:
                type.__setattr__(enumeration, part, property(lambda _: "nonsense"))
        yield
    finally:
        for kind, part, value in kept:
            setattr(kind, part, value)
        for enumeration in ENUMERATIONS:
            for part in members:
                type.__delattr__(enumeration, part)


def hidden() -> set[str]:
    return {member.name for enumeration in ENUMERATIONS for member in enumeration}


def test_no_name_of_a_class_function_or_module_is_written() -> None:
    with other_names("name", "value"):
        assert hidden() == {"nonsense"}
        found = json.loads(json.dumps(digests.found(), default=list))
    assert "nonsense" not in hidden()
    assert found == KEPT


def test_a_field_that_is_renamed_is_written_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Renamed:
        ddof: int
        present: int = 2

    table: dict[Any, Form] = relational_tags.FORMS
    monkeypatch.setitem(table, Renamed, Form("variance/1", "present freedom:ddof"))
    assert canonical_text(Renamed(1)) == "variance/1(present=2,freedom=1)"
    form = table[Renamed]
    form.require_all(Renamed)
    assert form.arguments({"freedom": 3}) == {"ddof": 3}
    assert form.arguments({"ddof": 3}) is None
    with pytest.raises(LookupError):
        Form("variance/1", "present").require_all(Renamed)
    with pytest.raises(LookupError):
        Form("variance/1", "present freedom").require_all(Renamed)


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_tags_are_unique_and_name_what_there_is(table: dict[Any, Form]) -> None:
    assert len({form.tag for form in table.values()}) == len(table)
    for kind, form in table.items():
        if inspect.isfunction(kind):
            there = set(inspect.signature(kind).parameters)
        else:
            there = {item.name for item in fields(kind)} if is_dataclass(kind) else set()
        assert {now for _, now in form.names} <= there, kind
        if table in (query_tags.FORMS, analyst_tags.FORMS, mechanism_tags.FORMS):
            assert {now for _, now in form.names} == there, kind


@pytest.mark.parametrize("package", ["queries", "queries.analysts", "mechanisms"])
def test_every_public_mechanism_is_registered(package: str) -> None:
    module = import_module(f"discreet.{package}")
    public = [getattr(module, name) for name in module.__all__]
    made = [each for each in public if inspect.isclass(each) or inspect.isfunction(each)]
    # Errors and scores are numbers that people ask for, and a protocol is a form; none is made.
    other = ("laplace_sum_error", "Synopsis", "UsefulRuns", "useful_runs")
    told = [each for each in made if each.__name__ not in other]
    assert [each for each in told if fingerprint_of(each) is None] == []


def test_every_release_of_a_round_and_every_noise_has_a_name() -> None:
    for kind in get_args(planning.RoundMechanism):
        assert kind is CorrectedGame or curator_tags.form_of(kind) is not None
    laws = [kind for kind in below(Distribution) if not inspect.isabstract(kind)]
    assert {kind.kind for kind in laws} == set(KEPT["laws"])
    assert intervals is not None


def test_events_name_themselves() -> None:
    for module in walk_packages(discreet.core.__path__, "discreet.core."):
        import_module(module.name)
    ours = [kind for kind in versioned._KINDS.values() if kind.__module__.startswith("discreet.")]
    assert [kind for kind in ours if "kind" not in vars(kind)] == []
    assert len(ours) >= 23


def test_every_kind_of_synopsis_can_be_read_back() -> None:
    for tag, place in synopsis._KINDS.items():
        found = resolve_name(f"discreet.queries.{place}")
        assert callable(found.from_dict)
        assert f'"synopsis": "{tag}"' in inspect.getsource(found.to_dict)


ALLOWED = {
    "core/content.py": "rows of the owner's own classes, told apart while they are sorted",
    "core/events/versioned.py": "two classes under one kind are refused",
    "relational/frontends/as_sql.py": "what library a table comes from",
    "relational/engines/duckdb/frames.py": "what library a table comes from",
    "relational/schema/sources.py": "what library a table comes from",
    "server/workers/pool.py": "what the parent of worker processes loads beforehand",
}


def test_no_dotted_path_is_computed() -> None:
    places = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"__qualname__|__module__", path.read_text(encoding="utf-8"))
    }
    assert places == set(ALLOWED)


NAMED = re.compile(r"__name__|\basdict\(|\brepr\(")
QUIET = re.compile(r"received=|raise |Error\(|reason=|expectation=")
FORMS_OF = (
    "relational/identity/identity.py",
    "relational/planning/stored_allocation.py",
    "relational/types/expression.py",
    "queries/workload/stored_form.py",
    "queries/online/stored_construction.py",
    "queries/online/journal.py",
    "queries/synopses/synopsis.py",
    "mechanisms/sparse_vector/plain.py",
    "release/guarantee.py",
    "release/serialize.py",
    "curator/statement.py",
    "curator/synopsis/fingerprint.py",
    "curator/synopsis/make.py",
    "curator/key_statement.py",
    "curator/budget.py",
    "curator/interactive/open_conversation.py",
    "curator/purchase.py",
    "curator/sql.py",
    "curator/batch.py",
    "curator/bounds.py",
    "curator/interactive/sparse_vector.py",
    "curator/sub_budgets/blocks.py",
    "curator/sub_budgets/parts.py",
    "curator/rounds/resume.py",
    "curator/rounds/analyst_spending.py",
    "curator/rounds/open.py",
)
PLAIN_VALUES = {
    "relational/identity/identity.py": 5,  # plain values, and the refusal of anything else
    "relational/types/expression.py": 1,  # constants of a function
    "curator/synopsis/fingerprint.py": 1,  # plain values
    "curator/budget.py": 1,  # a number as it was written
    "curator/interactive/open_conversation.py": 1,  # a refusal
    "curator/interactive/sparse_vector.py": 1,  # what a mechanism of one's own answered
    "release/guarantee.py": 1,  # words for a guarantee that nobody knows
}


@pytest.mark.parametrize("place", FORMS_OF)
def test_stored_forms_ask_no_class_for_its_name(place: str) -> None:
    lines = (SOURCE / place).read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if NAMED.search(line) and not QUIET.search(line)]
    assert len(found) <= PLAIN_VALUES.get(place, 0), found


def test_a_function_or_class_of_ones_own_is_not_described() -> None:
    def mine() -> None:
        """Of nobody's package."""

    mine.__module__ = "discreet.queries.mwem.mwem"
    assert fingerprint_of(mine) is None
    assert fingerprint_of(dp.queries.MWEM) == "discreet.queries.mwem.MWEM"


def test_a_ledger_is_read_as_before_when_everything_has_another_name(tmp_path: Path) -> None:
    for name in (hospital.NAME, f"{hospital.NAME}.key"):
        shutil.copyfile(Path(__file__).parent / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    with other_names("name"), hospital.curator(tmp_path / hospital.NAME) as source:
        for name, (text, spend) in hospital.ASKED.items():
            assert source.sql(text, spend=spend, **CARE).to_json() == TOLD[name]
        for name, (about, mechanism, spend) in hospital.made().items():
            found = source.synopsis(about(source), mechanism=mechanism, spend=spend, **CARE)
            assert found.id == TOLD["synopses"][name][0]
        for name, asked, spend in (
            ("batch", hospital.TOGETHER, hospital.TWO),
            ("paired", hospital.PAIRED, hospital.PAIR),
        ):
            batch = source.batch(asked, spend=spend, **CARE)
            assert {key: release.to_json() for key, release in batch.items()} == TOLD[name]
        for name, account in hospital.shared(source).items():
            release = account.sql(hospital.INSIDE, spend=hospital.TWO, **CARE)
            assert [release.to_json(), hospital.left(account)] == TOLD["shared"][name]
        assert source.resume(TOLD["conversation"][0]).ask("ward", "C").number == 4
        assert source.resume(TOLD["watches"]["sparse"][0]).ask(hospital.EVERYBODY)
        ended, told = TOLD["closed round"]
        assert hospital.sums(source.resume(ended).close()) == told
        assert source.resume(TOLD["open round"]).close() is not None
        assert [str(amount) for amount in source.ledger.spent()] == TOLD["spent"]
        source.ledger.verify(TOLD["head"])
