"""What synthesis leaves behind: a model that makes rows and answers counts, freely and for ever.

Whatever is done with it is post-processing: no sample, however large, and no number of questions
costs anything more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count, probability
from discreet.noise.randomness import SYSTEM, Source
from discreet.noise.sampling import permutation
from discreet.release.column import ReleasedColumn
from discreet.release.guarantee import guarantee_text, guarantee_to_dict, protection_text
from discreet.release.release import Release
from discreet.release.statement.statement import Statement
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.synthetic_table import SyntheticTable

if TYPE_CHECKING:
    from discreet.synthetic.counted_estimate import CountedEstimate, Where
    from discreet.synthetic.progress import ProgressCallback
    from discreet.synthetic.simulated_errors import SimulatedErrors

CONFIDENCE = 0.95
_MOST_ROWS = 1_000_000
NO_INTERVAL = (
    "estimated counts from one model; no interval: how wrong they are depends on the data, "
    "see `estimate`"
)

Synthesise = Callable[..., SyntheticModel]
"""Makes a model of counts once more, as the one of a release was made."""


FORM = "synthetic-release/1"
"""Of the text; part of it."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SyntheticRelease:
    """A model of a table, released once.

    Contract: everything in it is public or was paid for; whatever is computed from it is free.

    Attributes:
        id: Random; it names this release.
        query: What was made, in words.
        encoding: The columns, their cells, and what holds of them.
        model: What the mechanism left behind.
        guarantee: What was promised, with its unit.
        event: What the mechanism did; any accountant can price it again.
        budget_split: The shares of the spend, by what they paid for.
        facts: Those of the privacy statement.
        again: Makes such a model of other counts; None for what was read from a file.
        noise: The cells that were counted, and the noise of each; None where it is not told.
    """

    id: str
    query: str
    encoding: TableEncoding
    model: SyntheticModel
    guarantee: Guarantee
    event: Event
    budget_split: Mapping[str, float]
    facts: Mapping[str, Any]
    again: Synthesise | None = None
    noise: CountNoise | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a sample, in order."""
        return tuple(self.encoding.columns)

    @property
    def total(self) -> int:
        """How many rows a sample has unless it is said: the noisy number of records."""
        return max(0, round(self.model.total))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What noise drowns, and what to do; from public numbers and the noisy total alone."""
        return () if self.noise is None else self.noise.warnings(self.model.total)

    @property
    def private(self) -> bool:
        """Whether it was made with private noise; false in test mode."""
        return bool(self.facts.get("private"))

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> SyntheticTable:
        """``n`` rows with the columns of the table; without ``n``, as many as the noisy total."""
        rows = self.total if n is None else count("n", n, least=0)
        codes = np.asarray(self.model.sample(rows, randomness=randomness))
        codes = codes[permutation(len(codes), randomness)]  # some models make rows cell by cell
        return SyntheticTable(self.encoding.decode(codes, randomness), self.encoding.digits)

    def marginal(self, *columns: str) -> Floats:
        """Estimated counts by the cells of some columns, one axis for each."""
        names = _distinct(columns)
        if not names:
            return np.array(self.model.total)
        encoding = self.encoding
        places = encoding.needed(names)
        attributes = [encoding.attributes[place] for place in places]
        table = np.asarray(self.model.marginal([each.name for each in attributes]), np.float64)
        cells = np.stack([axis.ravel() for axis in np.indices(table.shape)], axis=1)
        whole = np.zeros((len(cells), len(encoding.attributes)), dtype=np.int64)
        whole[:, list(places)] = cells
        codes = encoding.column_codes(whole)
        shape = tuple(encoding.columns[name].size for name in names)
        flat = np.ravel_multi_index(tuple(codes[name] for name in names), shape)
        found = np.bincount(flat, weights=table.ravel(), minlength=int(np.prod(shape)))
        return np.asarray(found.reshape(shape), dtype=np.float64)

    def table(self, *columns: str) -> Release:
        """The estimated counts by some columns: a release that exports, plots and prints."""
        names = _distinct(columns)
        counts = self.marginal(*names)
        if counts.size > _MOST_ROWS:
            raise InvalidParameter(
                code="too_many_keys",
                expectation=f"at most {_MOST_ROWS} combinations of keys in a table",
                received=counts.size,
                remedy="Name fewer columns, or take `marginal`.",
            )
        labels = [_plain(self.encoding.columns[name].labels) for name in names]
        rows = list(product(*labels))
        keys = dict(zip(names, zip(*rows, strict=True), strict=True)) if names else {}
        answer = "n"
        while answer in keys:
            answer += "_"
        column = ReleasedColumn.from_given_values(
            answer, np.ravel(counts).tolist(), interval=None, note=NO_INTERVAL
        )
        return Release(
            id=self.id,
            query=f"counts by {', '.join(names)}" if names else "the number of records",
            keys=keys,
            answers=(column,),
            confidence=CONFIDENCE,
            guarantee=self.guarantee,
            event=self.event,
            statement=self.facts,
        )

    def estimate(
        self,
        where: Where | str | None = None,
        *,
        confidence: float = CONFIDENCE,
        errors: SimulatedErrors | None = None,
    ) -> CountedEstimate:
        """How many records there are ``where`` columns have some values, with an interval.

        ``release.estimate("ward = 'A' AND age BETWEEN 18 AND 65")``, or the same as a mapping,
        ``{"ward": ["A"], "age": Between(18, 66)}``. The interval covers noise and the choices of
        the mechanism, as :meth:`simulate` found them; it is simulated on first use.
        """
        from discreet.synthetic.counted_estimate import estimated
        from discreet.synthetic.sql_condition import conditions_of

        if isinstance(where, str):
            where = conditions_of(where, self.encoding.columns)
        level = float(probability("confidence", confidence))
        return estimated(self, where or {}, confidence=level, errors=errors or self._errors)

    def simulate(
        self, *, runs: int = 20, progress: ProgressCallback | None = None
    ) -> SimulatedErrors:
        """Make the model again of rows of its own, ``runs`` times, to see how wrong it gets; free.

        Nothing private is read: the rows are samples of this release. ``progress`` is told after
        every run; its ``spent`` is the part that is done.
        """
        from discreet.synthetic.simulated_errors import simulate

        return simulate(self, runs=count("runs", runs, least=2), progress=progress)

    @cached_property
    def _errors(self) -> SimulatedErrors:
        return self.simulate()

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it to a file, as JSON; :func:`load` reads it."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def to_json(self) -> str:
        """All of it on one line, for machines."""
        plain = {
            "form": FORM,
            "id": self.id,
            "query": self.query,
            "encoding": self.encoding.to_dict(),
            "model": dict(self.model.to_dict()),
            "guarantee": guarantee_to_dict(self.guarantee),
            "event": json.loads(self.event.to_json()),
            "split": dict(self.budget_split),
            "facts": dict(self.facts),
            **({} if self.noise is None else {"noise": self.noise.to_dict()}),
        }
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @cached_property
    def statement(self) -> Statement:
        """The privacy statement: prints in full, and is a mapping of its facts."""
        return Statement(
            self.facts,
            query=self.query,
            guarantee=self.guarantee,
            event=self.event,
            confidence=CONFIDENCE,
        )

    def __repr__(self) -> str:
        """What it is, and what it cost."""
        unit = protection_text(self.guarantee.unit)
        split = ", ".join(f"{name} {share:.0%}" for name, share in self.budget_split.items())
        lines = [self.query, f"{guarantee_text(self.guarantee)} for {unit}", f"spent on: {split}"]
        if not self.private:
            lines.append("NOT PRIVATE: made in test mode")
        lines += [f"warning: {each}" for each in self.warnings]
        return "\n".join(lines)


def _plain(labels: Sequence[object]) -> tuple[Any, ...]:
    """Labels of one kind: as they are, or as text where cells have different kinds of names."""
    kinds = {type(label) for label in labels if label is not None}
    if len(kinds) <= 1:
        return tuple(labels)
    return tuple(None if label is None else str(label) for label in labels)


def _distinct(columns: Sequence[str]) -> tuple[str, ...]:
    names = tuple(columns)
    if len(set(names)) < len(names):
        raise InvalidParameter(
            code="attribute_names",
            expectation="each column once",
            received=names,
            remedy="Name it once.",
        )
    return names
