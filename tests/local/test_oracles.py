"""Reports drawn together have the law of the clients; aggregates are exact, linear and robust.

Statistical tests here fail wrongly with a chance below 1e-9 each.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import discreet as dp
from discreet import local
from discreet.core.errors import DiscreetError, InvalidData, InvalidParameter, Mismatch
from discreet.core.events.mechanisms import Pure, RandomizedResponse, Unprotected
from discreet.local.hashing import LocalHashing
from discreet.local.oracle import FrequencyOracle
from discreet.local.sketch import multi_bit
from discreet.noise import Seeded, packed_coins
from tests.local.enumeration import law
from tests.local.examples import collection, oracles, rappor

KINDS = sorted(oracles(1))
ENUMERABLE = ["direct", "hadamard", "hadamard_two", "optimized_unary", "subset", "symmetric_unary"]


def named(name: str, oracle: FrequencyOracle | None = None) -> local.Collection:
    asked = oracle or oracles(1)["direct"]
    return local.Collection(name=name, version=1, oracle=asked, memoised=False)


def payloads(oracle: FrequencyOracle, batch: local.ReportBatch) -> list[str]:
    """Reports in columns as the text of JSON payloads."""
    columns = [batch.columns[field.name] for field in oracle.fields]
    found = []
    for row in zip(*columns, strict=True):
        parts = [part.tobytes().hex() if part.ndim else int(part) for part in row]
        if isinstance(oracle, local.SubsetSelection):
            bits = np.unpackbits(row[0], bitorder="little")
            parts = [np.flatnonzero(bits).tolist()]
        one = parts[0] if len(parts) == 1 else parts
        found.append(json.dumps([one]))
    return found


@pytest.mark.parametrize("kind", ENUMERABLE)
def test_reports_drawn_together_have_the_exact_law_of_the_client(kind: str) -> None:
    oracle = oracles(1)[kind]
    truth = law(collection(oracle).schema, 3)
    drawn = payloads(oracle, oracle.privatize_many(np.full(20_000, 3)))
    counts = dict.fromkeys(truth, 0)
    for told in drawn:
        counts[told] += 1  # a report that no client sends is an error here
    expected = np.array([20_000 * float(chance) for chance in truth.values()])
    statistic = float((((np.array(list(counts.values())) - expected) ** 2) / expected).sum())
    assert statistic < chi2.isf(1e-10, len(truth) - 1)


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_unbiased_and_variances_hold(kind: str) -> None:
    shape = oracles(1, 12)[kind]
    values = np.repeat(np.arange(12), [9000, 5000, 3000, *[300] * 9])
    truth = np.bincount(values, minlength=12) / len(values)
    rounds = []
    for _ in range(4):
        tally = shape.aggregate(shape.privatize_many(values))
        found = shape.estimate(tally)
        rounds.append((found.shares - truth) / found.standard_errors)
    if "sketch" in kind or kind == "bloom":
        assert np.abs(rounds).max() < 12  # four cells: what shares a cell does not average out
        return
    # 48 scores of variance one, at least half of them independent
    assert 0.15 < float(np.mean(np.square(rounds))) < 3.5
    assert np.abs(rounds).max() < 7


def direct_inside(epsilon: Any, cells: int) -> local.DirectEncoding:
    return local.DirectEncoding(epsilon=epsilon, domain=cells)


@pytest.mark.parametrize("inner", [multi_bit, direct_inside])
@pytest.mark.parametrize("maker", [local.CountMeanSketch, local.CountSketch])
def test_sketches_state_their_noise_and_their_collisions(maker: Any, inner: Any) -> None:
    """Noise with one set of functions; then all errors over 150 sets. Frequent values are in a row.

    A variance of 150 draws is off by 12 percent, so that five such errors and more are allowed.
    """
    values = np.repeat(np.arange(40), [3000, 1500, *[40] * 38])
    wanted = np.array([0, 1, 20])
    truth = (np.bincount(values, minlength=40) / len(values))[wanted]
    fixed, stated, errors, variances, moments = [], [], [], [], []
    for seed in range(150):
        sketch = maker(epsilon=2, domain=40, rows=4, cells=16, seed=seed, inner=inner)
        tally = sketch.aggregate(sketch.privatize_many(values))
        found = sketch.estimate(tally, values=wanted)
        errors.append(found.shares - truth)
        variances.append(found.variances)
        supports = sketch._cell_supports(tally)
        moments.append(sketch._second_moment(supports, tally.table[:, 0]))
        sketch = maker(epsilon=2, domain=40, rows=4, cells=16, seed=3, inner=inner)
        tally = sketch.aggregate(sketch.privatize_many(values))
        cells = np.stack([sketch.hashed(np.full(3, row), wanted) for row in range(4)])
        shares, noise = sketch._combined(sketch._cell_supports(tally), cells, tally.people)
        fixed.append(shares)
        stated.append(noise / tally.people)
    for ratio in (
        np.var(fixed, axis=0) / np.mean(stated, axis=0),
        np.mean(np.square(errors), axis=0) / np.mean(variances, axis=0),
    ):
        assert ratio.max() < 1.75
        assert ratio.min() > 0.5
    assert np.abs(np.mean(errors, axis=0) / np.std(errors, axis=0)).max() < 6 / np.sqrt(150)
    squares = float((np.bincount(values) / len(values)) @ (np.bincount(values) / len(values)))
    assert abs(np.mean(moments) - squares) < 6 * np.std(moments) / np.sqrt(150)


class LinesForCells(local.CountMeanSketch):
    """The broken twin: cells by lines, so that values in a progression share cells together."""

    def hashed(self, rows: Any, numbers: Any) -> Any:
        _, b, c, _, _ = (self.hashes.numbers[rows, part] for part in range(5))
        return (b * numbers + c) % self.hashes.prime % self.cells


def test_cells_by_lines_have_a_larger_error_than_is_said() -> None:
    """Without noise: the error from sharing cells, for frequent values in a progression."""
    numbers = np.arange(200)
    shares = np.zeros(200)
    shares[10:22] = 1 / 12
    ratios = {}
    for maker in (local.CountMeanSketch, LinesForCells):
        errors = []
        for seed in range(600):
            sketch = maker(epsilon=1, domain=200, rows=1, cells=16, seed=seed)
            cells = sketch.hashed(np.zeros(200, dtype=np.int64), numbers)
            held = shares[cells == cells[9]].sum()
            errors.append((held - sketch.collision) / (1 - sketch.collision))
        stated = (shares**2).sum() * sketch._shared
        ratios[maker] = float(np.mean(np.square(errors))) / stated
    assert 0.6 < ratios[local.CountMeanSketch] < 1.5
    assert ratios[LinesForCells] > 2


def test_three_values_share_cells_independently() -> None:
    """All polynomials modulo 7, on three values: each triple of residues once."""
    seen = {
        tuple(((a * v + b) * v + c) % 7 for v in (1, 2, 5))
        for a in range(7)
        for b in range(7)
        for c in range(7)
    }
    assert len(seen) == 343


@pytest.mark.parametrize(
    "oracle",
    [
        local.BloomFilter(epsilon=6, domain=6, cells=8, hashes=2, cohorts=3, seed=1),
        local.Rappor(epsilon=8, once=6, domain=6, cells=8, hashes=2, cohorts=3, seed=1),
        local.BloomFilter(epsilon=16, domain=6, cells=8, hashes=2, cohorts=3, seed=2),
    ],
)
def test_least_squares_of_filters_err_as_stated(oracle: local.BloomFilter) -> None:
    """Where no share is near nought, the constraint does nothing; 200 draws, as above."""
    values = np.repeat(np.arange(6), [1500, 1200, 900, 700, 400, 300])
    truth = np.bincount(values) / len(values)
    rounds = [oracle.estimate(oracle.aggregate(oracle.privatize_many(values))) for _ in range(200)]
    shares = np.array([each.shares for each in rounds])
    ratio = shares.var(axis=0) / np.mean([each.variances for each in rounds], axis=0)
    assert ratio.min() > 0.55
    assert ratio.max() < 1.65
    assert np.abs((shares.mean(axis=0) - truth) / shares.std(axis=0)).max() < 6 / np.sqrt(200)


def test_bloom_and_rappor_find_the_frequent() -> None:
    values = np.repeat(np.arange(30), [9000, 5000, *[100] * 28])
    truth = np.bincount(values, minlength=30) / len(values)
    filters: list[local.BloomFilter] = [
        local.BloomFilter(epsilon=4, domain=30, cells=32, hashes=2, cohorts=8, seed=1),
        local.Rappor(epsilon=6, once=4, domain=30, cells=32, hashes=2, cohorts=8, seed=1),
    ]
    for each in filters:
        found = each.estimate(each.aggregate(each.privatize_many(values)))
        assert np.all(found.shares >= 0)
        assert np.abs(found.shares - truth).max() < 8 * found.standard_errors.max()


@pytest.mark.parametrize("kind", ["binary_hashing", "optimal_hashing"])
@pytest.mark.parametrize("size", [5, 97, 300])
def test_the_table_of_hashing_counts_what_hashing_each_value_counts(kind: str, size: int) -> None:
    oracle = oracles(1.5, size)[kind]
    assert isinstance(oracle, LocalHashing)
    batch = oracle.privatize_many(np.arange(3000) % size)
    all_at_once = oracle.aggregate(batch)
    one_by_one = oracle.aggregate_for(batch, np.arange(size))
    assert np.array_equal(oracle._supports(all_at_once, np.arange(size)), one_by_one.table)
    some = oracle.estimate(one_by_one, values=[2, 0])
    assert np.allclose(some.shares, oracle.estimate(all_at_once).shares[[2, 0]])


def test_large_domains_of_hashing_need_candidates() -> None:
    oracle = local.OptimalLocalHashing(epsilon=3, domain=local.ANY_TEXT)
    batch = oracle.privatize_many(["apple"] * 3000 + ["pear"] * 1000)
    with pytest.raises(InvalidParameter, match="local_candidates_needed"):
        oracle.aggregate(batch)
    tally = oracle.aggregate_for(batch, ["apple", "pear", "plum"])
    found = oracle.estimate(tally)
    assert np.abs(found.shares - [0.75, 0.25, 0]).max() < 7 * found.standard_errors.max()
    with pytest.raises(InvalidParameter, match="local_value_not_tallied"):
        oracle.estimate(tally, values=["grape"])


@pytest.mark.parametrize("kind", KINDS)
def test_tallies_merge_and_travel(kind: str) -> None:
    oracle = oracles(1)[kind]
    batch = oracle.privatize_many(np.arange(500) % 5)
    parts = [
        oracle.aggregate(local.ReportBatch({n: c[s::3] for n, c in batch.columns.items()}))
        for s in range(3)
    ]
    together = sum(local.Tally.from_bytes(part.to_bytes()) for part in parts)
    assert isinstance(together, local.Tally)
    assert together.people == 500
    assert np.array_equal(together.table, oracle.aggregate(batch).table)
    other = oracles(2)[kind]
    with pytest.raises(Mismatch):
        together + other.aggregate(other.privatize_many([0]))
    with pytest.raises(InvalidData, match="local_tally_foreign"):
        other.estimate(together)
    with pytest.raises(InvalidData, match="local_tally_unreadable"):
        local.Tally.from_bytes(b"discreet.tally/1\n" + bytes(9))


@pytest.mark.parametrize("kind", KINDS)
def test_batches_travel_as_bytes(kind: str) -> None:
    oracle = oracles(1)[kind]
    batch = oracle.privatize_many(np.arange(100) % 5)
    data = batch.to_bytes(oracle.fields)
    assert len(data) < 100 * oracle.message_bits / 8 + 100
    again = local.ReportBatch.from_bytes(data, oracle.fields)
    assert np.array_equal(oracle.aggregate(again).table, oracle.aggregate(batch).table)
    for broken in (data[:-1], data + b"x", b"", b"nothing of this kind", data[:25]):
        with pytest.raises(InvalidData, match="local_batch_unreadable"):
            local.ReportBatch.from_bytes(broken, oracle.fields)


@pytest.mark.parametrize("kind", KINDS)
def test_impossible_reports_in_columns_are_left_out_by_themselves(kind: str) -> None:
    oracle = oracles(1)[kind]
    batch = oracle.privatize_many(np.arange(400) % 5)
    name = oracle.fields[-1].name
    column = batch.columns[name].copy()
    column[7] = 255
    spoilt = local.ReportBatch({**batch.columns, name: column})
    tally = oracle.aggregate(spoilt)
    kept = np.arange(400) != 7
    assert tally.people == 399
    assert np.array_equal(tally.table, oracle.aggregate(batch.where(kept)).table)


def test_events_and_guarantees() -> None:
    direct = local.DirectEncoding(epsilon=1, domain=4)
    assert direct.event == RandomizedResponse(epsilon=1, categories=4)
    assert local.OptimizedUnary(epsilon=1, domain=4).event == Pure(epsilon=1)
    assert direct.event.epsilon(delta=0) == 1
    promise = direct.guarantee(unit=dp.Person("device"))
    assert promise == dp.PureDP(epsilon=1, unit=dp.Replace(dp.Person("device")))
    seeded = local.DirectEncoding(epsilon=1, domain=4, randomness=Seeded(0))
    assert isinstance(seeded.event, Unprotected)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: local.DirectEncoding(epsilon=0, domain=4), "not_positive"),
        (lambda: local.DirectEncoding(epsilon=33, domain=4), "local_epsilon_range"),
        (lambda: local.DirectEncoding(epsilon=1, domain=1), "not_a_count"),
        (lambda: local.DirectEncoding(epsilon=1, domain=["a"]), "local_domain_labels"),
        (lambda: local.DirectEncoding(epsilon=1, domain="ab"), "local_domain_labels"),
        (lambda: local.DirectEncoding(epsilon=1, domain=["a", "a"]), "local_domain_twice"),
        (lambda: local.DirectEncoding(epsilon=1, domain=1 << 40), "local_domain_size"),
        (lambda: local.HadamardResponse(epsilon=1, domain=4, bits=9), "local_hadamard_range"),
        (lambda: rappor(1, 1), "local_once_range"),
        (lambda: named(""), "local_collection_name"),
        (lambda: named("a", rappor(2, 1)), "local_rappor_memory"),
        (lambda: packed_coins(0, 1), "chance_out_of_range"),
        (lambda: local.Collection.from_schema("{}"), "local_schema_unreadable"),
    ],
)
def test_refusals(make: Any, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        make()
    assert refusal.value.code == code


@pytest.mark.parametrize("values", [[5], [-1], [[0]], [0.5], ["x"], [None]])
def test_values_outside_are_refused_and_not_shown(values: Any) -> None:
    with pytest.raises(InvalidData, match="local_values_outside") as refusal:
        local.DirectEncoding(epsilon=1, domain=5).privatize_many(values)
    assert refusal.value.received is None


def test_a_schema_with_other_chances_is_refused() -> None:
    for oracle in (*oracles(1).values(), rappor(2, 1)):
        if isinstance(oracle, local.sketch.Sketch):
            continue  # their cells have an oracle of the test's own
        asked = collection(oracle)
        assert local.Collection.from_schema(asked.schema).schema == asked.schema
    direct = collection(oracles(1)["direct"])
    keep = json.loads(direct.schema)["oracle"]["keep"]
    with pytest.raises(InvalidParameter, match="local_schema_unreadable"):
        local.Collection.from_schema(direct.schema.replace(keep, str(int(keep) + 1)))
    sketch = local.CountMeanSketch(epsilon=1, domain=local.ANY_TEXT, rows=2, cells=16, seed=3)
    asked = collection(sketch)
    assert local.Collection.from_schema(asked.schema).schema == asked.schema


def test_packed_coins_have_their_chance() -> None:
    chance = 3 * (1 << 61)  # 3/8
    found = np.unpackbits(packed_coins(chance, 20_000))
    assert abs(found.mean() - 0.375) < 6.2 * np.sqrt(0.375 * 0.625 / 160_000)
    pairs = np.unpackbits(packed_coins(chance, 20_000)).reshape(-1, 2)
    both = (pairs[:, 0] & pairs[:, 1]).mean()
    assert abs(both - 0.375**2) < 6.2 * np.sqrt(0.14 * 0.86 / 80_000)


def test_a_tally_that_no_reports_have_does_not_come_round_or_spread() -> None:
    """Sums beyond 64 bits, other shapes and fewer than nobody are refused, not added up."""
    oracle = local.DirectEncoding(epsilon=1, domain=3)
    honest = oracle.aggregate(oracle.privatize_many([0, 1, 2, 2]))
    for most in (2**63 - 1, -(2**63)):
        other = local.Tally(honest.digest, 1, np.full(3, most, dtype=np.int64))
        with pytest.raises(InvalidData, match="local_tally_too_large"):
            _ = other + other
    with pytest.raises(Mismatch, match="local_tally_mismatch"):
        _ = honest + local.Tally(honest.digest, 1, np.ones(1, dtype=np.int64))
    below = local.Tally(honest.digest, -1, honest.table).to_bytes()
    with pytest.raises(InvalidData, match="local_tally_unreadable"):
        local.Tally.from_bytes(below)
