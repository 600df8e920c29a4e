"""Models are kept and read again, bit for bit; what was not written is refused."""

import json
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP
from discreet.noise.randomness import Seeded
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.aim import AIM
from discreet.synthetic.full_histogram import FullHistogram
from discreet.synthetic.model import model_from_dict
from discreet.synthetic.structural_zeros import StructuralZeros
from tests.synthetic.brute_force import RowTable, chained_rows

UNIVERSE = Universe.of(a=range(3), b=range(12), c=range(2))
ROWS = chained_rows(UNIVERSE, 900, 2)
ZEROS = (StructuralZeros(("a", "c"), np.array([[True, True], [True, False], [True, True]])),)


def made(kind: Any) -> Any:
    mechanism = kind(
        workload=Workload.marginals(UNIVERSE, 2),
        spend=ZCDP(rho=0.05),
        size=NoisyRecordCount(),
        zeros=ZEROS,
    )
    return mechanism.release(RowTable(UNIVERSE, ROWS))


@pytest.mark.parametrize("kind", [AIM, FullHistogram])
def test_a_model_read_again_makes_the_same_estimates_and_rows(kind: Any) -> None:
    model = made(kind)
    plain = json.loads(json.dumps(model.to_dict()))
    again = model_from_dict(plain, UNIVERSE, model.event)
    assert again.total == model.total
    np.testing.assert_array_equal(again.marginal(["b", "c"]), model.marginal(["b", "c"]))
    np.testing.assert_array_equal(
        again.sample(100, randomness=Seeded(1)), model.sample(100, randomness=Seeded(1))
    )


def test_written_names_are_frozen() -> None:
    assert made(AIM).to_dict()["model"] == "graphical/1"
    assert made(FullHistogram).to_dict()["model"] == "histogram/1"


def test_marginals_come_in_the_order_that_is_asked_for() -> None:
    model = made(AIM)
    np.testing.assert_allclose(model.marginal(["c", "a"]), model.marginal(["a", "c"]).T)
    assert model.marginal(["a", "b", "c"]).sum() == pytest.approx(model.total)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "graphical/0"},
        {"total": "900"},
        {"total": 0.5},
        {"potentials": [{"places": [0, 9], "values": None}]},
        {"potentials": [3]},
        {"merged": None},
        {"merged": [None, {"codes": None}, None]},
    ],
)
def test_what_no_model_wrote_is_refused(change: dict[str, object]) -> None:
    model = made(AIM)
    with pytest.raises(InvalidParameter, match="synopsis_not_plain"):
        model_from_dict({**model.to_dict(), **change}, UNIVERSE, model.event)
