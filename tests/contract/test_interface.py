"""The OpenAPI document says of each route what it is asked and answers, and of no other."""

import re
from collections import Counter

import pytest
from tests.contract.documented import whole
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.entrypoints.server.app import ROUTES
from letagents.entrypoints.server.document.operations import OPERATIONS
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio


def test_no_route_is_without_its_entry_and_no_entry_without_its_route() -> None:
    served = {(method, path) for method, path, _ in ROUTES}

    assert served - OPERATIONS.keys() == set()
    assert OPERATIONS.keys() - served == set()
    assert len(served) == len(ROUTES)


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
