"""Free queries on a synopsis of one's own, or one that was published."""

from __future__ import annotations

import json

from discreet.core.errors import InvalidParameter
from discreet.server.jobs.synopsis import SynopsisTableRequest
from discreet.server.jobs.universe import Conditions
from discreet.server.services.job_view import JobView
from discreet.server.services.questions import Questions
from discreet.server.services.releases import Releases
from discreet.server.state.people import Member


class Synopses:
    """Tables and answers from what was released."""

    def __init__(self, releases: Releases, questions: Questions) -> None:
        """Read nothing yet."""
        self._releases = releases
        self._questions = questions

    async def query(
        self,
        person: Member,
        key: str,
        *,
        by: list[str] | None = None,
        where: list[Conditions] | None = None,
    ) -> JobView:
        """Counts by attributes, or of records that meet conditions."""
        stored = await self._releases.read_release(person, key)
        document = json.loads(stored.document).get("synopsis")
        if not isinstance(document, dict):
            raise InvalidParameter(
                code="not_a_synopsis",
                expectation="a release that is a synopsis",
                received=stored.kind,
                remedy='POST /api/v1/questions with "kind": "synopsis" makes one.',
            )
        request = SynopsisTableRequest(document=document, by=by, where=where)
        return await self._questions.ask(person, request, kind="synopsis_table")
