"""The clients: Python and JavaScript, held to the same vectors, random in one line alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from typing import Any

import pytest

from discreet import local
from discreet.local.client import Client, Refused
from discreet.local.numeric import MeanResponse, SquareWave
from discreet.local.unit_vectors import PrivUnit
from discreet.local.vectors import VectorMean
from tests.local import javascript, vectors
from tests.local.examples import collection, oracles, rappor
from tests.server.browsing import browser

FROZEN = json.loads(vectors.FILE.read_text(encoding="utf-8"))
RUN = "process.stdout.write(JSON.stringify({}));"


def test_the_python_client_gives_the_frozen_vectors() -> None:
    assert json.loads(json.dumps(vectors.made())) == FROZEN


def test_the_javascript_client_gives_the_same_vectors() -> None:
    assert javascript.node(javascript.test_build() + RUN.format("failures(given)"), FROZEN) == []


def test_a_mistake_in_the_javascript_client_is_noticed() -> None:
    build = javascript.test_build()
    for right, wrong in (
        ("other >= index ? 1 : 0", "other > index ? 1 : 0"),
        ("word() < BigInt(chance)", "word() <= BigInt(chance) + (1n << 62n)"),
        ("value % size", "(value + 1n) % size"),
        ("oracle.again, held", "oracle, held"),
    ):
        assert right in build
        script = build.replace(right, wrong) + RUN.format("failures(given).length")
        assert javascript.node(script, FROZEN) > 0


def test_javascript_has_one_source_of_randomness_and_no_dependency() -> None:
    code = re.sub(r"^\s*//.*$", "", javascript.SOURCE, flags=re.MULTILINE)
    assert code.count("getRandomValues") == 1
    for word in ("Math.random", "Math.exp", "Math.log", "import", "require", "eval", "Date"):
        assert word not in code
    assert len(javascript.SOURCE) < 20_000


@pytest.mark.parametrize("values", [[2], ["2"], [True], [1.5], [-1], [None]])
def test_both_clients_refuse_values_outside_without_repeating_them(values: list[Any]) -> None:
    schema = collection(local.DirectEncoding(epsilon=1, domain=2)).schema
    with pytest.raises(Refused) as refusal:
        Client(schema).privatize(values[0])
    assert refusal.value.code == "local_value_outside"
    script = """
    let code = "none", text = "";
    try { new discreetLocal.Client(given[0]).privatize(given[1]); }
    catch (error) { code = error.code; text = error.message; }
    """
    found = javascript.node(
        javascript.SOURCE + script + RUN.format("[code, text]"), [schema, values[0]]
    )
    assert found == ["local_value_outside", str(refusal.value)]


def test_schemas_of_another_format_are_refused() -> None:
    schema = collection(local.DirectEncoding(epsilon=1, domain=2)).schema
    other = schema.replace("discreet.local/1", "discreet.local/2")
    with pytest.raises(Refused, match="local_schema_format"):
        Client(other)
    unknown = schema.replace('"kind":"direct"', '"kind":"telepathy"')
    with pytest.raises(Refused, match="local_schema_kind"):
        Client(unknown)


class Words(Client):
    """Hands out given words."""

    def __init__(self, words: Iterator[int]) -> None:
        super().__init__(collection(local.DirectEncoding(epsilon=1, domain=2)).schema)
        self._words = words

    def _bytes(self, count: int) -> bytes:
        assert count == 8
        return next(self._words).to_bytes(8, "little")


def test_coins_and_uniform_numbers_are_exact() -> None:
    client = Words(iter([4, 5, 0, (1 << 64) - 1]))
    assert [client._coin("5") for _ in range(3)] == [True, False, True]
    assert client._coin(str((1 << 64) - 1)) is False
    # 2**64 = 3 k + 1: the last word would make 0 a little likelier, and is drawn again.
    assert Words(iter([(1 << 64) - 1, 7]))._uniform(3) == 1
    assert Words(iter([(1 << 64) - 2]))._uniform(3) == 2
    assert Words(iter([(1 << 64) - 1]))._uniform(1 << 32) == (1 << 32) - 1


def test_the_client_is_small_and_loads_nothing_else() -> None:
    place = files("discreet.local") / "client.py"
    assert len(place.read_text(encoding="utf-8")) < 25_000
    code = (
        "import sys, runpy\n"
        f"space = runpy.run_path({str(place)!r})\n"
        "space['Client']\n"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('numpy', 'scipy', 'discreet')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    lazily = "import sys, discreet.local.client\nprint('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", lazily], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("kind", sorted(oracles(1)))
def test_real_reports_of_both_clients_are_accepted_and_never_alike(kind: str) -> None:
    asked = collection(oracles(1)[kind])
    client = asked.client()
    reports = [client.privatize(value % 5) for value in range(60)]
    script = """
    const client = new discreetLocal.Client(given);
    const found = Array.from({length: 60}, (_, value) => client.privatize(value % 5));
    """
    reports += javascript.node(javascript.SOURCE + script + RUN.format("found"), asked.schema)
    collector = local.Collector(asked)
    assert collector.take(reports) == 120
    assert collector.rejected.total == 0
    assert len({json.loads(report)["nonce"] for report in reports}) == 120


def test_memory_goes_on_in_another_client() -> None:
    asked = collection(rappor(6, 5))
    first = asked.client()
    first.privatize(3)
    kept = json.loads(json.dumps(first.memory))
    second = asked.client(kept)
    second.privatize(3)
    assert second.memory == first.memory
    assert first.memory["survey/1"]["value"] == first.number_of_kept_value == 3


def test_memory_is_that_of_one_name_and_version() -> None:
    """A client of another version finds nothing of the first, and leaves it alone."""
    first = local.Collection(
        name="a", version=1, oracle=local.DirectEncoding(epsilon=8, domain=10), memoised=True
    )
    hashing = local.OptimalLocalHashing(epsilon=1, domain=10)
    second = local.Collection(name="a", version=2, oracle=hashing, memoised=True)
    client = first.client()
    client.privatize(3)
    kept = json.loads(json.dumps(client.memory))
    other = second.client(client.memory)
    assert other.number_of_kept_value is None
    assert len(json.loads(other.privatize(3))["report"]) == 3
    script = """
    const other = new discreetLocal.Client(given[0], given[1]);
    const report = JSON.parse(other.privatize(3)).report;
    """
    given = [second.schema, kept]
    found = javascript.node(
        javascript.SOURCE + script + RUN.format("[report.length, other.memory]"), given
    )
    assert found[0] == 3
    assert found[1]["a/1"] == kept["a/1"] == client.memory["a/1"]
    assert found[1]["a/2"]["value"] == 3


def test_another_question_under_a_name_that_was_asked_is_refused() -> None:
    """Labels in another order: the kept report came again where a label had kept its number.

    So two reports of epsilon 1/10 each told whether the value was "b", for certain.
    """
    first, second = (
        local.Collection(
            name="a",
            version=1,
            memoised=True,
            oracle=local.OptimalLocalHashing(epsilon=Fraction(1, 10), domain=labels),
        )
        for labels in (["a", "b", "c"], ["c", "b", "a"])
    )
    for value in ("a", "b"):
        client = first.client()
        client.privatize(value)
        kept = json.loads(json.dumps(client.memory))
        for memory in (client.memory, kept):
            with pytest.raises(Refused, match="local_schema_changed"):
                second.client(memory)
        script = """
        let code = "taken";
        try { new discreetLocal.Client(given[0], given[1]); } catch (error) { code = error.code; }
        """
        given = [second.schema, kept]
        found = javascript.node(javascript.SOURCE + script + RUN.format("code"), given)
        assert found == "local_schema_changed"
    # A client that was there before the other question was asked is held to it as well.
    shared: dict[str, Any] = {}
    early = second.client(shared)
    first.client(shared).privatize("b")
    with pytest.raises(Refused, match="local_schema_changed"):
        early.privatize("b")
    # What was kept without its question is not believed.
    for name in ("a", "b"):
        unknown: dict[str, Any] = {"a/1": {"value": 1, "report": [7, 7, 7]}}
        client = first.client(unknown)
        assert client.number_of_kept_value is None
        assert json.loads(client.privatize(name))["report"] != [7, 7, 7]


def _refusals(schemas: list[str]) -> list[list[str]]:
    """The codes with which both clients refuse schemas, or 'taken'."""
    python = []
    for schema in schemas:
        try:
            Client(schema)
            python.append("taken")
        except Refused as refusal:
            python.append(refusal.code)
    script = """
    const found = given.map((schema) => {
      try { new discreetLocal.Client(schema); return "taken"; } catch (error) { return error.code; }
    });
    """
    return [python, javascript.node(javascript.SOURCE + script + RUN.format("found"), schemas)]


def test_honest_schemas_of_every_size_of_epsilon_are_taken_on_the_device() -> None:
    epsilons = [2**-30, 1e-3, 0.1, 1 / 3, 1, 2.5, 7, 16, 31.9, 32]
    asked = [collection(oracle) for e in epsilons for oracle in oracles(e).values()]
    asked += [collection(rappor(e, e / 2)) for e in epsilons[1:]]
    for e in epsilons:
        asked += [collection(kind(epsilon=e, dimensions=5)) for kind in (VectorMean, PrivUnit)]
    wide = {1e-3: 2, 1: 1 << 22, 32: 1 << 26}
    asked += [
        collection(local.LaplaceMean(epsilon=e, domain=wide.get(e, 1001))) for e in epsilons[1:]
    ]
    schemas = [each.schema for each in asked] + [each["schema"] for each in FROZEN]
    assert _refusals(schemas) == [["taken"] * len(schemas)] * 2


def _changed(schema: str, path: list[str | int], value: Any) -> str:
    document = json.loads(schema)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(document)


def test_chances_that_tell_more_than_epsilon_are_refused_on_the_device() -> None:
    """One step of 2**-64 is enough, in every kind; so is a domain beyond the oracle's."""
    whole, bad = 1 << 64, []
    asked = [
        *oracles(1).values(),
        MeanResponse(epsilon=1, domain=9),
        SquareWave(epsilon=1, domain=9),
    ]
    for oracle in asked:
        schema = collection(oracle).schema
        path: list[str | int] = ["oracle"]
        written = json.loads(schema)["oracle"]
        while "inner" in written:
            written, path = written["inner"], [*path, "inner"]
        if "keep" in written:
            wrongs = (int(written["keep"]) + 1, whole, whole + 1, 0, -1, 1)
            bad += [_changed(schema, [*path, "keep"], str(wrong)) for wrong in wrongs]
        else:
            for name, wrong in (
                ("zero", int(written["zero"]) - 8),
                ("one", whole),
                ("one", whole + 5),
                ("zero", 0),
                ("zero", whole - 1),
            ):
                bad.append(_changed(schema, [*path, name], str(wrong)))
        bad.append(_changed(schema, ["epsilon"], "99/100"))
        bad.append(_changed(schema, ["epsilon"], "33"))
        bad.append(_changed(schema, ["version"], "1"))
    for kind in ("direct", "subset"):
        schema = collection(oracles(1)[kind]).schema
        bad.append(_changed(schema, ["domain"], {"size": 6}))
        bad.append(_changed(schema, ["domain"], {"labels": list("abcdef")}))
        bad.append(_changed(schema, ["domain"], {"text": True}))
    split = collection(vectors.TREE.oracle).schema
    bad.append(_changed(split, ["oracle", "parts", 1, "oracle", "keep"], str(whole - 1)))
    bad.append(_changed(split, ["oracle", "parts", 1, "digits", 0, 0], -1))
    bad.append(_changed(split, ["oracle", "parts"], []))
    assert _refusals(bad) == [["local_schema_chances"] * len(bad)] * 2


@pytest.mark.parametrize(("epsilon", "once"), [(2, 1), (4, 1), (8, "15/2")])
def test_what_a_single_report_of_rappor_tells_is_checked_on_the_device(
    epsilon: int, once: int | str
) -> None:
    """``once`` is held as epsilon is: kept bits that are told too well are refused."""
    schema = collection(rappor(epsilon, Fraction(once))).schema
    written = json.loads(schema)["oracle"]["again"]
    whole, told = 1 << 64, int(written["one"])
    least = whole >> 40  # rounding leaves the ratio a little below what is allowed
    bad = [
        _changed(schema, ["oracle", "again", "one"], str(told + least)),
        _changed(schema, ["oracle", "again", "zero"], str(whole - told - least)),
        _changed(schema, ["oracle", "again", "one"], str(whole)),
        _changed(schema, ["oracle", "again", "one"], str(whole + 1)),
        _changed(schema, ["oracle", "again", "zero"], "-1"),
        _changed(schema, ["oracle", "again", "once"], "99/100"),
        _changed(schema, ["oracle", "again", "once"], "33"),
        _changed(schema, ["oracle", "again"], {"one": str(told), "zero": str(whole - told)}),
        schema.replace('"memoised":true', '"memoised":false'),
        _changed(schema, ["memoised"], 1),
    ]
    direct = collection(local.DirectEncoding(epsilon=1, domain=3), memoised=True).schema
    bad.append(_changed(direct, ["oracle", "again"], written))
    assert _refusals([schema, *bad]) == [["taken", *["local_schema_chances"] * len(bad)]] * 2


def test_vectors_and_values_are_not_mixed_up_on_the_device() -> None:
    """A vector that reached an oracle of values would be told as it is."""
    direct = collection(local.DirectEncoding(epsilon=1, domain=3)).schema
    sketch = collection(oracles(1)["count_sketch"]).schema
    split = collection(vectors.TREE.oracle).schema
    bad = [_changed(direct, ["domain"], {"vector": 3})]
    for question in (VectorMean(epsilon=1, dimensions=3), PrivUnit(epsilon=1, dimensions=3)):
        schema, written = collection(question).schema, question.describe_randomiser()
        bad += [
            _changed(schema, ["oracle", "keep"], str(question.keep + 1)),
            _changed(schema, ["oracle", "keep"], str(1 << 64)),
            _changed(schema, ["oracle", "dimensions"], 4),
            _changed(schema, ["oracle", "steps"], 0),
            _changed(schema, ["domain"], {"vector": 4}),
            _changed(schema, ["domain"], {"vector": 0}),
            _changed(schema, ["domain"], {"size": 3}),
            schema.replace('"memoised":false', '"memoised":true'),
            _changed(schema, ["epsilon"], "99/100"),
            _changed(sketch, ["oracle", "inner"], written),
            _changed(split, ["oracle", "parts", 0, "oracle"], written),
        ]
    unit = collection(PrivUnit(epsilon=1, dimensions=3)).schema
    bad += [_changed(unit, ["oracle", "near"], near) for near in (0, 1, 64, 65)]
    bad.append(_changed(unit, ["oracle", "directions"], 128))
    assert _refusals(bad) == [["local_schema_chances"] * len(bad)] * 2


@pytest.mark.slow
def test_the_javascript_client_works_in_a_real_browser() -> None:
    """The vectors in a test build, then real reports of the shipped file, taken by a collector."""
    asked = collection(local.OptimalLocalHashing(epsilon=3, domain=["no", "yes", "perhaps"]))
    with browser() as seen:
        seen.open("about:blank")
        run = javascript.test_build() + "\nreturn failures(arguments[0]);"
        assert seen.driver.execute_script(run, FROZEN) == []
        script = """
        const client = new discreetLocal.Client(arguments[0]);
        return Array.from({length: 3000}, () => client.privatize("yes"));
        """
        reports = seen.driver.execute_script(javascript.SOURCE + script, asked.schema)
    collector = local.Collector(asked)
    assert collector.take(reports) == 3000
    shares = collector.estimate()
    assert abs(shares.shares[1] - 1) < 7 * shares.standard_errors[1]
    assert abs(shares.shares[0]) < 7 * shares.standard_errors[0]
