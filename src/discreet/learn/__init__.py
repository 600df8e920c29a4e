"""Private learning: optimisers as reusable objects, and estimators in scikit-learn's manner.

Estimators need the extra ``learn``; everything else here does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.errors import InvalidParameter
from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.learn.estimators.linear import LinearRegression, Ridge
    from discreet.learn.estimators.naive_bayes import GaussianNB
    from discreet.learn.estimators.pca import PCA
    from discreet.learn.estimators.scaling import SimpleImputer, StandardScaler

__all__ = [
    "PCA",
    "GaussianNB",
    "LinearRegression",
    "Ridge",
    "SimpleImputer",
    "StandardScaler",
]

_NAMES = {
    "estimators.linear": ("LinearRegression", "Ridge"),
    "estimators.naive_bayes": ("GaussianNB",),
    "estimators.pca": ("PCA",),
    "estimators.scaling": ("SimpleImputer", "StandardScaler"),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    _load = loader(__name__, _NAMES)

    def __getattr__(name: str) -> object:
        """Load a public name on first use; say what to install where scikit-learn is missing."""
        try:
            return _load(name)
        except ModuleNotFoundError as missing:
            if missing.name != "sklearn":
                raise
            raise InvalidParameter(
                code="missing_scikit_learn",
                expectation="scikit-learn, on which estimators are built",
                received=name,
                remedy="pip install 'discreet[learn]'.",
            ) from None


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
