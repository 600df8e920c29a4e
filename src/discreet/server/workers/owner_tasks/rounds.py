"""Tasks about rounds: opening one, and closing it with everybody's results."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from discreet.core.guarantee import ApproxDP
from discreet.curator.rounds.results import AnalystResults
from discreet.curator.rounds.round import Round
from discreet.curator.synopsis.stored_form import synopsis_to_json
from discreet.queries.analysts import Conjunctions, OneAnalyst, OneQuery
from discreet.server.jobs.batch import required
from discreet.server.jobs.universe import WantedUniverse
from discreet.server.spends import spend_of, spend_to_dict
from discreet.server.workers.owner_tasks.task import OwnerTaskCall


def open_round(call: OwnerTaskCall) -> dict[str, Any]:
    """Plan a round, pay for it, and open it for the analysts who are listed."""
    asked = call.request
    universe = WantedUniverse.model_validate(asked["universe"]).build_universe(call.curator)
    closes = asked.get("closes")
    made = call.curator.round(
        universe,
        analysts=asked["analysts"],
        queries_each=asked["queries_each"],
        spend=required(spend_of(**asked["spend"])),
        protects=OneQuery() if asked["protects"] == "query" else OneAnalyst(),
        promise=ApproxDP(**asked["promise"]),
        asked=None if asked.get("ways") is None else Conjunctions(asked["ways"]),
        closes=None if closes is None else datetime.fromisoformat(closes),
        analyst=call.order.analyst,
        purpose=call.order.purpose or None,
    )
    return {
        "round": made.id,
        "plan": made.plan().explain(),
        "attributes": {each.name: list(map(str, each.values)) for each in universe.attributes},
    }


def close_round(call: OwnerTaskCall) -> dict[str, Any]:
    """Run a round, or read what it left; each analyst's share by name."""
    found: Round = call.curator.resume(call.request["round"], analyst=call.order.analyst)
    results = found.close()
    shares = {name: _share(results.for_analyst(name)) for name in call.request["analysts"]}
    return {"shares": shares}


def _share(results: AnalystResults) -> dict[str, Any]:
    shared = results.synopsis
    return {
        "answers": results.answers.tolist(),
        "corrected": results.corrected.tolist(),
        "exhausted": results.exhausted,
        "guarantee": spend_to_dict(results.guarantee),
        "synopsis": None if shared is None else json.loads(synopsis_to_json(shared)),
        "statement": None if shared is None else str(shared.statement),
    }
