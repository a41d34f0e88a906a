"""Browsers: signed in by a link that works once, and signed out. (Source: hosted-api 2.1, 3.1.)"""

import html

from starlette.responses import HTMLResponse, RedirectResponse, Response

from letagents.domain.accounts import SESSION_LASTS
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import SESSION_COOKIE, Call, cookie

_QUIET = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


async def sign_in(call: Call) -> Response:
    """Let the browser in that brings a code, and take the code out of its address."""
    code = call.asked("code")
    if code is None:
        return _page(_who(call))
    entered = await call.hosting.keeper.let_in(code)
    if entered is None:
        told = "This link was used already, or is too old. Start the server anew for another one."
        return _page(told, 403)
    response = RedirectResponse("/sign-in", 303, headers=_QUIET)
    response.set_cookie(
        SESSION_COOKIE,
        entered[1],
        max_age=int(SESSION_LASTS.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=call.hosting.base_url.startswith("https:"),
    )
    return response


async def logout(call: Call) -> Response:
    """Let the browser out."""
    shown = cookie(call.request)
    if shown is not None:
        await call.hosting.keeper.let_out(shown)
    response = answer({"success": True})
    response.delete_cookie(SESSION_COOKIE)
    return response


def _who(call: Call) -> str:
    account = call.principal.account
    return f"You are signed in as {account.label}." if account else "You are not signed in."


def _page(text: str, status: int = 200) -> HTMLResponse:
    whole = f"<!doctype html><title>letagents</title><p>{html.escape(text)}</p>"
    return HTMLResponse(whole, status, headers=_QUIET)


ROUTES = (
    ("GET", "/sign-in", sign_in),
    ("POST", "/auth/logout", logout),
)
