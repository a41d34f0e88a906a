"""The OpenAPI document says of each route what it is asked and answers, and of no other."""

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.contract.documented import whole
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.entrypoints.server.app import ROUTES
from letagents.entrypoints.server.document.operations import OPERATIONS
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

NAMED = Path(__file__).with_name("interface_routes.txt")
WHY = Path(__file__).parents[2] / "docs" / "compatibility.md"


def test_no_route_is_without_its_entry_and_no_entry_without_its_route() -> None:
    served = {(method, path) for method, path, _ in ROUTES}

    assert served - OPERATIONS.keys() == set()
    assert OPERATIONS.keys() - served == set()
    assert len(served) == len(ROUTES)


def in_short(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path.replace("/rooms/{room_id:path}", "~"))


def test_each_route_that_the_interface_names_is_there_or_it_is_said_why_not() -> None:
    lines = [one for one in NAMED.read_text("utf-8").splitlines() if not one.startswith("#")]
    absent = {one.removeprefix("- ") for one in lines if one.startswith("- ")}
    served, why = (
        {f"{method} {in_short(path)}" for method, path, _ in ROUTES},
        WHY.read_text("utf-8"),
    )

    assert set(lines) - {f"- {one}" for one in absent} - served == set()
    assert absent & served == set()
    assert {one for one in absent if one.rpartition("/")[2] not in why} == set()


def test_all_that_is_referred_to_is_there() -> None:
    named = set(re.findall(r"#/components/schemas/(\w+)", str(whole())))

    assert named == whole()["components"]["schemas"].keys()


def test_each_operation_has_a_name_of_its_own() -> None:
    names = Counter(
        one["operationId"] for path in whole()["paths"].values() for one in path.values()
    )

    assert {name for name, many in names.items() if many > 1} == set()


async def test_the_server_shows_the_document_to_who_is_signed_in() -> None:
    clock = ManualClock()
    async with client(hosting(MemoryRooms(CountingIds(), clock), clock)) as http:
        nobody = await http.get("/openapi.json")
        shown = await http.get("/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"})

    assert nobody.status_code == 401
    assert shown.json()["openapi"] == "3.1.0"
    assert shown.json()["paths"].keys() == whole()["paths"].keys()
