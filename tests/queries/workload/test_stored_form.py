"""Arrays that are written down come back bit for bit."""

import json

import numpy as np
import pytest

from discreet.queries.workload.stored_form import packed, unpacked


@pytest.mark.parametrize(
    "array", [np.array(0.1), np.array([np.pi, -0.0, 1e-300]), np.arange(6).reshape(2, 3)]
)
def test_arrays_come_back_bit_for_bit(array: np.ndarray) -> None:
    again = unpacked(json.loads(json.dumps(packed(array))))
    assert again.shape == array.shape
    assert again.tobytes() == array.astype(np.float64).tobytes()
