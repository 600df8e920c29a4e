"""How far a synthetic table lies from the private one: bought as every answer is.

Source: contract, "Spending"; 004d:D7. Proof: ``proofs/marginal_distances.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.curator.budget import as_written
from discreet.curator.context import Context
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.curator.synthetic.declared_columns import table_encoding
from discreet.curator.synthetic.encoded_table import EncodedTable
from discreet.noise.randomness import Source
from discreet.relational.execute.several_counts import SeveralCounts
from discreet.release.promise import promised
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes
from discreet.synthetic.encoding.frame_columns import frame_columns
from discreet.synthetic.encoding.number_column import BINS
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.evaluation.private_distances import (
    MarginalDistances,
    PrivateEvaluation,
    private_evaluation,
)
from discreet.synthetic.synthetic_release import SyntheticRelease


@dataclass(frozen=True, eq=False)
class DistanceRequest:
    """Synthetic rows and the private table they are compared with; public parts alone."""

    table: EncodedTable
    synthetic: Codes
    ways: tuple[int, ...]

    @classmethod
    def of(
        cls,
        context: Context,
        table: str,
        synthetic: Any,
        *,
        columns: Sequence[str] | Mapping[str, Any] | None,
        ways: Sequence[int],
        bins: int = BINS,
    ) -> DistanceRequest:
        """A release is sampled here, and brings its own columns.

        They are compared one by one, also those that constraints tie together.
        """
        if isinstance(synthetic, SyntheticRelease):
            made = synthetic.encoding.columns
            encoding = TableEncoding({name: each for name, each in made.items() if each.size})
            synthetic = synthetic.sample()
        else:
            encoding = table_encoding(context, table, columns, (), bins)
        names = [name for each in encoding.attributes for name in each.columns]
        codes = encoding.encode(frame_columns(synthetic, names))
        inside = codes[~np.any(codes == OUTSIDE, axis=1)]
        asked = {count("ways", each) for each in ways}
        sizes = tuple(sorted(each for each in asked if each <= len(encoding.attributes)))
        return cls(EncodedTable.of(context, table, encoding), inside, sizes)

    def distances(self, spend: Guarantee, randomness: Source) -> MarginalDistances:
        """The mechanism; reads public facts alone."""
        return MarginalDistances(
            universe=self.table.encoding.universe,
            synthetic=self.synthetic,
            ways=self.ways,
            spend=self.table.context.budget.as_paid(spend),
            size=self.table.source.size,
            records=self.table.source.records,
            randomness=randomness,
        )

    def identify_question(self, spend: Guarantee) -> Known:
        """Equal for the same rows, compared with the same data."""
        rows = np.ascontiguousarray(self.synthetic).tobytes()
        parts = {
            "columns": self.table.columns_text,
            "synthetic": hashlib.sha256(rows).hexdigest(),
            "ways": self.ways,
        }
        return self.table.identify_question("evaluate_synthetic", parts, spend)


def evaluate_synthetic(
    request: DistanceRequest,
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
) -> PrivateEvaluation:
    """Count, add noise and keep; or find what the analyst already has."""
    context = request.table.context
    context.budget.check(spend)
    spend = as_written(spend)
    released = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=spend,
            reads=(request.table.source.query,),
            offer=lambda: _offer(request, request.distances(spend, context.randomness)),
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: request.identify_question(spend),
            to_dict=lambda sums: {"distances": {str(ways): n for ways, n in sums.items()}},
            from_dict=lambda kept: {int(ways): n for ways, n in kept["distances"].items()},
        ),
    )
    made = request.distances(spend, context.randomness)
    held = promised(spend, made.event).per(context.unit)
    return private_evaluation(made, released, held)


def _offer(
    request: DistanceRequest, distances: MarginalDistances
) -> Offer[Callable[[], dict[int, int]]]:
    source = request.table.source
    source.text(source.universe.names[:1])  # what cannot be written is refused now

    def product() -> dict[int, int]:
        with source.engine.snapshot():
            sets = (each for every in distances.sets.values() for each in every)
            return distances.release(SeveralCounts.of(source, sets))

    words = f"distances of {len(request.synthetic):,} synthetic rows"
    return Offer(product=product, event=distances.event, detail={"mechanism": words})
