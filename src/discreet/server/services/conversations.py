"""Conversations of one's own, once they are open: asking, looking at the estimate, closing."""

from __future__ import annotations

from discreet.server.jobs.conversation import (
    ConversationCloseRequest,
    ConversationEstimateRequest,
    ConversationQuestionsRequest,
)
from discreet.server.jobs.universe import Conditions
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.services.job_view import JobView
from discreet.server.services.questions import Questions
from discreet.server.state import conversations
from discreet.server.state.conversations import OpenConversation
from discreet.server.state.jobs import JobPhase
from discreet.server.state.pagination import Cursor
from discreet.server.state.people import Member


class Conversations:
    """What one opened; ``POST /questions`` with kind ``conversation`` opens."""

    def __init__(self, runtime: Runtime, questions: Questions) -> None:
        """Speak with nobody yet."""
        self._state = runtime.state
        self._questions = questions

    async def list_conversations(
        self, person: Member, *, before: Cursor, count: int
    ) -> list[OpenConversation]:
        """One's own, the latest first."""
        require(person.role, Action.ASK)
        return await self._state.read(
            conversations.list_conversations, person=person.id, before=before, count=count
        )

    async def ask(
        self, person: Member, key: str, where: list[Conditions], *, idempotency_key: str | None
    ) -> JobView:
        """Ask how many records meet conditions."""
        found = await self._own(person, key)
        request = ConversationQuestionsRequest(
            conversation=key, where=where, account=found.grant_id
        )
        return await self._questions.ask(
            person, request, kind="conversation_questions", key=idempotency_key
        )

    async def estimate(
        self,
        person: Member,
        key: str,
        *,
        by: list[str] | None = None,
        where: list[Conditions] | None = None,
    ) -> JobView:
        """The estimate as it stands; free."""
        found = await self._own(person, key)
        request = ConversationEstimateRequest(
            conversation=key, by=by, where=where, account=found.grant_id
        )
        return await self._questions.ask(person, request, kind="conversation_estimate")

    async def close(self, person: Member, key: str) -> JobView:
        """End it for good."""
        found = await self._own(person, key)
        request = ConversationCloseRequest(conversation=key, account=found.grant_id)
        view = await self._questions.ask(person, request, kind="conversation_close")
        if view.phase is JobPhase.FINISHED:
            await self._state.write(conversations.close, key=key)
        return view

    async def read_conversation(self, person: Member, key: str) -> OpenConversation:
        """One of one's own."""
        return await self._own(person, key)

    async def _own(self, person: Member, key: str) -> OpenConversation:
        require(person.role, Action.ASK)
        return await self._state.read(conversations.require, person=person.id, key=key)
