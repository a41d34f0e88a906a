"""Searching as a model and as a shell do it."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chats import ERAS, Chat, House, Served, living_in
from tests.e2e.shell import run

from letagents.domain.ids import RoomId
from letagents.domain.messages import Draft
from letagents.entrypoints.cli.main import _parsed, _parser, main
from letagents.wire.bounds import size

RESULT_LIMIT = 40_000


@pytest.fixture(params=ERAS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, request.param) as house:
        yield house


@pytest.fixture
async def chat(house: House) -> Chat:
    chat = await house.chat("claude-code")
    await chat.call("join_room", name="workshop")
    return chat


async def say(chat: Chat, *texts: str, **more: object) -> list[str]:
    """Say each of `texts`; return their ids."""
    said = [await chat.call("send_message", text=text, **more) for text in texts]
    return [str(one["id"]) for one in said]


async def hits(chat: Chat, **asked: object) -> list[str]:
    """Return the ids of what is found."""
    return [hit["id"] for hit in (await chat.call("search_messages", **asked))["hits"]]


# --- as a shell, before anything is looked for ---------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--author", "Ada", "lexer"], ["lexer"]),
        (["-n", "5", "the", "lexer"], ["the", "lexer"]),
        (["the", "--json", "lexer", "--since", "2030-01-01", "is"], ["the", "lexer", "is"]),
        (["--json", "--", "-slow", "--json"], ["-slow", "--json"]),
        (["the", "--json", "--", "-slow"], ["the", "-slow"]),
        (["--json", "-5", "-"], ["-5", "-"]),
        (["--", "-slow"], ["-slow"]),
        (["--json"], []),
    ],
)
def test_words_stand_anywhere_among_options(line: list[str], words: list[str]) -> None:
    assert _parsed(_parser(["search"]), ["search", "workshop", *line]).words == words


def test_what_is_no_word_of_a_command_is_not_taken_for_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = ["answer", "workshop", "request_1", "Yes,", "--as", "Grace", "do", "it."]
    assert _parsed(_parser(answer), answer).text == ["Yes,", "do", "it."]
    for line in (
        ["search", "workshop", "--json", "lexer", "--bogus"],
        ["board", "workshop", "--all", "lexer"],
        ["send", "workshop", "hello", "--key", "k", "there"],
        ["guard", "status", "--bogus"],
    ):
        with pytest.raises(SystemExit) as ended:
            _parsed(_parser(line), line)
        assert ended.value.code == 2
        said = capsys.readouterr().err
        command = " ".join(line[: 2 if line[0] == "guard" else 1])
        assert said.startswith(f"usage: letagents {command} ")
        assert f"letagents {command}: error: unrecognized arguments: {line[-1]}" in said


# --- as a model -----------------------------------------------------------------------------------


async def test_a_hit_tells_what_an_agent_needs_to_go_on(chat: Chat) -> None:
    await say(chat, "Who looks at the lexer?")
    await chat.call("send_thread_message", text="I do, now.", thread_parent_id="msg_1")
    found = await chat.call("search_messages", words="now")

    [hit] = found["hits"]
    assert found["room_id"] == "workshop"
    assert hit.keys() == {"id", "sender", "timestamp", "snippet", "thread_root_id"}
    assert (hit["id"], hit["thread_root_id"], hit["snippet"]) == ("msg_2", "msg_1", "I do, now.")
    assert "next_cursor" not in found


async def test_what_is_asked_for_may_be_narrowed_by_author_thread_and_time(chat: Chat) -> None:
    await chat.call("set_agent_name", name="Sage")
    await say(chat, "lexer one", "lexer two")
    await chat.call("set_agent_name", name="Quill")
    await say(chat, "lexer three")
    await say(chat, "lexer four", thread_parent_id="msg_1")
    [newest, *_] = (await chat.call("search_messages", words="lexer"))["hits"]

    assert await hits(chat, words="lexer") == ["msg_4", "msg_3", "msg_2", "msg_1"]
    assert await hits(chat, words="lexer", author="sage") == ["msg_2", "msg_1"]
    assert await hits(chat, author="Quill") == ["msg_4", "msg_3"]
    assert await hits(chat, thread_parent_id="msg_4") == ["msg_4", "msg_1"]
    assert await hits(chat, words="lexer", since=newest["timestamp"])
    assert await hits(chat, words="lexer", since="2999-01-01") == []
    assert await hits(chat, until="2001-01-01T12:00+02:00") == []


async def test_pages_are_followed_by_their_cursor_while_others_speak(chat: Chat) -> None:
    await say(chat, *(f"lexer {at}" for at in range(7)))
    seen: list[str] = []
    asked: dict[str, Any] = {"words": "lexer", "limit": 3}
    more: dict[str, Any] = {}
    for _ in range(3):
        found = await chat.call("search_messages", **asked, **more)
        seen += [hit["id"] for hit in found["hits"]]
        await say(chat, "lexer, again")
        more = {"cursor": found.get("next_cursor")}

    assert seen == [f"msg_{at}" for at in range(7, 0, -1)]


async def test_a_result_is_bounded_and_the_rest_is_had_by_the_cursor(
    house: House, chat: Chat
) -> None:
    await say(chat, "begin")
    [connection] = [chat.visit.client.connections.own(RoomId("workshop"))]
    assert connection is not None
    rooms, ids = house.letagents.rooms, house.letagents.ids
    for at in range(45):
        draft = Draft(f"lexer {at} {'𠀀' * 300}", ids.client_key())
        await rooms.post(RoomId("workshop"), draft, connection.fence)
    seen: list[str] = []
    more: dict[str, Any] = {}
    for _ in range(60):
        found = await chat.call("search_messages", words="lexer", limit=50, **more)
        assert size(found) <= RESULT_LIMIT
        seen += [hit["id"] for hit in found["hits"]]
        if "next_cursor" not in found:
            break
        more = {"cursor": found["next_cursor"]}

    assert seen == [f"msg_{at}" for at in range(46, 1, -1)]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"words": "!!!"}, "words: there is no word in '!!!'"),
        ({"words": " ".join("abcdefghijklmnopq")}, "words: 17 words are too many"),
        ({"words": "x", "since": "yesterday"}, "since: 'yesterday' is not a time"),
        ({"words": "x", "since": "2030-01-02", "until": "2030-01-01"}, "until: it is not after"),
        ({"words": "x", "limit": 51}, "limit: "),
        ({"words": "x", "cursor": "3.000000000000"}, "cursor: "),
        ({"words": "x", "thread_parent_id": "msg_9"}, "thread_parent_id: msg_9 does not exist"),
        ({"words": "x", "room_id": "nowhere"}, "room_id: There is no room nowhere"),
    ],
    ids=str,
)
async def test_what_cannot_be_asked_is_refused_by_the_name_of_its_field(
    chat: Chat, asked: dict[str, object], told: str
) -> None:
    assert told in await chat.refused("search_messages", **asked)


async def test_whoever_was_replaced_finds_nothing_from_there(house: House) -> None:
    first, second = await house.chat(), await house.chat()
    me = {"registration_key": "a key", "room_id": "workshop"}
    await first.call("join_room", name="workshop")
    worker_id = (await first.call("register_agent_session", **me))["worker_id"]
    await say(first, "the lexer", worker_id=worker_id)
    await second.call("register_agent_session", **me)

    assert await hits(second, words="lexer", worker_id=worker_id) == ["msg_1"]
    told = await first.refused("search_messages", words="lexer", worker_id=worker_id)
    assert "register_agent_session" in told


@pytest.mark.parametrize("era", ERAS)
def test_a_process_finds_what_another_process_said(tmp_path: Path, era: str) -> None:
    with Served(tmp_path, era) as one, Served(tmp_path, era) as other:
        for served in (one, other):
            served.call("join_room", name="workshop")
        one.call("send_message", text="数据库迁移 of the café is done")
        for words in ("迁移", "CAFE", '"is done"', "migr* OR"):
            found = [hit["id"] for hit in other.call("search_messages", words=words)["hits"]]

            assert found == ([] if "OR" in words else ["msg_1"]), words
        one.call("send_message", text="the café again")
        found = [hit["id"] for hit in other.call("search_messages", words="cafe")["hits"]]

        assert found == ["msg_2", "msg_1"]


# --- as a shell -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a room in which a few things were said; whoever wants it takes a copy."""
    home = tmp_path_factory.mktemp("made") / "home"
    run(home, "send", "--create", "workshop", "Who looks at the lexer?", "--as", "Ada")
    run(home, "send", "workshop", "the lexer\nis mine", "--as", "Bob", "--thread", "msg_1")
    return home


@pytest.fixture
def workshop(tmp_path: Path, made: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


def objects(home: Path, *words: str) -> list[dict[str, Any]]:
    found = run(home, "search", "workshop", *words, "--json")
    assert found.returncode == 0, found.stderr
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_a_person_finds_what_was_said(workshop: Path) -> None:
    found = run(workshop, "search", "workshop", "lexer")
    lines = found.stdout.splitlines()

    assert found.returncode == 0
    assert [line.split()[1] for line in lines[::2]] == ["msg_2", "msg_1"]
    assert lines[0].endswith("[thread msg_1] Bob")
    assert lines[1] == "    the lexer is mine"
    assert lines[3] == "    Who looks at the lexer?"


def test_what_a_shell_had_in_quotes_is_a_phrase(workshop: Path) -> None:
    found = {words: len(objects(workshop, *words)) for words in PHRASES}

    assert found == PHRASES


PHRASES = {
    ("lexer", "the"): 2,
    ("lexer the",): 0,
    ("the lexer",): 2,
    ('"the lexer" mine',): 1,
    ("lex*",): 2,
    ("lexer", "--author", "ada"): 1,
    ("--author", "ada"): 1,
    ("--thread", "msg_2"): 2,
    ("lexer", "-n", "1"): 1,
    ("lexer", "-n", "0"): 0,
    ("lexer", "--since", "2001-01-01", "--until", "2002-01-01"): 0,
    (): 2,
}


def test_each_hit_is_an_object_for_programs(workshop: Path) -> None:
    [hit] = objects(workshop, "mine")

    assert hit | {"timestamp": ""} == {
        "room_id": "workshop",
        "id": "msg_2",
        "sender": "Bob",
        "timestamp": "",
        "snippet": "the lexer is mine",
        "thread_root_id": "msg_1",
    }


def test_more_than_a_page_is_found_where_more_is_wanted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home, "send", "--create", "workshop", "begin")
    with Served(home) as served:
        served.call("join_room", name="workshop")
        for at in range(60):
            served.call("send_message", text=f"lexer {at}")

    assert len(objects(home, "lexer")) == 20
    assert len(objects(home, "lexer", "-n", "1000")) == 60


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["workshop", "!!!"], "WORDS: there is no word in"),
        (["workshop", "x", "--since", "yesterday"], "--since: 'yesterday' is not a time"),
        (["workshop", "x", "--thread", "msg_9"], "--thread: msg_9 does not exist"),
        (["workshop", "x", "--author", "@"], "--author: '@' cannot be a name"),
        (["workshup", "x"], "There is no room workshup here; the nearest are workshop"),
    ],
    ids=str,
)
def test_what_cannot_be_found_is_said_in_two_lines(
    workshop: Path, words: list[str], told: str
) -> None:
    found = run(workshop, "search", *words)

    assert found.returncode == 1
    assert found.stdout == ""
    assert told in found.stderr
    assert len(found.stderr.splitlines()) == 2


def test_nothing_found_is_said_and_is_no_error(workshop: Path) -> None:
    found = run(workshop, "search", "workshop", "hovercraft")

    assert (found.returncode, found.stdout) == (0, "Nothing was found.\n")
    assert objects(workshop, "hovercraft") == []


def test_the_help_fits_on_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["search", "--help"])

    assert 4 < len(capsys.readouterr().out.splitlines()) < 24
