"""What is kept under a frozen name can be read back by the class that wrote it."""

from __future__ import annotations

import inspect
from pkgutil import resolve_name

from discreet.queries.synopses import synopsis
from discreet.synthetic import model


def test_every_kind_of_synopsis_and_model_can_be_read_back() -> None:
    written = {"synopsis": synopsis._SYNTHETIC, "model": model._KINDS}
    for key, kinds in written.items():
        for tag, place in kinds.items():
            found = resolve_name(f"discreet.synthetic.{place}")
            assert callable(found.from_dict)
            assert f'"{key}": "{tag}"' in inspect.getsource(found.to_dict)
