"""What people at a shell are told when something is refused: commands, never an agent's calls."""

import re
from pathlib import Path

import pytest

from letagents.domain.accounts import NotYourAgent
from letagents.domain.errors import LetAgentsError, NotAvailable, NotSignedIn
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.main import main
from letagents.entrypoints.mcp.tools.catalogue import TOOLS

ROOM = "our workshop"
WRONG = [
    ("why", ROOM, "task_999"),
    ("why", ROOM, "nope"),
    ("answer", ROOM, "request_99", "yes"),
    ("answer", ROOM, "request_99", ""),
    ("memory", ROOM, "--archive", "record_99"),
    ("memory", ROOM, "--history", "nope"),
    ("memory", ROOM, "--revise", "record_99", "--title", "Tabs"),
    ("memory", ROOM, "--title", "Tabs"),
    ("memory", ROOM, "--archive", "record_99", "--body", "Tabs"),
    ("approve", ROOM, "intent_9"),
    ("deny", ROOM, "intent_9"),
    ("deny", ROOM, " "),
    ("send", ROOM, " "),
    ("send", ROOM, "hi", "--reply-to", "msg_99"),
    ("send", ROOM, "hi", "--thread", "msg_99"),
    ("search", ROOM, "hi", "--thread", "msg_99"),
    ("search", ROOM, "hi", "--author", " "),
    ("search", ROOM, "hi", "--since", "soon"),
    ("search", ROOM, "!!!"),
    ("receipts", ROOM, "msg_99"),
    ("guidelines", ROOM, "--set", "/nowhere/at/all"),
    ("board", "another workshop"),
    ("task", "add", ROOM, " "),
    ("task", "add", ROOM, "x", "--source", "msg_99"),
    ("task", "accept", ROOM, "nope"),
    ("task", "accept", ROOM, "task_99"),
    ("task", "done", ROOM, "task_1"),
    ("task", "accept", ROOM, "task_1"),
    ("task", "release", ROOM, "task_1"),
    ("task", "release", "--review", ROOM, "task_1"),
    ("task", "assign", ROOM, "task_1", "Ada"),
    ("task", "assign", "--review", ROOM, "task_1", "Ada"),
    ("lock", ROOM, "nope"),
    ("lock", ROOM, "task_99"),
    ("lock", ROOM, "task_1", "--reason", "x" * 2_001),
    ("unlock", ROOM, "task_1"),
    ("unlock", ROOM, "--board"),
    ("manager", ROOM, "Ada"),
    ("manager", ROOM, "--reason", "lunch"),
    ("tail", "ABCD-EFGH-JKLM"),
]
CALL = re.compile(rf"\b({'|'.join(tool.name for tool in TOOLS)})\b")
PARAMETERS = {one.name for tool in TOOLS for one in tool.parameters if "_" in one.name}
PARAMETER = re.compile(rf"\b({'|'.join(sorted(PARAMETERS))})\b")


@pytest.fixture(autouse=True)
def a_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETAGENTS_HOME", str(tmp_path / "home"))
    main(["send", "--create", ROOM, "Hello"])
    main(["task", "add", ROOM, "Mend the roof"])


@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(words)[:60])
def test_a_person_is_told_what_to_do_at_a_shell(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    assert main(words) == 1

    said = capsys.readouterr().err
    assert len(said.splitlines()) == 2
    assert not CALL.search(said), said
    assert not PARAMETER.search(said), said
    assert "ROOM" not in said
    if "letagents tail" in said or "letagents board" in said:
        assert "'our workshop'" in said


@pytest.mark.parametrize("code", [NotSignedIn, NotYourAgent, NotAvailable, LetAgentsError])
def test_no_call_of_agents_is_named_where_a_server_or_a_supervisor_refuses(
    code: type[LetAgentsError], capsys: pytest.CaptureFixture[str]
) -> None:
    for tool in TOOLS:
        error = code("It is refused.", remedy=f"Do this: call {tool.name}(force=true).")
        printing.complain(error, ROOM)

        said = capsys.readouterr().err
        assert not CALL.search(said), said
        assert len(said.splitlines()) == 2
        assert len(said.splitlines()[1]) > 20


def test_what_names_the_room_names_this_one(capsys: pytest.CaptureFixture[str]) -> None:
    main(["why", ROOM, "nope"])
    assert "`letagents board 'our workshop' --all`" in capsys.readouterr().err
    main(["send", ROOM, " "])
    happened, remedy = capsys.readouterr().err.splitlines()[-2:]
    assert (happened, remedy.strip()) == (
        "letagents: TEXT: it is blank.",
        "Pass TEXT with something in it.",
    )


def test_a_focus_room_that_is_not_there_is_not_looked_for_beside_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tail", "focus_9", "--once"]) == 1

    said = capsys.readouterr().err
    assert "There is no focus room focus_9 here." in said
    assert "focus list focus_9" not in said
    assert "`letagents rooms`" in said
