"""Holding questions to policies, before anything is reserved or read.

Source: 004d:D2; contract, "What may be seen" (refusals are free and explain themselves).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, exact
from discreet.core.written import numbers
from discreet.curator.policy.column_lineage import joined_tables, used_columns
from discreet.curator.policy.policy import Policy
from discreet.relational.database import Database
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import Query
from discreet.release.guarantee import guarantee_text


@dataclass(frozen=True)
class Policies:
    """The policies that hold in a session: all of them, or none."""

    policies: tuple[Policy, ...] = ()

    @classmethod
    def of(cls, policy: Policy | None, database: Database) -> Policies:
        """A policy for a database; it may name only tables and columns that are there."""
        if policy is None:
            return cls()
        if not isinstance(policy, Policy):
            raise InvalidParameter(
                code="not_a_policy",
                expectation="a policy",
                received=type(policy).__name__,
                remedy='Write policy=dp.Policy.read("policy.toml").',
            )
        for table, uses in policy.tables.items():
            entry = database.find(table)
            if entry is None or entry.name != table:
                raise _unknown(name=table, known=database.names())
            for column in {column for listed in uses.values() for column in listed}:
                if column not in entry.fields:
                    raise _unknown(name=f"{table}.{column}", known=list(entry.fields))
        for pair in policy.joins:
            assert isinstance(pair, frozenset)
            for table in sorted(pair - set(database.names())):
                raise _unknown(name=table, known=database.names())
        return cls((policy,))

    def require_described(self) -> None:
        """Refuse what is of one's own making: nobody can say what it does with which columns."""
        if self.policies:
            raise _refused(
                code="policy_measurement",
                rule="questions in SQL, whose columns can be seen, and mechanisms of this package",
                received="a measurement, or a mechanism of one's own",
                remedy="Ask in SQL, or pass a mechanism of this package.",
            )

    def admit_resumed(self, query: Query | None, *, analyst: str, purpose: object) -> None:
        """Refuse to go on with what was paid for earlier and is not allowed now.

        ``purpose`` is the one that was stated then. The price is not asked again: it was paid.
        """
        if query is not None:
            self.require_columns(query)
        self._require_who(analyst, purpose)

    def require_askable(self, query: Query, spend: Guarantee | None) -> None:
        """Refuse what could not be asked by anybody, where nobody is named and nothing is paid."""
        self.require_columns(query)
        if spend is not None:
            for policy in self.policies:
                _require_spend(policy, spend)

    def admit(self, spend: Guarantee, *, analyst: str, purpose: str | None) -> dict[str, object]:
        """Refuse a price, analyst or purpose that some policy does not allow.

        What is returned is for the ledger to keep.
        """
        self._require_who(analyst, purpose)
        for policy in self.policies:
            _require_spend(policy, spend)
        kept: dict[str, object] = {} if purpose is None else {"purpose": purpose}
        if self.policies:
            kept["policy"] = [policy.digest for policy in self.policies]
        return kept

    def _require_who(self, analyst: str, purpose: object) -> None:
        for policy in self.policies:
            _require_listed("analyst", analyst, policy.analysts, code="policy_asker")
            _require_listed("purpose", purpose, policy.purposes, code="policy_purpose")

    def require_columns(self, query: Query) -> None:
        """Refuse tables, uses of columns and joins that some policy does not allow."""
        for part in query.parts:
            self._require_columns(part)

    def _require_columns(self, query: Query) -> None:
        for policy in self.policies:
            for scan in scans(query.rows):
                if scan.private and scan.table not in policy.tables:
                    raise _refused(
                        code="policy_table",
                        rule=f"one of the tables {sorted(policy.tables)}",
                        received=scan.table,
                        remedy="Ask about these tables.",
                    )
            for used in used_columns(query):
                allowed = policy.tables[used.table][used.use]
                if used.column not in allowed:
                    raise _refused(
                        code="policy_column",
                        rule=f"{used.use} to use the columns {sorted(allowed)} of {used.table}",
                        received=used.column,
                        remedy="Use these, or ask the data owner to widen the policy.",
                    )
            for pair in sorted(map(sorted, joined_tables(query.rows))):
                if frozenset(pair) not in policy.joins:
                    raise _refused(
                        code="policy_join",
                        rule=f"joins among {[sorted(known) for known in policy.joins]}",
                        received=pair,
                        remedy="Ask about each table by itself.",
                    )


def _require_listed(what: str, value: object, listed: object, *, code: str) -> None:
    if listed is not None and (not isinstance(listed, tuple) or value not in listed):
        raise _refused(
            code=code,
            rule=f"{what}= to be one of {listed}",
            received=value,
            remedy=f"State one of them: {what}=...",
        )


def _require_spend(policy: Policy, spend: Guarantee) -> None:
    for name, value in _numbers(spend).items():
        most, least = policy.max_spend.get(name), policy.min_spend.get(name)
        if most is None:
            raise _refused(
                code="policy_spend",
                rule=f"a spend in {sorted(policy.max_spend)} only",
                received=guarantee_text(spend),
                remedy="Spend in another privacy definition.",
            )
        if _read_number_as_written(value) > _read_number_as_written(most) or (
            least is not None and _read_number_as_written(value) < _read_number_as_written(least)
        ):
            from_least = "" if least is None else f" from {least:g}"
            raise _refused(
                code="policy_spend",
                rule=f"a question to spend {name}{from_least} up to {most:g}",
                received=guarantee_text(spend),
                remedy="Choose a spend within the policy.",
            )


def _numbers(spend: Guarantee) -> dict[str, Number]:
    """The numbers of a spend by name; a delta of zero is none."""
    named = numbers(spend)
    return {name: value for name, value in named.items() if name != "delta" or value != 0}


def _read_number_as_written(value: Number) -> Fraction:
    """A number as a person wrote it: 0.1 means one tenth."""
    return Fraction(repr(value)) if isinstance(value, float) else exact(value)


def _unknown(*, name: str, known: list[str]) -> InvalidParameter:
    return InvalidParameter(
        code="policy_unknown",
        expectation=f"a policy that names what there is, among {sorted(known)}",
        received=name,
        remedy="Check the spelling in the policy; names are case-sensitive there.",
    )


def _refused(*, code: str, rule: str, received: object, remedy: str) -> InvalidParameter:
    return InvalidParameter(
        code=code, expectation=f"under the policy, {rule}", received=received, remedy=remedy
    )
