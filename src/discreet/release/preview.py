"""What an answer will look like before it is bought: error of each column, price, what is left."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.guarantee import Guarantee
from discreet.release.guarantee import guarantee_text


@dataclass(frozen=True)
class Expected:
    """The error of one column before anything is spent, from public quantities alone.

    A half-width, the same in every group; or one for each group size; or words. ``typical`` are
    the half-widths of groups whose values are spread evenly, where ``by_size`` is for the worst.
    """

    name: str
    half_width: float | None
    by_size: tuple[tuple[int, float], ...]
    note: str
    typical: tuple[tuple[int, float], ...] = ()


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
                lines.append(f"  {column.name}: ± {_digits(column.half_width, 4)}  ({column.note})")
            elif column.by_size:
                sizes = ", ".join(f"{_digits(w, 3)} at {n:,} values" for n, w in column.by_size)
                lines.append(f"  {column.name}: ± {sizes}")
                if column.typical:
                    usual = ", ".join(f"{_digits(w, 3)} at {n:,}" for n, w in column.typical)
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


def _digits(width: float, most: int) -> str:
    """So many digits, and large numbers in full.

    >>> _digits(0.4483, 3), _digits(74.5, 3), _digits(10000.0, 3), _digits(3387.4, 3)
    ('0.448', '74.5', '10,000', '3,390')
    """
    short = f"{width:.{most}g}"
    return short if "e+" not in short and abs(width) < 1000 else f"{float(short):,.0f}"
