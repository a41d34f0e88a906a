"""A person sees whom their words have reached."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.e2e.chats import ERAS, House, living_in
from tests.e2e.shell import run

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, ERAS[0]) as house:
        yield house


async def test_a_person_sees_whom_a_message_woke_and_that_it_was_seen(
    house: House, tmp_path: Path
) -> None:
    chat = await house.chat("claude-code")
    await chat.call("join_room", name="workshop")
    oak = await chat.call(
        "register_agent_session", registration_key="k", room_id="workshop", display_name="Oak"
    )
    sent = run(tmp_path, "send", "workshop", "@Oak look at the roof")
    await chat.call("read_messages", worker_id=oak["worker_id"], room_id="workshop")
    await chat.call("send_message", worker_id=oak["worker_id"], text="on it", room_id="workshop")
    shown = run(tmp_path, "receipts", "workshop", "msg_1")
    told = run(tmp_path, "receipts", "workshop", "msg_1", "--json")

    assert sent.returncode == 0
    assert "acknowledged Oak" in shown.stdout
    assert "has spoken since (explicit mention)" in shown.stdout
    assert json.loads(told.stdout)["receipt_state"] == "acknowledged"
