"""A curator at the other end of a connection: the methods of the local one, as far as offered.

What the service refuses is raised as the library's own error, with the same code. Who asks is the
person of the token; which of that person's budgets pays is named by ``purpose`` or ``account``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeVar

from discreet.client import loaded
from discreet.client.account import (
    KeptAnswer,
    RemoteAccount,
    accounts_of,
    chosen,
    history_of,
    kept_of,
    sessions_of,
)
from discreet.client.answers import (
    batch_of,
    bounds_of,
    preview_of,
    release_of,
    stored_of,
    synopsis_of,
    synopsis_preview_of,
    synthetic_of,
    tables_of,
    tables_preview_of,
)
from discreet.client.asking import Asking
from discreet.client.conversation import RemoteConversation, opened_universe
from discreet.client.models import fit_preview_of, fit_to_json, fitted, model_of
from discreet.client.round import RemoteRound
from discreet.client.synthesis import synthesis_to_json, tables_to_json
from discreet.client.written import (
    Accuracy,
    BeforeWord,
    WantedRest,
    before_to_json,
    conversation_mechanism,
    drop_none_values,
    left_out_to_json,
    not_offered,
    require_not_given,
    spend_to_json,
    sql_to_json,
    synopsis_to_json,
    text_of,
    universe_to_json,
)
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import Number
from discreet.core.unit import PrivacyUnit
from discreet.release.batch import Batch
from discreet.release.guarantee import guarantee_from_dict
from discreet.release.preview import Preview
from discreet.release.release import Release

FittedModel = TypeVar("FittedModel")
_BINS_SHARE = Fraction(1, 10)
"""What a curator takes of a spend for bins, unless it is told otherwise."""


class RemoteCurator:
    """Asks a service in the words of :class:`discreet.Curator`. Threads may share it.

    Guarantee: whatever happens to the connection, a question is paid for at most once.
    """

    def __init__(
        self, asking: Asking, *, name: str, purpose: str | None, account: str | None
    ) -> None:
        """Speak for somebody; ``discreet.connect`` makes one."""
        self._asking = asking
        self._unit: PrivacyUnit | None = None
        self.name = name
        self.purpose = purpose
        self.account = account

    # What there is ------------------------------------------------------------------------------

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is protected."""
        if self._unit is None:
            self._unit = guarantee_from_dict(self.schema()["guarantee"]).unit
        assert self._unit is not None
        return self._unit

    @property
    def budget(self) -> Guarantee:
        """What was granted."""
        return self._account().budget

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, rounded down."""
        return self._account().remaining

    @property
    def spent(self) -> Guarantee:
        """What has been spent, unfinished reservations included, rounded up."""
        return self._account().spent

    def accounts(self) -> tuple[RemoteAccount, ...]:
        """Every budget of one's own, with its purpose."""
        return accounts_of(self._asking.transport.get("account").json(), self.unit)

    def schema(self) -> dict[str, Any]:
        """What everybody may know of the tables, as the service tells it."""
        found: dict[str, Any] = self._asking.transport.get("schema").json()
        return found

    def history(self) -> Any:
        """What one paid for, and at what price: a curator's ``History``."""
        return history_of(self._asking.pages("history"), self.name)

    def releases(self) -> tuple[KeptAnswer, ...]:
        """Answers of one's own that the service keeps, the latest first."""
        return tuple(kept_of(each) for each in self._asking.pages("releases"))

    def stored(self, id: str) -> Any:
        """An answer that the service keeps, by its id in :meth:`releases`; free."""
        found = self._asking.transport.get(f"releases/{_name(id)}").json()
        return stored_of(found["kind"], found["result"], self.unit)

    def statement(self, id: str) -> str:
        """The privacy statement of an answer that the service keeps, in words."""
        return self._asking.transport.get(f"releases/{_name(id)}/statement").text()

    # Queries ------------------------------------------------------------------------------------

    def sql(
        self,
        text: Any,
        *,
        spend: Guarantee | None = None,
        accuracy: Accuracy = None,
        confidence: float = 0.95,
        analyst: str | None = None,
        purpose: str | None = None,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        paid_before: BeforeWord | None = None,
        left_out: WantedRest | None = None,
    ) -> Release:
        """Answer a query, as :meth:`discreet.Curator.sql` does; text, or a frame."""
        self._require_own(analyst)
        body = {
            **sql_to_json(
                text,
                spend=spend,
                accuracy=accuracy,
                confidence=confidence,
                rows_at_least=rows_at_least,
                at_most=at_most,
                left_out=left_out,
            ),
            **drop_none_values(paid_before=before_to_json(paid_before)),
            **self._paying(purpose),
        }
        return release_of(self._asking.ask_paid_question("questions", body)["result"])

    def frame(self, table: str) -> Any:
        """A table to build a query from: ``.filter``, ``.group_by``, ``.agg``, ``.release``."""
        return loaded.frames().Frame.of(table, self)

    def batch(
        self,
        questions: Mapping[str, Any],
        *,
        spend: Guarantee,
        importance: Mapping[str, float] | None = None,
        confidence: float = 0.95,
        analyst: str | None = None,
        purpose: str | None = None,
        paid_before: BeforeWord | None = None,
        left_out: WantedRest | None = None,
    ) -> Batch:
        """Answer several queries at one price, as :meth:`discreet.Curator.batch` does."""
        self._require_own(analyst)
        if not isinstance(questions, Mapping):
            raise InvalidParameter(
                code="batch_names",
                expectation="questions, and their importance, by name",
                received=type(questions).__name__,
                remedy='Write batch({"total": "SELECT ..."}, spend=...).',
            )
        body = {
            "kind": "batch",
            "queries": {name: text_of(text) for name, text in questions.items()},
            "confidence": confidence,
            **spend_to_json(spend),
            **drop_none_values(
                importance=None if importance is None else dict(importance),
                paid_before=before_to_json(paid_before),
                left_out=left_out_to_json(left_out),
            ),
            **self._paying(purpose),
        }
        return batch_of(self._asking.ask_paid_question("questions", body)["result"])

    def bounds(
        self,
        table: str,
        column: str,
        *,
        spend: Guarantee,
        analyst: str | None = None,
        purpose: str | None = None,
        paid_before: BeforeWord | None = None,
    ) -> Any:
        """Estimate bounds of a numeric column, to a factor of two, and pay for it."""
        self._require_own(analyst)
        body = {
            "kind": "bounds",
            "table": table,
            "column": column,
            **spend_to_json(spend),
            **drop_none_values(paid_before=before_to_json(paid_before)),
            **self._paying(purpose),
        }
        return bounds_of(self._asking.ask_paid_question("questions", body)["result"], self.unit)

    # Synopses -----------------------------------------------------------------------------------

    def universe(self, table: Any, /, *columns: str, **expressions: str) -> Any:
        """A universe for :meth:`synopsis`, as :meth:`discreet.Curator.universe` makes it; free."""
        wanted = {"table": text_of(table), "columns": columns, "expressions": expressions}
        return opened_universe(self._asking, wanted)

    def synopsis(
        self,
        workload: Any,
        *,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        analyst: str | None = None,
        purpose: str | None = None,
        paid_before: BeforeWord | None = None,
    ) -> Any:
        """Make a synopsis for a workload of marginals; its answers are free, and computed here."""
        self._require_own(analyst)
        body = {
            **synopsis_to_json(workload, mechanism, spend),
            **drop_none_values(paid_before=before_to_json(paid_before)),
            **self._paying(purpose),
        }
        made = self._asking.ask_paid_question("questions", body)["result"]
        return synopsis_of(made, workload.universe)

    def synthesize(
        self,
        table: str,
        *,
        spend: Guarantee,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        constraints: Sequence[Any] = (),
        never_missing: Iterable[str] = (),
        mechanism: Callable[..., Any] | None = None,
        bins: int | Any = 32,
        bins_share: Number = _BINS_SHARE,
        ways: int | None = None,
        target: str | None = None,
        public: Any = None,
        analyst: str | None = None,
        purpose: str | None = None,
        paid_before: BeforeWord | None = None,
        progress: Callable[..., None] | None = None,
    ) -> Any:
        """Make a synthetic table; the model comes here, and its rows are drawn here for nothing.

        As :meth:`discreet.Curator.synthesize`, with mechanisms of ``dp.synthetic`` as they are.
        Constraints, columns of one's own, a public table and another share for bins are for
        whoever has the tables.
        """
        self._require_own(analyst)
        require_not_given(
            constraints=constraints or None,
            bins_share=None if bins_share == _BINS_SHARE else bins_share,
            public=public,
            progress=progress,
        )
        body = {
            **synthesis_to_json(
                table,
                columns=columns,
                bins=bins,
                ways=ways,
                target=target,
                mechanism=mechanism,
                never_missing=never_missing,
            ),
            **drop_none_values(paid_before=before_to_json(paid_before)),
            **spend_to_json(spend),
            **self._paying(purpose),
        }
        return synthetic_of(self._asking.ask_paid_question("questions", body)["result"])

    def synthesize_tables(
        self,
        parent: str,
        children: Sequence[str],
        *,
        spend: Guarantee,
        columns: Mapping[str, Sequence[str] | Mapping[str, Any]] | None = None,
        constraints: Mapping[str, Sequence[Any]] | None = None,
        mechanism: Callable[..., Any] | None = None,
        bins: int | Any = 32,
        analyst: str | None = None,
        purpose: str | None = None,
        paid_before: BeforeWord | None = None,
    ) -> Any:
        """Make synthetic people and the tables of their rows; rows are drawn here for nothing.

        Constraints and a mechanism for people are for whoever has the tables.
        """
        self._require_own(analyst)
        require_not_given(constraints=constraints, mechanism=mechanism)
        body = {
            **tables_to_json(parent, children, columns=columns, bins=bins),
            **drop_none_values(paid_before=before_to_json(paid_before)),
            **spend_to_json(spend),
            **self._paying(purpose),
        }
        return tables_of(self._asking.ask_paid_question("questions", body)["result"])

    def preview_tables(
        self,
        parent: str,
        children: Sequence[str],
        *,
        spend: Guarantee,
        columns: Mapping[str, Sequence[str] | Mapping[str, Any]] | None = None,
        constraints: Mapping[str, Sequence[Any]] | None = None,
        mechanism: Callable[..., Any] | None = None,
        bins: int | Any = 32,
    ) -> Any:
        """What :meth:`synthesize_tables` would take: cells, price, shares, noise; free."""
        require_not_given(constraints=constraints, mechanism=mechanism)
        body = {
            **tables_to_json(parent, children, columns=columns, bins=bins),
            **spend_to_json(spend),
            **self._paying(None),
        }
        return tables_preview_of(self._asking.free("previews", body)["result"], self.unit)

    # Models -------------------------------------------------------------------------------------

    def fit(
        self,
        estimator: FittedModel,
        text: Any,
        *,
        target: str | None = None,
        spend: Guarantee,
        analyst: str | None = None,
        purpose: str | None = None,
        paid_before: BeforeWord | None = None,
    ) -> FittedModel:
        """Fit a model to the rows of a SELECT, as :meth:`discreet.Curator.fit` does.

        No row leaves the service; the estimator given is the one that is fitted.
        """
        self._require_own(analyst)
        body = {
            **fit_to_json(estimator, text, target=target, spend=spend),
            **drop_none_values(paid_before=before_to_json(paid_before)),
            **self._paying(purpose),
        }
        made: FittedModel = fitted(
            estimator, self._asking.ask_paid_question("questions", body)["result"]
        )
        return made

    def preview_fit(
        self, estimator: Any, text: Any, *, target: str | None = None, spend: Guarantee
    ) -> Any:
        """What a fit would take and what is known of its noise; nothing is read or charged."""
        body = {
            **fit_to_json(estimator, text, target=target, spend=spend),
            **self._paying(None),
        }
        return fit_preview_of(self._asking.free("previews", body)["result"], self.unit)

    # What goes on -------------------------------------------------------------------------------

    def converse(
        self,
        universe: Any,
        *,
        mechanism: Callable[..., Any],
        spend: Guarantee,
        questions: int,
        confidence: float = 0.95,
        analyst: str | None = None,
        purpose: str | None = None,
    ) -> RemoteConversation:
        """Open a long conversation about a :meth:`universe`: counts, one by one, at one price."""
        self._require_own(analyst)
        body = {
            "kind": "conversation",
            "universe": universe_to_json(universe),
            "questions": questions,
            "confidence": confidence,
            **conversation_mechanism(mechanism),
            **spend_to_json(spend),
            **self._paying(purpose),
        }
        opened = self._asking.ask_paid_question("questions", body)["result"]["conversation"]
        return RemoteConversation(self._asking, opened, universe)

    def round(
        self,
        universe: Any,
        *,
        analysts: Sequence[str],
        queries_each: int,
        spend: Guarantee,
        protects: object,
        promise: ApproxDP,
        asked: Any = None,
        topics: int | None = None,
        places: int | None = None,
        mechanism: type | None = None,
        corrections: Any = 0,
        closes: datetime | None = None,
        limit: ApproxDP | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
    ) -> RemoteRound:
        """Open a round, paid from the whole budget: for the owner or a steward.

        It is sent once: after a broken connection look at :meth:`rounds` before opening another.
        Topics, places, corrections, limits and a kind of release are for whoever has the tables.
        """
        self._require_own(analyst)
        require_not_given(
            topics=topics,
            places=places,
            mechanism=mechanism,
            corrections=corrections or None,
            limit=limit,
        )
        units = loaded.mechanisms().analysts
        if asked is not None and not isinstance(asked, units.Conjunctions):
            raise not_offered(
                expectation="dp.queries.analysts.Conjunctions(ways)",
                received=type(asked).__name__,
                remedy="Leave asked= out, or write Conjunctions(2).",
            )
        body = {
            "universe": universe_to_json(universe),
            "analysts": list(analysts),
            "queries_each": queries_each,
            "spend": spend_to_json(spend),
            "protects": "analyst" if isinstance(protects, units.OneAnalyst) else "query",
            "promise": spend_to_json(promise),
            **drop_none_values(
                ways=None if asked is None else asked.ways,
                closes=None if closes is None else closes.isoformat(),
                purpose=purpose,
            ),
        }
        entry = self._asking.transport.post_once("rounds", body).json()
        return RemoteRound(self._asking, self.name, entry)

    def rounds(self) -> tuple[RemoteRound, ...]:
        """The rounds in which one may submit, the latest first; all of them for their owner."""
        return tuple(
            RemoteRound(self._asking, self.name, each) for each in self._asking.pages("rounds")
        )

    def resume(self, id: str, *, analyst: str | None = None, **stream: Any) -> Any:
        """Go on with a conversation or a round, by its id; nothing is charged or lost.

        Streams go on where their source is, with whoever has the tables.
        """
        self._require_own(analyst)
        require_not_given(**stream)
        try:
            return RemoteConversation(self._asking, _name(id))
        except DiscreetError as refusal:
            if refusal.code != "conversation_unknown":
                raise
            unknown = refusal
        for each in self.rounds():
            if each.id == id:
                return each
        raise unknown

    def interactive_sessions(self, *, analyst: str | None = None) -> Any:
        """Conversations of one's own, with the ids to :meth:`resume` them."""
        self._require_own(analyst)
        return sessions_of(self._asking.pages("conversations"), self.name)

    def answer(self, job: str) -> Any:
        """Wait for a question that took longer than one's patience; at no further charge."""
        view = self._asking.job(_name(job))
        if view["kind"] == "conversation":
            return RemoteConversation(self._asking, view["result"]["conversation"])
        if view["kind"] == "fit":
            return model_of(view["result"])
        return stored_of(view["kind"], view["result"], self.unit)

    def cancel(self, job: str) -> None:
        """Give up a question of one's own; what was charged stays charged."""
        self._asking.transport.delete(f"jobs/{_name(job)}").json()

    # For nothing --------------------------------------------------------------------------------

    def preview(
        self,
        text: Any,
        *,
        mechanism: Callable[..., Any] | None = None,
        spend: Guarantee | None = None,
        accuracy: Accuracy = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        left_out: WantedRest | None = None,
    ) -> Preview | Any:
        """Expected error of each column, and the price; touches no data and costs nothing.

        With an ``accuracy``, the price that it would have. With a workload and a ``mechanism``,
        the expected error of a :meth:`synopsis`.
        """
        if mechanism is not None:
            body = {**synopsis_to_json(text, mechanism, spend), **self._paying(None)}
            return synopsis_preview_of(self._asking.free("previews", body)["result"], self.unit)
        body = {
            **sql_to_json(
                text,
                spend=spend,
                accuracy=accuracy,
                confidence=confidence,
                rows_at_least=rows_at_least,
                at_most=at_most,
                left_out=left_out,
            ),
            **self._paying(None),
        }
        return preview_of(self._asking.free("previews", body)["result"], self.unit)

    def close(self) -> None:
        """Nothing is held open; here so that code moves between curators."""

    def __enter__(self) -> RemoteCurator:
        """Use it in a ``with`` block, as a curator."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Where, and who; never the token."""
        return f"RemoteCurator({str(self._asking.transport.address)!r}, {self.name!r})"

    def _account(self) -> RemoteAccount:
        return chosen(self.accounts(), purpose=self.purpose, account=self.account)

    def _paying(self, purpose: str | None) -> dict[str, Any]:
        return drop_none_values(
            purpose=self.purpose if purpose is None else purpose,
            account=self.account,
        )

    def _require_own(self, analyst: str | None) -> None:
        if analyst not in (None, self.name):
            raise InvalidParameter(
                code="analyst_by_token",
                expectation=f"the name that the token stands for: {self.name}",
                received=analyst if isinstance(analyst, str) else type(analyst).__name__,
                remedy="Leave analyst= out, or connect with the token of that analyst.",
            )


def _name(id: object) -> str:
    """An id of the service as a part of an address; what is none is as unknown as any other."""
    text = id if isinstance(id, str) else type(id).__name__
    return "".join(sign for sign in text if sign.isascii() and sign.isalnum())[:64] or "none"
