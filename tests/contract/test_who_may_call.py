"""Who may use which route: each caller calls each, and is answered as the table says.

The table is `who_may_call.txt`. A call that is refused leaves everything as it was.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest
from tests.contract.callers import CALLERS, CYDS, World, world

from letagents.entrypoints.server.app import ROUTES

pytestmark = pytest.mark.anyio

TABLE = Path(__file__).with_name("who_may_call.txt")
ROOM = "/rooms/{room_id:path}"
SERVED = sorted({(method, path) for method, path, _ in ROUTES}, key=lambda one: one[::-1])

MISSING = f"""
No row of {TABLE.name} says who may call these routes. If each status below is what that caller is
to get (nobody reads or writes where they do not belong), put the rows into the table; if it is not,
mend the route. Where all are answered 400 or 404, tests/contract/callers.py has to know what the
route wants: GOOD and ASKED say it of bodies, `named` of paths.
"""
OTHERS = f"These rows of {TABLE.name} are answered otherwise; each line is what is answered now."

Row = dict[str, int]


def in_short(method: str, path: str) -> str:
    return f"{method} {path.replace(ROOM, '~')}"


def in_a_room(route: str) -> bool:
    return "~" in route or "/projects/" in route


def row(route: str, statuses: Row) -> str:
    """Return a row of the table."""
    shown = [str(statuses[who]).ljust(len(who)) for who in CALLERS]
    return f"{route:<55} {' '.join(shown)}".rstrip()


def table() -> dict[str, Row]:
    """Return what the table says."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.strip()]
    header, *rows = (line.split() for line in lines if not line.startswith("#"))
    assert header == ["route", *CALLERS]
    return {
        f"{method} {path}": dict(zip(CALLERS, map(int, statuses), strict=True))
        for method, path, *statuses in rows
    }


@pytest.fixture
async def served() -> AsyncIterator[World]:
    async with world() as made:
        yield made


async def walked(served: World, method: str, path: str) -> tuple[Row, list[str]]:
    """Let everybody call a route; return their statuses, and who left something behind."""
    statuses, left = {}, []
    for who, shown in served.callers.items():
        answer = await served.call(method, path, shown)
        statuses[who] = answer.status_code
        if served.is_as_it_was:
            continue
        if answer.status_code >= 400:
            left.append(f"{who} by {in_short(method, path)} {answer.status_code}")
        served.restore()
    return statuses, left


async def test_everybody_gets_from_each_route_what_the_table_says(served: World) -> None:
    told, missing, others, left = table(), [], [], []
    assert list(served.callers) == list(CALLERS)
    for method, path in SERVED:
        route = in_short(method, path)
        statuses, stored = await walked(served, method, path)
        left += stored
        if route not in told:
            missing.append(row(route, statuses))
        elif told[route] != statuses:
            others.append(row(route, statuses))

    assert not missing, "\n".join([MISSING, *missing])
    assert not others, "\n".join([OTHERS, *others])
    assert not left, "\n".join(["a call that was refused has changed what is kept:", *left])


def test_the_table_has_no_row_for_a_route_that_is_not_there() -> None:
    assert table().keys() - {in_short(*one) for one in SERVED} == set()


@pytest.mark.parametrize("who", ["nobody", "unknown", "bearer", "signedout", "lured"])
def test_who_has_no_account_gets_nothing_from_any_room(who: str) -> None:
    let_in = [route for route, row in table().items() if in_a_room(route) and row[who] != 401]

    assert let_in == []


@pytest.mark.parametrize(
    "who", ["thief", "abroad", "elsewhere", "ended", "replaced", "half", "stranger"]
)
def test_who_has_no_session_there_and_has_not_entered_gets_nothing_from_a_room(who: str) -> None:
    let_in = [
        route
        for route, row in table().items()
        if in_a_room(route) and route not in BY_THE_ACCOUNT and row[who] not in (401, 403, 404, 410)
    ]

    assert let_in == []


BY_THE_ACCOUNT = {
    "POST ~/join",
    "POST ~/agent-sessions",
    "GET /projects/join/{code}",
    "POST /projects/room/{name:path}",
    "GET /projects/{room_id:path}/access",
}
"""What an account does before it has a session."""


async def test_an_ended_session_is_told_that_it_ended_and_to_its_own_account_alone(
    served: World,
) -> None:
    ended = served.callers["ended"]
    own = await served.call("POST", f"{ROOM}/tasks", ended)
    others = await served.call("POST", f"{ROOM}/tasks", attrs.evolve(ended, token=CYDS))

    assert own.json()["error"].startswith("This agent session has ended.")
    assert others.json()["error"] == "Invalid agent session credentials."
