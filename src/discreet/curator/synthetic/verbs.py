"""What a session can be asked about synthetic tables. Each verb is a short call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.guarantee import Guarantee
from discreet.curator.context import ANALYST, Context

if TYPE_CHECKING:
    from discreet.core.parameters import Number
    from discreet.curator.paid_before import PaidBefore
    from discreet.curator.synthetic.preview import SynthesisPreview
    from discreet.synthetic.encoding.constraints import Constraint
    from discreet.synthetic.encoding.number_column import PrivateBins
    from discreet.synthetic.evaluation.private_distances import PrivateEvaluation
    from discreet.synthetic.synthetic_release import SyntheticRelease


class SynthesisVerbs:
    """Verbs of a session that make synthetic tables within its ``context``."""

    context: Context

    def synthesize(
        self,
        table: str,
        *,
        spend: Guarantee,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        constraints: Sequence[Constraint] = (),
        mechanism: Callable[..., Any] | None = None,
        bins: int | PrivateBins = 32,
        bins_share: Number = Fraction(1, 10),
        ways: int | None = None,
        target: str | None = None,
        public: Any = None,
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
        progress: Callable[..., None] | None = None,
    ) -> SyntheticRelease:
        """Make a synthetic table: a model that samples rows like the table's, and answers counts.

        All declared columns are synthesised, or those that ``columns`` names; a mapping gives
        columns of ``dp.synthetic`` for some. ``constraints`` are what the owner knows to hold of
        every row. Numbers and days have ``bins`` of equal width, or ``dp.synthetic.PrivateBins()``
        which are paid for with ``bins_share`` of the spend. ``ways`` says how many columns the
        marginals have that are kept, ``target`` which column is to be predicted. ``public`` is a
        table with these columns that everybody may see, from which the model starts. The same
        request by the same analyst at the same spend comes from the ledger at no charge; every
        sample is free. ``progress`` is told what is being done, public phases alone.
        """
        from discreet.curator.synthetic.make import SynthesisRequest, synthesize

        request = SynthesisRequest.of(
            self.context,
            table,
            columns=columns,
            constraints=constraints,
            bins=bins,
            mechanism=mechanism,
            ways=ways,
            target=target,
            bins_share=bins_share,
            public=public,
        )
        return synthesize(
            request,
            spend=spend,
            analyst=analyst,
            purpose=purpose,
            paid_before=paid_before,
            progress=progress,
        )

    def preview_synthesis(
        self, table: str, *, spend: Guarantee, **choices: Any
    ) -> SynthesisPreview:
        """What :meth:`synthesize` would take with these choices: cells, price, split; free."""
        from discreet.curator.synthetic.make import SynthesisRequest
        from discreet.curator.synthetic.preview import preview_synthesis

        return preview_synthesis(SynthesisRequest.of(self.context, table, **choices), spend)

    def evaluate_synthetic(
        self,
        table: str,
        synthetic: Any,
        *,
        spend: Guarantee,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        ways: Sequence[int] = (1, 2, 3),
        analyst: str = ANALYST,
        purpose: str | None = None,
        paid_before: PaidBefore | None = None,
    ) -> PrivateEvaluation:
        """How far the marginals of synthetic rows lie from those of a table, with noise; charged.

        ``synthetic`` is a release, which is sampled, or a table with the same columns. For the
        same rows it comes from the ledger at no charge.
        """
        from discreet.curator.synthetic.evaluate import DistanceRequest, evaluate_synthetic

        request = DistanceRequest.of(self.context, table, synthetic, columns=columns, ways=ways)
        return evaluate_synthetic(
            request, spend=spend, analyst=analyst, purpose=purpose, paid_before=paid_before
        )
