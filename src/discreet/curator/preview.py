"""What an answer will look like before it is bought: error of each column, price, what is left."""

from __future__ import annotations

from discreet.accounting.adaptive.steps import Amounts
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_rho
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import exact
from discreet.curator.budget import PrivacyBudget
from discreet.curator.key_statement import keys_forecast
from discreet.curator.warnings import about_delta
from discreet.relational.aggregates.aggregate import Expected
from discreet.relational.answers.expected_columns import expected_columns
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release.confidence import confidence_level
from discreet.release.guarantee import guarantee_text
from discreet.release.preview import Preview


@dataclass(frozen=True)
class Preview:
    """Expected errors and the price. ``affordable`` is how many such questions are left.

    ``cells`` is None, and ``keys`` says how many people a key needs, where keys are discovered.
    """

    columns: tuple[Expected, ...]
    confidence: float
    cells: int | None
    price: Guarantee
    affordable: int
    affordable_by_zcdp: int | None
    keys: str = ""
    left_out: tuple[Expected, ...] = ()
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Expected:
        """The expected error of a column."""
        return next(column for column in self.columns if column.name == name)

    @property
    def is_free(self) -> bool:
        """Whether nothing would be charged."""
        return not any(getattr(self.price, name, 0) for name in ("epsilon", "delta", "rho"))

    def __str__(self) -> str:
        """A few lines for people."""
        keys = self.keys or f"{self.cells} cell{'' if self.cells == 1 else 's'}"
        lines = [f"{keys}; half-widths at {self.confidence:.0%} from noise alone"]
        for column in self.columns:
            if column.half_width is not None:
                lines.append(f"  {column.name}: ± {column.half_width:.4g}  ({column.note})")
            elif column.by_size:
                sizes = ", ".join(f"{w:.3g} at {n:,} values" for n, w in column.by_size)
                lines.append(f"  {column.name}: ± {sizes}")
                if column.typical:
                    usual = ", ".join(f"{w:.3g} at {n:,}" for n, w in column.typical)
                    lines.append(f"    typically, for evenly spread values: ± {usual}")
            else:
                lines.append(f"  {column.name}: {column.note}")
        lines += [
            f"  left out, {column.name}: ± {column.half_width:.4g}  ({column.note})"
            for column in self.left_out
        ]
        left = "any number" if self.is_free else self.affordable
        lines.append(f"price: {guarantee_text(self.price)}; such questions left: {left}")
        if self.affordable_by_zcdp is not None:
            lines.append(f"  a budget opened by=ZCDP would allow {self.affordable_by_zcdp} in all")
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    __repr__ = __str__


def preview(
    planned: PlannedQuery,
    budget: PrivacyBudget,
    charge: Amounts,
    left: Amounts,
    *,
    confidence: float,
    people: int | None = None,
) -> Preview:
    """Everything that is known before spending; ``people`` is how many there are at most."""
    level = confidence_level(confidence)
    return Preview(
        columns=expected_columns(planned, level),
        confidence=level,
        cells=None if isinstance(planned, Discovering) else planned.cells,
        keys=keys_forecast(planned, level),
        price=budget.spent(charge),
        affordable=min(
            (have // price for have, price in zip(left, charge, strict=True) if price), default=0
        ),
        affordable_by_zcdp=_by_zcdp(planned, budget),
        left_out=() if planned.left_out is None else planned.left_out.expected(level),
        warnings=tuple(about_delta(planned.spend, people)),
    )


def _by_zcdp(planned: PlannedQuery, budget: PrivacyBudget) -> int | None:
    """Questions of this kind that the same (epsilon, delta) would pay for in rho."""
    total = budget.total
    if not isinstance(total, ApproxDP) or total.by is not None or total.delta == 0:
        return None
    try:
        rho = ZERO_CONCENTRATED.price(planned.paid_event)
    except DiscreetError:
        return None
    return int(exact(zcdp_rho(total.epsilon, total.delta)) // rho) if rho else None
