"""An online construction as plain values, so that its conversation can be resumed elsewhere.

Only public parameters enter. Spend, number of records and where noise comes from are kept by
whoever keeps the conversation, and given again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.noise.randomness import Source
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.multiplicative_updaters import GapUpdater, MultiplicativeUpdater
from discreet.queries.online.updaters import MedianUpdater, PerceptronUpdater, Updater
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.stored_form import packed, unpacked


def construction_to_dict(mechanism: OnlineConstruction) -> dict[str, Any]:
    """Everything but spend and randomness, for JSON."""
    return {
        "updater": _updater_to_dict(mechanism.updater),
        "size": _size_to_dict(mechanism.size),
        "threshold": str(exact(mechanism.threshold)),
        "cutoff": mechanism.cutoff,
        "records": mechanism.records,
    }


def construction_from_dict(
    plain: Mapping[str, Any], *, spend: Guarantee, randomness: Source
) -> OnlineConstruction:
    """The mechanism that :func:`construction_to_dict` described."""
    return OnlineConstruction(
        updater=_updater_from_dict(plain["updater"]),
        spend=spend,
        size=_size_from_dict(plain["size"]),
        threshold=Fraction(plain["threshold"]),
        cutoff=int(plain["cutoff"]),
        records=int(plain["records"]),
        randomness=randomness,
    )


def _updater_to_dict(updater: Updater) -> dict[str, Any]:
    if type(updater) in (MultiplicativeUpdater, GapUpdater):
        assert isinstance(updater, MultiplicativeUpdater)
        start = None if updater.start is None else packed(np.asarray(updater.start))
        return {
            "kind": "gap" if isinstance(updater, GapUpdater) else "multiplicative",
            "cells": updater.cells,
            "error": float(updater.error),
            "start": start,
        }
    if type(updater) is MedianUpdater:
        return {"kind": "median", "net": packed(updater.net), "error": float(updater.error)}
    if type(updater) is PerceptronUpdater:
        return {
            "kind": "perceptron",
            "cells": updater.cells,
            "error": float(updater.error),
            "records": updater.records,
            "squares": float(updater.squares),
        }
    raise InvalidParameter(
        code="updater_not_plain",
        expectation="one of this package's updaters, which can be written down",
        received=type(updater).__name__,
        remedy="Use MultiplicativeUpdater, GapUpdater, MedianUpdater or PerceptronUpdater.",
    )


def _updater_from_dict(plain: Mapping[str, Any]) -> Updater:
    match plain["kind"]:
        case "multiplicative" | "gap" as kind:
            start = None if plain["start"] is None else unpacked(plain["start"])
            made = GapUpdater if kind == "gap" else MultiplicativeUpdater
            return made(plain["cells"], plain["error"], start)
        case "median":
            return MedianUpdater(unpacked(plain["net"]), plain["error"])
        case "perceptron":
            kept = (plain["cells"], plain["error"], plain["records"], plain["squares"])
            return PerceptronUpdater(*kept)
    raise InvalidData(
        code="journal_misread",
        expectation="a construction as it was written down",
        remedy="Give each conversation a journal of its own.",
    )


def _size_to_dict(size: RecordCount) -> dict[str, Any]:
    if isinstance(size, PublicCount):
        return {"public": size.records}
    return {"bought": str(exact(size.part))}


def _size_from_dict(plain: Mapping[str, Any]) -> RecordCount:
    if "public" in plain:
        return PublicCount(int(plain["public"]))
    return NoisyRecordCount(Fraction(plain["bought"]))
