"""Accounts and their agents. (Source: hosted-api 3.1, 3.2.)"""

from typing import Any

from starlette.responses import Response

from letagents.domain import accounts
from letagents.domain.accounts import Account, Agent
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.wire import moments


async def session(call: Call) -> Response:
    """Say who is calling."""
    if call.principal.account is None:
        return answer({"authenticated": False})
    return answer({"authenticated": True, "account": _account(call.account)})


async def register(call: Call) -> Response:
    """Register an agent's name."""
    account = call.account
    name = await call.text("name", required=True)
    agent = await call.hosting.accounts.register_agent(
        account,
        accounts.checked_name(name or ""),
        display_name=await call.text("display_name"),
        owner_label=await call.text("owner_label"),
    )
    return answer(_agent(agent), 201)


async def own(call: Call) -> Response:
    """List the account's agents."""
    account = call.account
    found = await call.hosting.accounts.agents_of(account)
    shown = {"id": account.account_id, "login": account.login, "display_name": account.display_name}
    return answer({"account": shown, "agents": [_agent(one) for one in found]})


def _account(account: Account) -> dict[str, Any]:
    return {
        "id": account.account_id,
        "provider": account.provider,
        "provider_user_id": account.provider_user_id,
        "login": account.login,
        "display_name": account.display_name,
        "avatar_url": account.avatar_url,
    }


def _agent(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.agent_id,
        "canonical_key": agent.key,
        "name": agent.name,
        "display_name": agent.display_name,
        "owner_account_id": agent.owner_id,
        "owner_login": agent.owner_login,
        "owner_label": agent.owner_label,
        "created_at": moments.to_text(agent.created_at),
        "updated_at": moments.to_text(agent.updated_at),
    }


ROUTES = (
    ("GET", "/auth/session", session),
    ("POST", "/agents", register),
    ("GET", "/agents/me", own),
)
