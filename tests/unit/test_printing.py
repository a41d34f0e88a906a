import io
from datetime import UTC, datetime

import pytest

from letagents.domain.errors import KeyReused, LetAgentsError, Malformed, RoomsUnavailable
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Message, Quote
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import Surface
from letagents.entrypoints.cli.tail import INDENT, Transcript

NOON = datetime(2030, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC)
ADA = "Ada | Grace's agent | Claude Code"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(text: str = "Hello", number: int = 3, **facts: object) -> Message:
    plain = {
        "room_id": RoomId("workshop"),
        "id": MessageId(number),
        "sender": ADA,
        "agent_key": "grace/worker-1",
        "session_id": None,
        "text": text,
        "source": "agent",
        "said_at": NOON,
        "thread_root": MessageId(number),
    }
    return Message(**{**plain, **facts})  # type: ignore[arg-type]  # as each test has it


def quote(text: str) -> Quote:
    return Quote(MessageId(1), "Ben", text, "browser", NOON)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ÄÖ and 日本", "plain, ÄÖ and 日本"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("turned \u202eround\u2066", "turned \\u202eround\\u2066"),
        ("one\nmsg_9 two\r", "one\\x0amsg_9 two\\x0d"),
        ("\udc80\u2028", "\\udc80\\u2028"),
        ("\u200b\ufeff\xad\u2060\u3164", "\\u200b\\ufeff\\xad\\u2060\\u3164"),
        ("see\U000e0041\U000e007f", "see\\U000e0041\\U000e007f"),
        ("ad\u200dmin \u200c", "ad\\u200dmin \\u200c"),
        ("🏳️\u200d🌈 می\u200cخواهم", "🏳️\u200d🌈 می\u200cخواهم"),
    ],
)
def test_what_could_steer_a_terminal_is_spelt_out(text: str, shown: str) -> None:
    assert printing.one_line(text) == shown


def test_only_the_ends_of_lines_part_a_text() -> None:
    assert printing.lines("a\r\nb\rc\n\td\u2028e\x0bf") == ["a", "b", "c", "    d\\u2028e\\x0bf"]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_whoever_wants_no_colours_has_none_on_a_terminal_either(environ: dict[str, str]) -> None:
    surface = Surface.of(Screen(), {"WT_SESSION": "1", **environ})

    assert surface.is_terminal
    assert surface.painted("text", printing.BOLD) == "text"


def test_a_terminal_has_colours_and_a_pipe_has_none() -> None:
    on_screen = Surface.of(Screen(), {"WT_SESSION": "1", "NO_COLOR": ""})

    assert on_screen.painted("text", printing.BOLD) == "\x1b[1mtext\x1b[0m"
    assert Surface.of(io.StringIO(), {}).painted("text", printing.BOLD) == "text"


def test_a_speaker_keeps_the_same_colour() -> None:
    surface = Surface(is_terminal=True, has_colours=True)

    assert surface.speaker("Ada", ADA) == surface.speaker("Ada", ADA)


def test_cells_stand_below_each_other() -> None:
    rows = [("ROOM", "N"), ("workshop", "12")]

    assert list(printing.columns(rows)) == ["ROOM      N", "workshop  12"]


@pytest.mark.parametrize(
    ("error", "told", "remedy"),
    [
        (Malformed("text: it is blank.", remedy="Pass it."), "TEXT: it is blank.", "Pass it."),
        (
            KeyReused("client_message_id: used before.", remedy="Use a new client_message_id."),
            "--key: used before.",
            "another --key",
        ),
        (RoomsUnavailable("The disk is full.", remedy="Mend."), "The disk is full.", "Mend."),
    ],
)
def test_a_complaint_tells_what_happened_and_what_a_person_can_do(
    error: LetAgentsError, told: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printing.complain(error)
    first, second = capsys.readouterr().err.splitlines()

    assert first == f"letagents: {told}"
    assert second.startswith("  ")
    assert remedy in second


def test_an_object_is_one_line_of_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    printing.say_json({"text": "Ä\x1b\x7f\n\u202e"})

    assert capsys.readouterr().out == '{"text":"\\u00c4\\u001b\\u007f\\n\\u202e"}\n'


def test_a_pipe_is_told_when_in_utc_and_a_terminal_in_local_time() -> None:
    [head, text] = Transcript(Surface()).lines(said())
    day, local, _text = Transcript(Surface(is_terminal=True)).lines(said())

    assert head == f"2030-01-01T12:00:00.250Z msg_3 {ADA}"
    assert text == "    Hello"
    assert day == f"-- {NOON.astimezone():%A, %Y-%m-%d} --"
    assert local == f"{NOON.astimezone():%H:%M:%S} msg_3 {ADA}"


def test_the_day_is_told_once() -> None:
    transcript = Transcript(Surface(is_terminal=True))

    assert len(list(transcript.lines(said()))) == 3
    assert len(list(transcript.lines(said(number=4)))) == 2


def test_a_thread_and_a_quotation_are_recognised() -> None:
    message = said(thread_root=MessageId(1), reply_to=quote("The\nquestion " + 100 * "x"))
    head, quoted, _text = Transcript(Surface()).lines(message)

    assert " msg_3 [thread msg_1] Ada | " in head
    assert quoted.startswith("    > msg_1 Ben: The question xxx")
    assert quoted.endswith("xxx...")


def test_no_text_passes_for_the_head_of_another_message() -> None:
    text = "Hello\n\nmsg_4 Ben\r2030-01-01T12:00:01.000Z msg_5 Ben\x1b[1A"
    head, *rest = Transcript(Surface()).lines(said(text, reply_to=quote("a\nmsg_6 Ben")))

    assert " msg_3 " in head
    assert all(line == "" or line.startswith(INDENT) for line in rest)
    assert not any("\x1b" in line for line in rest)


def test_a_sender_cannot_steer_a_terminal_or_begin_a_line() -> None:
    [head, _text] = Transcript(Surface()).lines(said(sender="Eve\n\x1b[2Jmsg_4"))

    assert head.endswith(" msg_3 Eve\\x0a\\x1b[2Jmsg_4")
