"""Oneself, people, tokens, grants and approvals."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from discreet.server.api.authentication import (
    Approver,
    Asker,
    BudgetReader,
    Entered,
    Granter,
    PeopleKeeper,
    TheService,
)
from discreet.server.api.pagination import Body, Listing, ThePage
from discreet.server.jobs.batch import required
from discreet.server.jobs.models import Finite
from discreet.server.rights import Action, PersonRole, may
from discreet.server.spends import spend_of, spend_to_dict
from discreet.server.state.approvals import Approval
from discreet.server.state.grants import Grant
from discreet.server.state.people import Member
from discreet.server.state.tokens import TokenEntry

router = APIRouter(tags=["people"])


class NewPerson(Body):
    """Somebody to be added."""

    name: str = Field(max_length=64)
    role: PersonRole
    email: str | None = Field(default=None, max_length=255)
    subject: str | None = Field(default=None, max_length=255)


class NewTokenBody(Body):
    """A token to be made; one that it ``replaces`` goes on for ``overlap`` seconds."""

    label: str = Field(max_length=100)
    days: int = 90
    replaces: str | None = None
    overlap: int = 0


class NewGrant(Body):
    """A budget to be set aside, for ever."""

    name: str = Field(max_length=64)
    purpose: str = Field(max_length=200)
    epsilon: Finite | None = None
    delta: Finite | None = None
    rho: Finite | None = None


class Decision(Body):
    """Why it was agreed to, or not."""

    reason: str = Field(default="", max_length=1000)


@router.get("/me")
async def me(service: TheService, person: Entered) -> dict[str, Any]:
    """Who one is, and what one may do."""
    return {**_person(person), "may": [each.value for each in Action if may(person.role, each)]}


@router.get("/account")
async def account(service: TheService, person: Asker) -> dict[str, Any]:
    """One's own budgets: what is spent, and what is left."""
    return await service.accounts.own(person)


@router.get("/tokens")
async def tokens(service: TheService, person: Entered) -> Listing:
    """One's own valid tokens; not the tokens themselves."""
    found = await service.people.tokens(person)
    return Listing(items=[_token(each) for each in found], next=None)


@router.post("/tokens", status_code=201)
async def new_token(service: TheService, person: Entered, body: NewTokenBody) -> dict[str, Any]:
    """A token of one's own, the only time that it is seen."""
    made = await service.people.new_token(
        person, label=body.label, days=body.days, replaces=body.replaces, overlap=body.overlap
    )
    return {**_token(made.entry), "token": made.token}


@router.delete("/tokens/{key}", status_code=204)
async def revoke(service: TheService, person: Entered, key: str) -> Response:
    """End a token of one's own."""
    await service.people.revoke(person, key)
    return Response(status_code=204)


@router.get("/people")
async def people(service: TheService, person: BudgetReader, page: ThePage) -> Listing:
    """Everybody, in the order of names."""
    found = await service.people.list_people(person, after=page.after or "", count=page.count)
    return page.by_name(found, lambda each: each.name, _person)


@router.post("/people", status_code=201)
async def add(service: TheService, person: PeopleKeeper, body: NewPerson) -> dict[str, Any]:
    """Add somebody, with a one-time link by which they choose a password."""
    made = await service.people.add(
        person, name=body.name, role=body.role, email=body.email, subject=body.subject
    )
    return {**_person(made), "link": await service.people.new_link(person, made.name)}


@router.post("/people/{name}/link", status_code=201)
async def link(service: TheService, person: PeopleKeeper, name: str) -> dict[str, Any]:
    """A new one-time link for somebody; an earlier one ends."""
    return {"link": await service.people.new_link(person, name)}


@router.post("/people/{name}/disable")
async def disable(service: TheService, person: PeopleKeeper, name: str) -> dict[str, Any]:
    """Let nobody in under this name any more."""
    return _person(await service.people.disable(person, name))


@router.get("/people/{name}/tokens")
async def tokens_of(service: TheService, person: PeopleKeeper, name: str) -> Listing:
    """Somebody's valid tokens; not the tokens themselves."""
    found = await service.people.tokens_of(person, name)
    return Listing(items=[_token(each) for each in found], next=None)


@router.delete("/people/{name}/tokens")
async def end_tokens(service: TheService, person: PeopleKeeper, name: str) -> dict[str, Any]:
    """End all tokens of somebody; their password stays."""
    return {"ended": await service.people.end_tokens(person, name)}


@router.delete("/people/{name}/tokens/{key}")
async def end_token(
    service: TheService, person: PeopleKeeper, name: str, key: str
) -> dict[str, Any]:
    """End one token of somebody."""
    return {"ended": await service.people.end_tokens(person, name, key)}


@router.get("/grants")
async def grants(service: TheService, person: BudgetReader, page: ThePage) -> Listing:
    """Everybody's grants, in no order that tells anything."""
    found = await service.ledger.grants(person, after=page.after or "", count=page.count)
    return page.by_name(found, lambda each: each.account, _grant)


@router.post("/grants", status_code=201)
async def grant(service: TheService, person: Granter, body: NewGrant) -> dict[str, Any]:
    """Set a budget aside for somebody and a purpose, out of the whole budget."""
    budget = required(spend_of(epsilon=body.epsilon, delta=body.delta, rho=body.rho))
    made = await service.budgets.grant(person, name=body.name, purpose=body.purpose, budget=budget)
    return _grant(made)


@router.get("/approvals")
async def approvals(service: TheService, person: Approver, page: ThePage) -> Listing:
    """Questions that wait for a decision."""
    found = await service.approvals.waiting(person, after=page.after or "", count=page.count)
    return page.by_name(found, lambda each: each.id, _approval)


@router.post("/approvals/{key}/agree")
async def agree(service: TheService, person: Approver, key: str, body: Decision) -> dict[str, Any]:
    """Let a question be asked, at once."""
    return _approval(await service.approvals.agree(person, key, reason=body.reason))


@router.post("/approvals/{key}/decline")
async def decline(
    service: TheService, person: Approver, key: str, body: Decision
) -> dict[str, Any]:
    """Let a question not be asked."""
    return _approval(await service.approvals.decline(person, key, reason=body.reason))


def _person(member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "role": member.role.value,
        "email": member.email,
        "has_password": member.has_password,
        "created_at": member.created_at,
        "disabled_at": member.disabled_at,
    }


def _token(entry: TokenEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "label": entry.label,
        "created_at": entry.created_at,
        "expires_at": entry.expires_at,
    }


def _grant(grant: Grant) -> dict[str, Any]:
    return {
        "account": grant.account,
        "person": grant.person,
        "purpose": grant.purpose,
        "budget": spend_to_dict(grant.budget),
        "made_at": grant.made_at,
        "set_aside_at": grant.set_aside_at,
    }


def _approval(found: Approval) -> dict[str, Any]:
    return {
        "approval": found.id,
        "name": found.name,
        "kind": found.kind,
        "request": json.loads(found.request),
        "price": json.loads(found.price),
        "asked_at": found.asked_at,
        "verdict": found.verdict,
        "reason": found.reason,
    }
