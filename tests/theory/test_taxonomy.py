"""Every kind of problem has a mechanism, and every name is one that a user can import."""

from itertools import product
from pkgutil import resolve_name

import pytest

from discreet.theory.taxonomy import (
    Agreement,
    Arrival,
    Dimension,
    QueryKind,
    ReleasePurpose,
    Taxonomy,
)

KINDS = [
    Taxonomy(*axes) for axes in product(ReleasePurpose, Dimension, QueryKind, Arrival, Agreement)
]


def test_there_are_five_questions() -> None:
    assert len(KINDS) == 2**5


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_problem_has_a_mechanism_that_can_be_imported(kind: Taxonomy) -> None:
    names = kind.mechanisms()
    assert names
    for name in names:
        assert callable(resolve_name(f"discreet.{name}")), name


def test_only_answers_that_need_not_agree_get_independent_noise() -> None:
    alone = [kind for kind in KINDS if "queries.IndependentNoise" in kind.mechanisms()]
    assert alone
    assert all(kind.agreement is Agreement.WAIVED for kind in alone)


def test_adaptive_streams_go_to_online_mechanisms() -> None:
    for kind in KINDS:
        online = {"queries.private_multiplicative_weights", "mechanisms.NumericSparse"}
        assert bool(online & set(kind.mechanisms())) is (kind.arrival is Arrival.ONLINE)
