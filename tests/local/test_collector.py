"""Bad reports are counted and dropped by themselves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import InvalidParameter
from tests.local.examples import collection, oracles


def report(asked: local.Collection, **changes: object) -> str:
    found = json.loads(asked.client().privatize(1))
    return json.dumps({**found, **changes})


def test_each_kind_of_bad_report_is_counted() -> None:
    asked = collection(oracles(1)["optimal_hashing"])
    collector = local.Collector(asked)
    good = [asked.client().privatize(1) for _ in range(20)]
    prime = asked.oracle.describe_randomiser()["prime"]
    bad: list[Any] = [
        *("", "{", "[]", "null", "7", '{"schema": "survey"}', b"\xff\xfe", "[" * 100_000, 5, None),
        report(asked, nonce="short"),
        report(asked, nonce="Z" * 32),
        report(asked, extra=1),
        report(asked, schema="another"),
        report(asked, version=2),
        report(asked, report=[prime, 0, 0]),  # a seed that no client draws
        report(asked, report=[0, prime, 0]),
        report(asked, report=[-1, 0, 0]),
        report(asked, report=[0, 0, 4]),
        report(asked, report=[0, 0]),
        report(asked, report=[0, 0, True]),
        report(asked, report=[0, 0, 0.5]),
        good[0],
        good[1],
    ]
    mixed = [each for pair in zip(good, bad[: len(good)], strict=False) for each in pair]
    mixed += bad[len(good) :]
    assert collector.take(mixed) == 20
    assert vars(collector.rejected) == {
        "malformed": 13,
        "other_schema": 1,
        "other_version": 1,
        "outside": 7,
        "replayed": 2,
    }
    clean = local.Collector(asked)
    clean.take(good)
    assert np.array_equal(clean.tally.table, collector.tally.table)


@pytest.mark.parametrize("kind", sorted(oracles(1)))
@pytest.mark.parametrize(
    "payload",
    [None, "zz", -1, 5, 10**30, [], [[]], {}, "ff" * 40, [0, 0, 0, 0, 0], "\u00e9", [9, 9]],
)
def test_no_payload_breaks_a_collector(kind: str, payload: object) -> None:
    asked = collection(oracles(1)[kind])
    collector = local.Collector(asked)
    collector.take([report(asked, report=payload), asked.client().privatize(0)])
    assert collector.rejected.outside == 1
    assert collector.tally.people == 1


def test_replays_are_noticed_across_batches_and_forgotten_with_the_round() -> None:
    asked = collection(oracles(1)["direct"])
    collector = local.Collector(asked)
    one = asked.client().privatize(0)
    assert [collector.take([one, one]), collector.take([one])] == [1, 0]
    assert collector.rejected.replayed == 2
    assert collector.close_round().people == 1
    assert collector.tally.people == 0
    assert collector.take([one]) == 1


def test_memory_against_replay_is_bounded() -> None:
    asked = collection(oracles(1)["direct"])
    collector = local.Collector(asked, most_nonces=2)
    client = asked.client()
    collector.take([client.privatize(0), client.privatize(0)])
    with pytest.raises(InvalidParameter, match="local_collector_full"):
        collector.take([client.privatize(0)])


def test_a_batch_that_does_not_fit_is_not_half_lost() -> None:
    """Reports before the one too many were noted and dropped, and their copies seen as replays."""
    asked = collection(oracles(1)["direct"])
    collector = local.Collector(asked, most_nonces=2)
    client = asked.client()
    batch = [client.privatize(0) for _ in range(3)]
    with pytest.raises(InvalidParameter, match="local_collector_full"):
        collector.take(batch)
    assert not collector.nonces
    assert collector.take(batch[:2]) == 2
    assert collector.rejected.total == 0


def test_what_is_kept_has_no_nonce() -> None:
    asked = collection(oracles(1)["direct"])
    collector = local.Collector(asked)
    batch = collector.checked([asked.client().privatize(0)])
    assert set(batch.columns) == {"value"}
    assert b"nonce" not in batch.to_bytes(asked.oracle.fields)
