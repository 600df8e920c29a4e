"""Conversations: opened and paid for once, then asked about counts, one by one or many at a time.

A worker keeps the conversation that it speaks for; another one, at another replica, takes it up
from the ledger. Nothing is charged or drawn twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from discreet.core.errors import DiscreetError
from discreet.curator.interactive.conversation import Conversation
from discreet.curator.synopsis.stored_form import synopsis_to_json
from discreet.release.reply import Reply
from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Paid, Task
from discreet.server.jobs.models import Finite, PricedRequest
from discreet.server.jobs.synopsis import answered
from discreet.server.jobs.universe import Conditions, WantedUniverse, conditions_for, tables_of
from discreet.server.spends import spend_to_dict

Result = TypeVar("Result")
_RESUMED = ("conversation_taken", "conversation_interrupted")


class ConversationRequest(PricedRequest):
    """Open one, about a universe."""

    kind: Literal["conversation"] = "conversation"
    universe: WantedUniverse
    questions: Annotated[int, Field(ge=1, le=10**9)] = 1000
    about: Annotated[int, Field(ge=1, le=10**12)] | None = None
    updates: Annotated[int, Field(ge=1, le=10**6)] | None = None
    confidence: Finite = 0.95


class ConversationKind(JobKind[ConversationRequest]):
    """Answers with the id of what was opened."""

    name = "conversation"
    request = ConversationRequest

    def tables(self, task: Task, request: ConversationRequest) -> Collection[str]:
        return tables_of(task, request.universe)

    def run(self, task: Task, request: ConversationRequest) -> JobProduct:
        from discreet.queries import private_gap_weights

        spend = required(request.spend())
        universe = request.universe.build_universe(task.session)
        task.require_agreed(spend)
        given: dict[str, Any] = {"about": request.about, "updates": request.updates}
        talk = task.session.converse(
            universe,
            mechanism=partial(
                private_gap_weights, **{k: v for k, v in given.items() if v is not None}
            ),
            spend=spend,
            questions=request.questions,
            confidence=request.confidence,
            analyst=task.analyst,
            purpose=task.purpose,
        )
        task.kept[_name(talk.id)] = talk
        return JobProduct(
            result={
                "conversation": talk.id,
                "attributes": list(universe.names),
                "left": talk.updates_left,
                "records": talk.records,
                "guarantee": spend_to_dict(talk.guarantee),
            },
            question=f"conversation about {' x '.join(universe.names)}",
            opened=talk.id,
        )


class ConversationQuestionsRequest(Paid):
    """Questions to a conversation: conditions that records must meet."""

    conversation: str
    where: Annotated[list[Conditions], Field(min_length=1, max_length=5000)]


class ConversationQuestionsKind(JobKind[ConversationQuestionsRequest]):
    """Answers with a count for each question."""

    name = "conversation_questions"
    request = ConversationQuestionsRequest

    def run(self, task: Task, request: ConversationQuestionsRequest) -> JobProduct:
        def ask_questions(talk: Conversation) -> list[Reply]:
            every = [conditions_for(talk.universe, each) for each in request.where]
            return talk.ask_all(every)

        replies = with_conversation(task, request.conversation, ask_questions)
        return JobProduct(
            result={"replies": [_plain(reply) for reply in replies]},
            question=f"{len(replies)} questions to a conversation",
        )


class ConversationEstimateRequest(Paid):
    """The estimate of a conversation as it stands: counts by attributes, or by conditions.

    Without either, all of it, and how far the conversation is.
    """

    conversation: str
    by: list[str] | None = None
    where: Annotated[list[Conditions], Field(max_length=5000)] | None = None


class ConversationEstimateKind(JobKind[ConversationEstimateRequest]):
    """Free: what is computed from the estimate was paid for."""

    name = "conversation_estimate"
    request = ConversationEstimateRequest
    kept = False

    def run(self, task: Task, request: ConversationEstimateRequest) -> JobProduct:
        if request.by is None and request.where is None:
            return JobProduct(result=with_conversation(task, request.conversation, _whole))
        made = with_conversation(task, request.conversation, lambda talk: talk.synopsis)
        return JobProduct(result=answered(made, request.by, request.where))


class ConversationCloseRequest(Paid):
    """End a conversation for good."""

    conversation: str


class ConversationCloseKind(JobKind[ConversationCloseRequest]):
    """It cannot be resumed."""

    name = "conversation_close"
    request = ConversationCloseRequest

    def run(self, task: Task, request: ConversationCloseRequest) -> JobProduct:
        with_conversation(task, request.conversation, Conversation.close)
        task.kept.pop(_name(request.conversation), None)
        return JobProduct(result={"closed": True}, question="end of a conversation")


def with_conversation(task: Task, key: str, act: Callable[[Conversation], Result]) -> Result:
    """Do something with a conversation; taken up again where another worker had it meanwhile."""
    task.touches_data()
    try:
        return act(_resumed(task, key))
    except DiscreetError as refusal:
        if refusal.code not in _RESUMED:
            raise
    task.kept.pop(_name(key), None)
    return act(_resumed(task, key))


def _resumed(task: Task, key: str) -> Conversation:
    name = _name(key)
    if name not in task.kept:
        task.kept[name] = task.session.resume(key, analyst=task.analyst)
    found: Conversation = task.kept[name]
    return found


def _name(key: str) -> str:
    return f"conversation {key}"


def _whole(talk: Conversation) -> dict[str, Any]:
    return {
        "synopsis": json.loads(synopsis_to_json(talk.synopsis)),
        "asked": talk.questions_asked,
        "left": talk.updates_left,
        "records": talk.records,
    }


def _plain(reply: Reply) -> dict[str, Any]:
    return {
        "count": reply.count,
        "share": reply.share,
        "within": reply.within,
        "confidence": reply.confidence,
        "origin": reply.origin.value,
        "left": reply.left,
        "number": reply.number,
    }
