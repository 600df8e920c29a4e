"""``discreet fit``: a model of a private table's rows, at one price."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import display
from discreet.cli.options import (
    Analyst,
    Delta,
    Epsilon,
    Machine,
    PayAgain,
    ProjectFile,
    Purpose,
    Reuse,
    Rho,
)
from discreet.cli.previewed import require_affordable, show_expected
from discreet.core.errors import InvalidParameter


class ModelName(StrEnum):
    """The models that a name is enough for."""

    LINEAR = "linear"
    RIDGE = "ridge"
    NAIVE_BAYES = "naive-bayes"
    PCA = "pca"
    SCALER = "scaler"
    IMPUTER = "imputer"
    LOGISTIC = "logistic"
    SVC = "svc"
    SOFTMAX = "softmax"
    LASSO = "lasso"
    KMEANS = "kmeans"
    TREE = "tree"
    FOREST = "forest"


def fit(
    text: Annotated[
        str,
        typer.Argument(metavar="SQL", help="A SELECT of features, and of the target if any."),
    ],
    *,
    model: Annotated[ModelName, typer.Option("--model", help="What is fitted.")],
    target: Annotated[
        str | None,
        typer.Option("--target", help="The column to be predicted, if the model has one."),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where the model goes: name.json.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", min=0, help="Of ridge, in units of the bounds.")
    ] = None,
    components: Annotated[
        int | None, typer.Option("--components", min=1, help="Of pca; all if not given.")
    ] = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", min=1, help="Of kmeans; 8 if not given.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only the price and the noise; nothing is charged.")
    ] = False,
    reuse: Reuse = False,
    pay_again: PayAgain = False,
    analyst: Analyst = "analyst",
    purpose: Purpose = None,
    machine: Machine = False,
    project: ProjectFile = Path("discreet.toml"),
) -> None:
    """Fit a model to the rows of a SELECT; unit and bounds are those of the project file.

    discreet fit "SELECT age, cost FROM visits" --model linear --target cost --epsilon 1 --dry-run

    It is paid for once: the same again, with another --out, is free. dp.learn.load reads the file.
    """
    with display.readable_errors(machine=machine):
        from discreet.cli import opening, spending

        _require_kept(out, dry_run=dry_run)
        spend = spending.required_spend(epsilon, delta, rho)
        paid_before = spending.paid_before_of(reuse=reuse, pay_again=pay_again)
        wanted = estimator(model, alpha=alpha, components=components, clusters=clusters)
        asked: dict[str, Any] = {"spend": spend, "analyst": analyst, "purpose": purpose}
        if dry_run:
            with opening.look(project) as ahead, opening.busy("looking ahead"):
                expected = ahead.preview_fit(wanted, text, target=target, **asked)
            show_expected(expected, machine=machine)
            return
        with opening.first_look(project) as look:
            if look is not None:
                require_affordable(look, look.preview_fit(wanted, text, target=target, **asked))
        with opening.curator(project) as curator, opening.busy("fitting"):
            before = curator.spent
            made = curator.fit(wanted, text, target=target, **asked, paid_before=paid_before)
            left, free = curator.remaining, curator.spent == before
        if out is not None:
            made.save(out)
        if machine:
            display.as_json(
                {"model": made.to_json(), "guarantee": made.guarantee_, "remaining": left}
            )
            return
        display.lines(_describe_model(made))
        display.note(f"written: {out}")
        display.note(
            f"remaining: {display.describe_remaining_budget(left)}{free * ' (nothing was charged)'}"
        )


def estimator(
    model: ModelName,
    *,
    alpha: float | None = None,
    components: int | None = None,
    clusters: int | None = None,
) -> Any:
    """The estimator of a name; options of others are refused."""
    from discreet import learn

    given: dict[str, Any] = {}
    for option, name, value, of in (
        ("--alpha", "alpha", alpha, ModelName.RIDGE),
        ("--components", "n_components", components, ModelName.PCA),
        ("--clusters", "n_clusters", clusters, ModelName.KMEANS),
    ):
        if value is None:
            continue
        if model is not of:
            raise InvalidParameter(
                code="option_of_another_model",
                expectation=f"{option} only with --model {of}",
                received=str(model),
                remedy=f"Leave {option} out.",
            )
        given[name] = value
    return getattr(learn, _ESTIMATORS[model])(**given)


def _describe_model(made: Any) -> str:
    """What was learnt, one line for each feature, with intervals where there are; what it cost."""
    from discreet.release.guarantee import guarantee_text, protection_text

    lines = [made.facts_["question"]]
    known = made.coef_intervals() if hasattr(made, "coef_intervals") else None
    for title, name in _SHOWN:
        if hasattr(made, name):
            values = getattr(made, name)
            shown = zip(made.features_, values, strict=True) if values.ndim == 1 else ()
            ends = [""] * len(values) if known is None else [*map(_between, known.coef)]
            lines += [
                f"  {feature}: {title} {value:.6g}{between}"
                for (feature, value), between in zip(shown, ends, strict=False)
            ]
    lines += _by_line(made, getattr(made, "coef_", None), "coefficient")
    lines += _by_line(made, getattr(made, "cluster_centers_", None), "centre")
    if hasattr(made, "intercept_"):
        between = "" if known is None else _between(known.intercept)
        import numpy as np  # heavy, and not needed for help

        levels = ", ".join(f"{each:.6g}" for each in np.ravel(made.intercept_))
        lines.append(f"  intercept {levels}{between}")
    if hasattr(made, "classes_"):
        lines.append(f"  classes: {', '.join(map(str, made.classes_))}")
    if hasattr(made, "leaf_counts_"):
        lines.append(f"  trees: {len(made.leaf_counts_)}, of {made.leaf_counts_.shape[1]} leaves")
    if hasattr(made, "bounds_"):
        found = zip(made.features_, *made.bounds_, strict=True)
        clamped = ", ".join(f"{of} {low:.4g} to {high:.4g}" for of, low, high in found)
        lines.append(f"  where rows were found, and are clamped into: {clamped}")
    if known is not None:
        lines.append(_MEANING)
    unit = protection_text(made.guarantee_.unit)
    return "\n".join([*lines, _LIMIT, f"guarantee: {guarantee_text(made.guarantee_)} for {unit}"])


def _by_line(made: Any, values: Any, title: str) -> list[str]:
    """Lines of several classes or centres: of two classes there is one, that of the second."""
    if values is None or values.ndim == 1:
        return []
    classes = [*getattr(made, "classes_", range(1, len(values) + 1))]
    names = classes[1:] if len(values) < len(classes) else classes
    return [
        f"  {name}: {title} "
        + ", ".join(f"{of} {each:.6g}" for of, each in zip(made.features_, line, strict=True))
        for name, line in zip(names, values, strict=True)
    ]


def _between(ends: Any) -> str:
    return f"  (95 %: {float(ends[0]):.4g} to {float(ends[1]):.4g})"


_MEANING = (
    "95 %: where the coefficient without noise lies, on these rows; what noise alone could explain "
    "is shrunk towards 0"
)
_LIMIT = "limit: values outside their declared bounds count as the nearest; in no interval"
_ESTIMATORS = {
    ModelName.LINEAR: "LinearRegression",
    ModelName.RIDGE: "Ridge",
    ModelName.NAIVE_BAYES: "GaussianNB",
    ModelName.PCA: "PCA",
    ModelName.SCALER: "StandardScaler",
    ModelName.IMPUTER: "SimpleImputer",
    ModelName.LOGISTIC: "LogisticRegression",
    ModelName.SVC: "LinearSVC",
    ModelName.SOFTMAX: "SoftmaxRegression",
    ModelName.LASSO: "Lasso",
    ModelName.KMEANS: "KMeans",
    ModelName.TREE: "DecisionTreeClassifier",
    ModelName.FOREST: "RandomForestClassifier",
}
_SHOWN = (("coefficient", "coef_"), ("mean", "mean_"), ("mean", "statistics_"))


def _require_kept(out: Path | None, *, dry_run: bool) -> None:
    """Refuse to pay for what nobody would see."""
    if out is None and not dry_run:
        raise InvalidParameter(
            code="nothing_to_write",
            expectation="a file for the model",
            remedy="Add --out model.json or --dry-run.",
        )
    if out is not None and out.suffix.lower() != ".json":
        raise InvalidParameter(
            code="output_format",
            expectation="a name that ends in .json",
            received=out.name,
            remedy="Rename the file.",
        )
    if out is not None and not out.parent.is_dir():
        raise InvalidParameter(
            code="output_format",
            expectation="a file in a folder that exists",
            received=str(out),
            remedy=f"Make the folder first: mkdir -p {out.parent}.",
        )
