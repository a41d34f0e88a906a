"""Claimed paths as models see them, through the tools."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.e2e.chats import ERAS, Chat, House, living_in

from letagents.domain.bounds import RESULT_LIMIT
from letagents.wire.bounds import size

pytestmark = pytest.mark.anyio


@pytest.fixture(params=ERAS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path / "home", request.param) as house:
        yield house


@pytest.fixture
def checkout(tmp_path: Path) -> str:
    folder = tmp_path / "checkout"
    for words in (["init", "-q", str(folder)], ["-C", str(folder), "remote", "add", "origin",
                  "https://ada:secret-word@example.com/o/r.git"]):  # fmt: skip
        subprocess.run(["git", *words], check=True, timeout=20)
    return str(folder)


async def at_work(house: House, key: str, title: str) -> tuple[Chat, dict[str, str], str]:
    """Return a chat, what it shows of its worker, and a task that the worker holds."""
    chat = await house.chat("claude-code")
    await chat.call("join_room", name="workshop")
    told = await chat.call("register_agent_session", registration_key=key, room_id="workshop")
    shows = {"worker_id": str(told["worker_id"])}
    task_id = str((await chat.call("add_task", title=title, **shows))["task"]["id"])
    await chat.call("update_task", task_id=task_id, status="accepted", **shows)
    await chat.call("claim_task", task_id=task_id, **shows)
    return chat, shows, task_id


async def test_paths_are_claimed_shown_refused_to_others_and_released(
    house: House, checkout: str
) -> None:
    ada, as_ada, hers = await at_work(house, "ada", "Mend the roof")
    bob, as_bob, his = await at_work(house, "bob", "Paint the door")
    claimed = await ada.call(
        "claim_paths", task_id=hers, patterns=["src/", "*.md"], cwd=checkout, **as_ada
    )
    refused = await bob.refused(
        "claim_paths", task_id=his, patterns=["docs", "src/app.py"], cwd=checkout, **as_bob
    )
    not_his = await bob.refused(
        "claim_paths", task_id=hers, patterns=["docs"], cwd=checkout, **as_bob
    )
    listed = await bob.call("list_path_claims", path="src/app.py", **as_bob)
    elsewhere = await bob.call("list_path_claims", path="lib/app.py", **as_bob)
    released = await ada.call("release_paths", task_id=hers, **as_ada)
    now = await bob.call(
        "claim_paths", task_id=his, patterns=["src/app.py"], cwd=checkout, mode="shared", **as_bob
    )

    claim = claimed["claim"]
    assert (claim["repository"], claim["patterns"]) == ("example.com/o/r", ["src", "*.md"])
    assert "secret-word" not in str(claimed)
    assert "paths_held" in refused
    assert all(word in refused for word in (claim["holder"], hers, "paths_lease_1", "'src'"))
    assert "coordination_wrong_actor" in not_his
    assert listed["claims"] == [claim | {"is_held": True}]
    assert (elsewhere["claims"], released["released"]) == ([], ["paths_lease_1"])
    assert (now["claim"]["mode"], now["claim"]["epoch"]) == ("shared", 1)


async def test_what_is_wrong_with_a_call_is_said_and_nothing_is_kept(
    house: House, checkout: str
) -> None:
    ada, as_ada, hers = await at_work(house, "ada", "Mend the roof")
    wrongs: list[tuple[dict[str, object], str]] = [
        ({"patterns": ["../x"]}, "patterns: '../x' is no pattern"),
        ({"patterns": []}, "patterns"),
        ({"patterns": ["x"], "mode": "loud"}, "mode"),
        ({"patterns": ["x"], "epoch": 9}, "epoch 9"),
        ({"patterns": ["x"], "task_id": "tusk"}, "task_id: 'tusk'"),
        ({"patterns": ["x"], "cwd": "/nowhere"}, "cwd: there is no git checkout"),
        ({"patterns": ["x"], "repository": "github.com/o/r"}, "repository: cwd was passed too"),
        ({"patterns": ["x"], "cwd": None, "repository": "here"}, "repository: this names no"),
    ]
    for wrong, said in wrongs:
        call: dict[str, object] = {"task_id": hers, "cwd": checkout, **as_ada, **wrong}
        assert said in await ada.refused("claim_paths", **call), wrong
    others: list[tuple[str, dict[str, str], str]] = [
        ("release_paths", {"task_id": hers, "claim_id": "x"}, "claim_id: 'x'"),
        ("release_paths", {"task_id": hers, "claim_id": "paths_lease_9"}, "no open claim"),
        ("list_path_claims", {"after": "x"}, "after: 'x'"),
        ("list_path_claims", {"path": "/etc/passwd"}, "path: "),
    ]
    for tool, arguments, said in others:
        assert said in await ada.refused(tool, **arguments, **as_ada), tool

    assert (await ada.call("list_path_claims", **as_ada))["claims"] == []


async def test_a_long_list_comes_in_pages(house: House, checkout: str) -> None:
    ada, as_ada, hers = await at_work(house, "ada", "Mend the roof")
    for number in range(6):
        long = [f"{number:02d}/{at:02d}/{'x' * 440}" for at in range(32)]
        await ada.call("claim_paths", task_id=hers, patterns=long, cwd=checkout, **as_ada)
    found: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = await ada.call("list_path_claims", **after, **as_ada)
        assert size(page) <= RESULT_LIMIT
        found += [claim["claim_id"] for claim in page["claims"]]
        if not page.get("has_more"):
            break
        after = {"after": page["next_after"]}

    assert found == [f"paths_lease_{number}" for number in range(1, 7)]
