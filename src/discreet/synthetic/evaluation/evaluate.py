"""One call that compares a synthetic table with the real one.

Without a price it shows real numbers, and what it returns is marked: for the data owner alone. With
``spend=`` the distances are noisy, and cost what their event says.

Source: 004c:9-8; 004d:D7, D8, D10; 000b:B18; contract, "What may be seen".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.core.unit import PrivacyUnit
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.workload.workload import Workload
from discreet.release.promise import promised
from discreet.synthetic.bounded_records import bounded_records, records_of, size_of
from discreet.synthetic.encoding.constraints import Constraint
from discreet.synthetic.encoding.declared import column_of
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes, EncodedColumn
from discreet.synthetic.encoding.frame_columns import frame_columns
from discreet.synthetic.encoding.number_column import BINS
from discreet.synthetic.encoding.table_encoding import TableEncoding, with_constraint_edges
from discreet.synthetic.evaluation.classifiers import (
    RealSplit,
    can_learn,
    classifier_scores,
    discriminator_auc,
)
from discreet.synthetic.evaluation.correlations import correlation_gap, correlations
from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation, TableScores
from discreet.synthetic.evaluation.marginal_error import (
    cell_counts_of,
    marginal_sets,
    total_variations,
)
from discreet.synthetic.evaluation.private_distances import (
    MarginalDistances,
    PrivateEvaluation,
    private_evaluation,
)
from discreet.synthetic.evaluation.rare_groups import rare_groups
from discreet.synthetic.evaluation.reference_tables import (
    independent_columns,
    k_anonymised,
    subsample,
)
from discreet.synthetic.evaluation.violations import violations
from discreet.synthetic.synthetic_release import SyntheticRelease

_WAYS = (1, 2, 3)


def evaluate(
    real: Any,
    synthetic: Any,
    *,
    columns: Mapping[str, Any] | None = None,
    constraints: Sequence[Constraint] = (),
    target: str | None = None,
    workload: Workload | None = None,
    ways: Sequence[int] = _WAYS,
    bins: int = BINS,
    spend: Guarantee | None = None,
    unit: PrivacyUnit | None = None,
    randomness: Source = SYSTEM,
) -> NonPrivateEvaluation | PrivateEvaluation:
    """Compare a synthetic table, or a release that is then sampled, with the real table.

    ``columns`` says what is public of each column, as for synthesis; a release brings its own.
    Without ``spend`` the result is marked not private: it shows real numbers, and a service refuses
    it. With ``spend`` and ``unit`` it is private, and says how far the marginals lie apart.
    ``target`` names a column that a classifier is to predict (scikit-learn, the extra ``learn``).
    """
    if isinstance(synthetic, SyntheticRelease):
        columns = synthetic.encoding.columns if columns is None else columns
        constraints = constraints or synthetic.encoding.constraints
        synthetic = synthetic.sample(randomness=randomness)
    if columns is None:
        raise InvalidParameter(
            code="columns_missing",
            expectation="columns=, what is public of each column",
            remedy='Write columns={"age": dp.Number(0, 120)}, or pass a release.',
        )
    made = {name: column_of(name, each, bins=bins) for name, each in columns.items()}
    made = with_constraint_edges(made, constraints)
    encoding = TableEncoding({name: column for name, column in made.items() if column.size})
    if target is not None:
        encoding.needed([target])  # refused by name, with the nearest
    sizes = [count("ways", each) for each in ways]
    sizes = sorted({each for each in sizes if each <= len(encoding.attributes)})
    if spend is not None:
        return _privately(
            real,
            synthetic,
            encoding,
            sizes,
            spend=spend,
            unit=unit,
            randomness=randomness,
        )
    first, second = _codes(encoding, real), _codes(encoding, synthetic)
    return _compared(
        encoding,
        first,
        second,
        constraints=constraints,
        target=target,
        workload=workload,
        ways=sizes,
        randomness=randomness,
    )


def _privately(
    real: Any,
    synthetic: Any,
    encoding: TableEncoding,
    ways: Sequence[int],
    *,
    spend: Guarantee,
    unit: PrivacyUnit | None,
    randomness: Source,
) -> PrivateEvaluation:
    """Noisy distances; of the real table only exact counts are read."""
    from discreet.core.unit import Person

    if unit is None:
        raise InvalidParameter(
            code="not_a_unit",
            expectation="unit=, whose privacy is protected",
            remedy='Write unit=dp.Row(), or dp.Person("patient_id", max_rows=20).',
        )
    person = unit if isinstance(unit, Person) else None
    names = [*encoding.columns, *((person.id,) if person else ())]
    read = frame_columns(real, names)
    people = None if person is None else read[person.id]
    counts = bounded_records(encoding.universe, encoding.encode(read), unit, people)
    distances = MarginalDistances(
        universe=encoding.universe,
        synthetic=_codes(encoding, synthetic),
        ways=tuple(ways),
        spend=spend,
        size=size_of(counts),
        records=records_of(unit),
        randomness=randomness,
    )
    promise = promised(spend, distances.event).per(unit)
    return private_evaluation(distances, distances.release(counts), promise)


def _compared(
    encoding: TableEncoding,
    real: Codes,
    synthetic: Codes,
    *,
    constraints: Sequence[Constraint],
    target: str | None,
    workload: Workload | None,
    ways: Sequence[int],
    randomness: Source,
) -> NonPrivateEvaluation:
    shape = encoding.universe.shape
    split = RealSplit.of(real, randomness)
    names = encoding.universe.names
    in_order = [encoding.columns[name] for name in names]
    together = correlations(in_order, real)

    def scored(table: Codes, *, apart: bool) -> TableScores:
        errors = {k: total_variations(real, table, shape, marginal_sets(shape, k)) for k in ways}
        return TableScores(
            marginals={k: float(each.mean()) for k, each in errors.items()},
            worst={k: float(each.max()) for k, each in errors.items()},
            workload=None if workload is None else _workload_error(workload, real, table),
            classifier=None
            if target is None
            else classifier_scores(target, names, split, table, randomness),
            discriminator=discriminator_auc(real, table, randomness)
            if apart and can_learn()
            else None,
            violations=_violations(encoding.columns, names, table, constraints),
            correlation=correlation_gap(together, correlations(in_order, table)),
        )

    references = {
        "40 % subsample": scored(subsample(real, randomness), apart=False),
        "independent columns": scored(independent_columns(real, randomness), apart=True),
        "25-anonymous": scored(k_anonymised(real, shape, randomness=randomness), apart=True),
    }
    shares = {
        name: (
            tuple(
                "missing" if each is None else str(each) for each in encoding.columns[name].labels
            ),
            cell_counts_of(real, (place,), shape) / max(1, len(real)),
            cell_counts_of(synthetic, (place,), shape) / max(1, len(synthetic)),
        )
        for place, name in enumerate(names)
    }
    pairs = list(combinations(range(len(names)), 2))
    apart = total_variations(real, synthetic, shape, pairs)
    kept = correlations(in_order, synthetic)
    return NonPrivateEvaluation(
        scores=scored(synthetic, apart=True),
        references=references,
        pairs={(names[a], names[b]): float(d) for (a, b), d in zip(pairs, apart, strict=True)},
        columns=shares,
        rare=rare_groups(
            encoding.columns,
            _split_codes_by_name(names, real),
            _split_codes_by_name(names, synthetic),
        ),
        rows=(len(real), len(synthetic)),
        correlations={
            (names[a], names[b]): (value, kept[a, b]) for (a, b), value in together.items()
        },
    )


def _codes(encoding: TableEncoding, table: Any) -> Codes:
    """Rows as cells; those with no cell are left out."""
    codes = encoding.encode(frame_columns(table, list(encoding.columns)))
    inside: Codes = codes[~np.any(codes == OUTSIDE, axis=1)]
    return inside


def _split_codes_by_name(names: Sequence[str], codes: Codes) -> dict[str, Codes]:
    return {name: codes[:, place] for place, name in enumerate(names)}


def _violations(
    columns: Mapping[str, EncodedColumn],
    names: Sequence[str],
    codes: Codes,
    constraints: Sequence[Constraint],
) -> dict[str, int]:
    known = [each for each in constraints if set(each.columns) <= set(names)]
    return violations(columns, _split_codes_by_name(names, codes), known)


def _workload_error(workload: Workload, real: Codes, synthetic: Codes) -> float:
    """The mean absolute error of a workload's answers, as a share of all rows."""
    shape = workload.universe.shape
    errors = []
    for product in workload.products:
        places = product.kept_places
        sides = tuple(shape[place] for place in places)
        answers = []
        for codes in (real, synthetic):
            table = cell_counts_of(codes, places, shape).reshape(sides) if places else len(codes)
            full = np.asarray(table, dtype=np.float64) / max(1, len(codes))
            for axis, place in enumerate(places):
                full = np.moveaxis(
                    np.tensordot(product.families[place].dense(), full, axes=(1, axis)), 0, axis
                )
            answers.append(np.ravel(full))
        errors.append(np.abs(answers[0] - answers[1]))
    return float(np.concatenate(errors).mean())
