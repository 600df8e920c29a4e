"""Making a synthetic table: translate, price, find again or count once, release, keep.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from discreet.core.events.event import Event, from_json
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number
from discreet.curator.budget import as_written
from discreet.curator.context import Context
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.curator.synopsis.fingerprint import request_fingerprint
from discreet.curator.synopsis.make import is_own, mechanism_for, synopsis_facts
from discreet.curator.synopsis.mechanism import GIVEN
from discreet.curator.synthetic.declared_columns import left_out, table_encoding
from discreet.curator.synthetic.encoded_table import EncodedTable
from discreet.curator.tags import name_of
from discreet.noise.randomness import SYSTEM, Source, random_id
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.workload import Workload
from discreet.relational.execute.several_counts import SeveralCounts
from discreet.relational.execute.table_counts import TableCounts
from discreet.release.promise import promised
from discreet.synthetic.budget_split import spent_split
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.encoding.constraints import Constraint
from discreet.synthetic.encoding.number_column import BINS, PrivateBins
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.grouped_model import stored_model
from discreet.synthetic.mechanism_choice import (
    maker_for,
    require_leaves_model,
    usual_workload,
    with_progress,
)
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.private_groups import USUAL_SHARE, PrivateGroups
from discreet.synthetic.synthetic_release import SyntheticRelease


@dataclass(frozen=True)
class SynthesisRequest:
    """What is to be made of a table: public parts alone.

    Attributes:
        table: The table with its columns as cells, and who pays.
        workload: The marginals that are to be kept.
        make: What makes the mechanism.
    """

    table: EncodedTable
    workload: Workload
    make: Callable[..., Any]

    @classmethod
    def of(
        cls,
        context: Context,
        table: str,
        *,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        constraints: Sequence[Constraint] = (),
        bins: int | PrivateBins = BINS,
        never_missing: Iterable[str] = (),
        mechanism: Callable[..., Any] | None = None,
        ways: int | None = None,
        target: str | None = None,
        bins_share: Number = USUAL_SHARE,
        public: Any = None,
    ) -> SynthesisRequest:
        """The request that declarations and these choices make; refusals here are free."""
        encoding = table_encoding(
            context, table, columns, constraints, bins, never_missing=never_missing
        )
        encoded = EncodedTable.of(context, table, encoding)
        make = maker_for(encoding, mechanism, target=target, share=bins_share, public=public)
        return cls(encoded, usual_workload(encoded.source.universe, ways), make)

    @property
    def context(self) -> Context:
        """The tables, and who pays."""
        return self.table.context

    @property
    def encoding(self) -> TableEncoding:
        """The columns as cells."""
        return self.table.encoding

    @property
    def source(self) -> TableCounts:
        """What counts the table, and has counted nothing yet."""
        return self.table.source

    def mechanism(self, spend: Guarantee, progress: Callable[..., None] | None = None) -> Any:
        """The mechanism for this table; reads public facts alone."""
        make = with_progress(self.make, progress)
        made = mechanism_for(self.context, make, self.workload, source=self.source, spend=spend)
        require_leaves_model(made)
        return made

    def again(self, spend: Guarantee) -> Callable[[CodedRecords], SyntheticModel]:
        """Makes a model of other counts, as that of this table is made; reads no table."""

        def make_model_of_counts(counts: CodedRecords) -> SyntheticModel:
            mechanism = self._make_mechanism(spend, SYSTEM)
            model: SyntheticModel = mechanism.release(counts)
            return model

        return make_model_of_counts

    def _make_mechanism(self, spend: Guarantee, randomness: Source) -> Any:
        return self.make(
            workload=self.workload,
            spend=self.context.budget.as_paid(spend),
            size=self.source.size,
            records=self.source.records,
            randomness=randomness,
        )

    def expected(self) -> set[tuple[int, ...]]:
        """The marginals that a mechanism may count: those to be kept, and their parts."""
        kept = {product.kept_places for product in self.workload.products}
        sizes = range(1, 1 + max(map(len, kept)))
        return {part for each in kept for size in sizes for part in combinations(each, size)}

    def words(self, mechanism: str) -> str:
        """What is made, in words."""
        return (
            f"synthetic {self.table.name} by {mechanism}: {', '.join(self.encoding.columns)}; "
            f"{self.encoding.universe.size:,} cells"
        )

    def identify_question(self, spend: Guarantee) -> Known:
        """Equal for the same synthesis of the same data; new each time where that is unsure."""
        asked = request_fingerprint(self.make, given=GIVEN)
        if asked is None:
            return Known(f"synthesis {random_id(96)}", anew=True)
        parts = {
            "mechanism": asked,
            "columns": self.table.columns_text,
            "marginals": max(len(product.kept_places) for product in self.workload.products),
        }
        return self.table.identify_question("synthesize", parts, spend)


def synthesize(
    request: SynthesisRequest,
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
    progress: Callable[..., None] | None,
) -> SyntheticRelease:
    """Count, fit and keep a synthetic table; or find the one that the analyst already has."""
    context = request.context
    context.budget.check(spend)
    spend = as_written(spend)
    kept = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=spend,
            reads=(request.source.query,),
            offer=lambda: offer_of(request, request.mechanism(spend, progress)),
            own=is_own(request.make),
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: request.identify_question(spend),
            to_dict=_Kept.to_dict,
            from_dict=lambda stored: _Kept.from_dict(stored, request.encoding),
        ),
    )
    return SyntheticRelease(
        id=kept.number,
        query=request.words(kept.mechanism),
        encoding=request.encoding,
        model=kept.model,
        guarantee=promised(spend, kept.event).per(context.unit),
        event=kept.event,
        budget_split=kept.split,
        facts=_facts(request, kept.mechanism),
        again=request.again(spend),
        noise=CountNoise.of(request.mechanism(spend), request.encoding),
    )


def offer_of(request: SynthesisRequest, mechanism: Any) -> Offer[Callable[[], _Kept]]:
    """A mechanism as it is offered."""
    name, event = mechanism_name(mechanism), mechanism.event
    source = request.source

    def product() -> _Kept:
        with source.engine.snapshot():
            counts = SeveralCounts.of(source, request.expected())
            model = mechanism.release(counts)
            return _Kept(random_id(96), name, model, event, spent_split(mechanism, model))

    return Offer(product=product, event=event, detail={"mechanism": request.words(name)})


def mechanism_name(mechanism: Any) -> str:
    """The name of a mechanism in ledgers and statements; of private bins, what comes after."""
    if isinstance(mechanism, PrivateGroups):
        return f"{name_of(mechanism.inner)} on private bins"
    return name_of(mechanism)


@dataclass(frozen=True)
class _Kept:
    """What the ledger keeps of a synthetic table."""

    number: str
    mechanism: str
    model: SyntheticModel
    event: Event
    split: Mapping[str, float]

    def to_dict(self) -> dict[str, object]:
        return {
            "synthetic": self.number,
            "mechanism": self.mechanism,
            "plain": dict(self.model.to_dict()),
            "event": self.event.to_json(),
            "split": dict(self.split),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], encoding: TableEncoding) -> _Kept:
        event = from_json(plain["event"])
        model = stored_model(plain["plain"], encoding.universe, event)
        return cls(plain["synthetic"], plain["mechanism"], model, event, plain["split"])


def _facts(request: SynthesisRequest, mechanism: str) -> dict[str, Any]:
    """The public facts of the privacy statement."""
    facts = synopsis_facts(request.context, request.source, mechanism=mechanism, rmse=None)
    facts["columns"] = list(request.encoding.columns)
    facts["columns_left_out"] = list(left_out(request.context, request.table.name))
    return facts
