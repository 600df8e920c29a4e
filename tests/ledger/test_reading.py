"""What a ledger gives back, and to whom."""

import re

import pytest

from discreet.errors import InvalidParameter
from discreet.ledger import Checkpoint, Ledger, Memory
from tests.ledger.examples import released, reserve, terms


class TestFind:
    def test_returns_the_committed_release_to_the_same_asker(self, ledger: Ledger) -> None:
        released(ledger, [1.5, None, "ü\ud800"], query="SELECT 1")
        assert ledger.find(analyst="ann", query="SELECT 1") == {"value": [1.5, None, "ü\ud800"]}

    def test_returns_it_with_its_keys_in_their_order(self, ledger: Ledger) -> None:
        ledger.commit(reserve(ledger), {"z": 1, "a": {"y": 2, "b": 3}})
        found = ledger.find(analyst="ann", query="count")
        assert found is not None
        assert list(found) == ["z", "a"]
        assert list(found["a"]) == ["y", "b"]

    def test_returns_nothing_to_others_or_for_other_questions(self, ledger: Ledger) -> None:
        released(ledger, 1)
        assert ledger.find(analyst="bob", query="count") is None
        assert ledger.find(analyst="ann", query="count ") is None
        assert ledger.find(analyst="annc", query="ount") is None

    def test_returns_the_latest(self, ledger: Ledger) -> None:
        early, late = reserve(ledger), reserve(ledger)
        ledger.commit(late, {"value": "first"})
        ledger.commit(early, {"value": "second"})
        assert ledger.find(analyst="ann", query="count") == {"value": "second"}

    def test_returns_nothing_before_the_commitment_or_after_a_failure(self, ledger: Ledger) -> None:
        reserve(ledger)
        ledger.fail(reserve(ledger), "engine_failed")
        assert ledger.find(analyst="ann", query="count") is None

    def test_gives_a_copy_that_changes_nothing(self, ledger: Ledger) -> None:
        released(ledger, 1)
        found = ledger.find(analyst="ann", query="count")
        assert isinstance(found, dict)
        found["value"] = 2
        assert ledger.find(analyst="ann", query="count") == {"value": 1}


@pytest.mark.parametrize(
    "release",
    [
        {"n": float("inf")},
        {"n": (1, 2)},
        {1: "n"},
        {"n": b"x"},
        {"n": {True: 1}},
        [1],
        {"n": 10**5000},
    ],
)
def test_releases_that_would_come_back_otherwise_are_refused(
    ledger: Ledger, release: object
) -> None:
    name = reserve(ledger)
    with pytest.raises(InvalidParameter) as refusal:
        ledger.commit(name, release)  # type: ignore[arg-type]
    assert refusal.value.code == "not_plain_json"
    ledger.commit(name, {"n": 1})


class TestSnapshots:
    def test_have_one_random_id_for_one_tag(self, ledger: Ledger) -> None:
        first, second = ledger.snapshot("monday"), ledger.snapshot("tuesday")
        assert ledger.snapshot("monday") == first != second
        assert len(list(ledger.entries())) == 3

    def test_do_not_keep_the_tag(self, ledger: Ledger) -> None:
        ledger.snapshot("a hash of private data")
        assert "hash" not in repr(list(ledger.entries()))

    def test_differ_between_ledgers(self) -> None:
        ids = []
        for _ in range(2):
            ledger = Memory()
            ledger.open(terms())
            ids.append(ledger.snapshot("monday"))
        assert ids[0] != ids[1]


def test_tags_are_keyed_and_repeatable(ledger: Ledger) -> None:
    other = Memory()
    other.open(terms())
    assert ledger.tag("file") == ledger.tag("file") != ledger.tag("File")
    assert ledger.tag("file") != other.tag("file")


def test_no_tag_is_a_seal(ledger: Ledger) -> None:
    key = ledger.chain.owner()
    assert key.tag("x") != key.seal(b'["x"]')


class TestHeads:
    def test_name_the_last_entry(self, ledger: Ledger) -> None:
        *_, last = ledger.entries()
        assert ledger.checkpoint() == Checkpoint(number=last.number, mac=last.mac)

    def test_are_one_line_of_text(self, ledger: Ledger) -> None:
        assert Checkpoint.parse(f" {ledger.checkpoint()}\n") == ledger.checkpoint()

    @pytest.mark.parametrize("text", ["", "1", "0:" + "a" * 64, "1:" + "A" * 64, 7])
    def test_are_not_any_text(self, text: object) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            Checkpoint.parse(text)  # type: ignore[arg-type]
        assert refusal.value.code == "not_a_head"


def test_times_are_in_utc(ledger: Ledger) -> None:
    (entry,) = ledger.entries()
    assert entry.time.endswith("+00:00")


def test_nothing_shows_the_key(ledger: Ledger) -> None:
    assert repr(ledger.chain.owner()) == "OwnerKey(...)"
    shown = {"Memory()", f"SQLite({str(getattr(ledger, 'path', ''))!r})"}
    assert repr(ledger) in shown or re.fullmatch(
        r"Postgres\('visits-\w+' at '127\.0\.0\.1:\d+/\w+'\)", repr(ledger)
    )
