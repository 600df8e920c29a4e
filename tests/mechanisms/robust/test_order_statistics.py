"""How far the median can move, now and after some changes: the formula against brute force."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.mechanisms import Laplace
from discreet.mechanisms.robust import local_sensitivity_of_median
from discreet.mechanisms.robust.lattice import Lattice
from discreet.mechanisms.robust.order_statistics import SortedRows
from tests.mechanisms.robust import laws

SIZES = [(1, 4), (2, 4), (3, 4), (4, 3), (5, 3), (6, 2)]


def rows(*values: int, width: int) -> SortedRows:
    return SortedRows(np.array(sorted(values), dtype=np.int64), width)


def local(x: laws.Rows, width: int) -> int:
    return max(abs(median(x) - median(y)) for y in laws.replaced(x, width))


def median(x: laws.Rows) -> int:
    return x[(len(x) - 1) // 2]


@pytest.mark.parametrize(("size", "width"), SIZES)
def test_the_formula_is_the_greatest_local_sensitivity_within_the_distance(
    size: int, width: int
) -> None:
    """Odd and even numbers of rows, by brute force over every table."""
    at = {x: local(x, width) for x in laws.tables(size, width)}
    near = {x: {x} | laws.replaced(x, width) for x in at}
    for distance in range(size + 1):
        for x, greatest in at.items():
            assert rows(*x, width=width).local_sensitivity(distance) == greatest
        at = {x: max(at[y] for y in near[x]) for x in at}


def test_the_oracles() -> None:
    nice = rows(1, 2, 4, 8, 16, width=20)
    assert [nice.local_sensitivity(k) for k in range(6)] == [4, 12, 16, 18, 19, 20]
    assert [rows(1, 2, 5, width=6).local_sensitivity(k) for k in range(4)] == [3, 4, 5, 6]
    assert nice.smooth_sensitivity(0.5) == pytest.approx(7.278368, abs=5e-7)
    assert nice.smooth_sensitivity(0.1) == pytest.approx(13.334728, abs=5e-7)
    assert nice.smooth_sensitivity(1.0) == pytest.approx(4.414553, abs=5e-7)


def test_the_printed_index_is_another_formula() -> None:
    """004b:A18 prints x_(m+t) - x_(m+t+k-1): at k = 0 that compares neighbours the wrong way."""
    framed, m = [0, 1, 2, 4, 8, 16, 20], 3
    printed = max(framed[m + t] - framed[m + t + 0 - 1] for t in range(2))
    wrong = max(framed[m + t] - framed[min(m + t + 1 - 1, 6)] for t in range(3))
    assert printed == 4
    assert wrong == 0 != rows(1, 2, 4, 8, 16, width=20).local_sensitivity(1)


@pytest.mark.parametrize("beta", [0.05, 0.5, 2.0])
@pytest.mark.parametrize(("size", "width"), SIZES)
def test_smooth_sensitivity_changes_by_e_to_the_beta_between_all_neighbours(
    beta: float, size: int, width: int
) -> None:
    smooth = {x: rows(*x, width=width).smooth_sensitivity(beta) for x in laws.tables(size, width)}
    for x, y in laws.replace_pairs(size, width):
        assert smooth[x] <= np.exp(beta) * smooth[y] * (1 + 1e-12)
        assert smooth[y] <= np.exp(beta) * smooth[x] * (1 + 1e-12)
        assert min(smooth[x], smooth[y]) >= abs(median(x) - median(y))


def test_local_sensitivity_itself_is_not_smooth() -> None:
    """The broken twin: no finite factor bounds its change between neighbours."""
    assert local((0, 0, 0), 4) == 0
    assert local((0, 0, 4), 4) == 4


def test_terms_left_out_would_not_have_mattered() -> None:
    values = np.sort(np.random.default_rng(4).integers(0, 1 << 40, 301))
    spread = SortedRows(values, 1 << 40)
    for beta in (0.01, 0.2):
        full = max(spread.local_sensitivity(k) * np.exp(-beta * k) for k in range(302))
        assert spread.smooth_sensitivity(beta) == pytest.approx(full, rel=1e-12)


def test_a_floor_is_kept() -> None:
    assert rows(*[7] * 99, width=20).smooth_sensitivity(1.0, least=1.0) == 1.0


@pytest.mark.parametrize(("size", "width"), SIZES)
@pytest.mark.parametrize("bound", [1, 2, 3, 9])
def test_the_distance_to_a_sensitivity_is_the_number_of_rows_to_change(
    size: int, width: int, bound: int
) -> None:
    """Breadth-first search from all tables whose local sensitivity exceeds the bound."""
    steps = {x: 0 for x in laws.tables(size, width) if local(x, width) > bound}
    ring = set(steps)
    while ring:
        ring = {y for x in ring for y in laws.replaced(x, width)} - set(steps)
        steps |= dict.fromkeys(ring, max(steps.values()) + 1)
    for x in laws.tables(size, width):
        found = rows(*x, width=width).distance_to_sensitivity(bound)
        assert found == steps.get(x, size + 1)


def test_local_sensitivity_is_a_diagnosis_that_no_mechanism_takes_as_its_scale() -> None:
    found = local_sensitivity_of_median([1, 2, 4, 8, 16], bounds=(0, 20))
    assert found.value == 4
    with pytest.raises(InvalidParameter) as refusal:
        Laplace(epsilon=1, sensitivity=found)  # type: ignore[arg-type]
    assert refusal.value.code == "not_a_number"
    assert "4" not in str(refusal.value)


def test_noise_scaled_to_local_sensitivity_tells_neighbours_apart_with_certainty() -> None:
    """000b:B4, the demonstration. x has n + 1 rows, 1 + n/2 of them zero; y lacks one zero.

    The naive mechanism answers exactly 0 on x always, and on y with probability 0.
    """
    n, far = 10, 10**6
    x = (0,) * (1 + n // 2) + (far,) * (n // 2)
    y = x[1:]
    assert median(x) == median(y) == 0

    def local_under_removal(rows_: laws.Rows) -> int:
        smaller = [rows_[:i] + rows_[i + 1 :] for i in range(len(rows_))]
        larger = [tuple(sorted((*rows_, new))) for new in (0, far)]
        return max(abs(median(rows_) - median(z)) for z in smaller + larger)

    def naive(data: laws.Rows) -> laws.Law:
        zero = laws.laplace_cells(0, local_under_removal(data), [0, 1e-9])
        return {"below": zero[0], "zero": zero[1], "above": zero[2]}

    assert local_under_removal(x) == 0
    assert local_under_removal(y) == far
    excess = laws.worst(naive, [(x, y)], epsilon=10, delta=1e-6)
    assert excess.delta == pytest.approx(1)


@pytest.mark.parametrize("bounds", [(0, 10), (-3, 7.5), (0, 1e-9)])
@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(2, 7), Fraction(1, 10**15)])
def test_a_distance_in_steps_is_never_shorter_than_the_distance(
    bounds: tuple[float, float], share: Fraction
) -> None:
    lattice = Lattice.between(bounds)
    distance = share * (lattice.upper - lattice.lower)
    step = Fraction(2) ** lattice.exponent
    steps = lattice.steps_for(distance)
    assert max(steps - 1, 0) * step < distance <= steps * step
