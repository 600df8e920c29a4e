"""Going on with an interactive session by its id, whatever kind it is; the ledger says which.

Nothing is charged, and nothing is drawn again. Whoever had it open before can no longer use it.

Source: contract, "Spending" (noise that outlives a call).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.curator.context import Context
from discreet.curator.interactive.sessions import SessionKind, paid_session
from discreet.curator.purchase import Reservation

if TYPE_CHECKING:
    from discreet.curator.interactive.conversation import Conversation
    from discreet.curator.interactive.sparse_vector import SparseVectorSession
    from discreet.curator.rounds.round import Round
    from discreet.streams.live.live_stream import LiveStream


def resume(
    context: Context, name: str, *, analyst: str, **stream: Any
) -> SparseVectorSession | Conversation | Round | LiveStream:
    """The session that this analyst paid for from here, where it was.

    ``stream`` is what a stream needs again: its source, and a clock, patience or place of its own.
    """
    context.require_open()
    kind, paid = paid_session(context.account, name, analyst=analyst)
    reservation = Reservation(context, name)
    if kind is SessionKind.STREAM:
        from discreet.curator.streams.open_stream import resume_stream

        return resume_stream(reservation, paid, **stream)
    if stream:
        raise InvalidParameter(
            code="not_a_stream",
            expectation="a source, clock, patience or state for a stream alone",
            received=sorted(stream),
            remedy="Leave them out: what is resumed here is no stream.",
        )
    if kind is SessionKind.SPARSE_VECTOR:
        from discreet.curator.interactive.sparse_vector import resume_sparse_vector

        return resume_sparse_vector(reservation, paid)
    if kind is SessionKind.CONVERSATION:
        from discreet.curator.interactive.open_conversation import resume_conversation

        return resume_conversation(reservation, paid)
    from discreet.curator.rounds.resume import resume_round

    return resume_round(reservation, paid)
