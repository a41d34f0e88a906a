"""Where the demo is seen: each thing as it happens, and at the end what held."""

import re

import attrs

from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.agent_process import Plain
from letagents.entrypoints.cli.printing import BOLD, DIM, GREEN, RED, Surface

_LONG_ID = re.compile(r"(worker_[0-9a-f]{6})[0-9a-f]{26}")
_NEXT_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z\[])")


@attrs.define
class Stage:
    """Shows a play, and notes what has to hold."""

    surface: Surface
    checks: list[tuple[str, bool]] = attrs.field(factory=list)

    def act(self, title: str) -> None:
        """Begin a part of the play."""
        printing.say(f"\n{self.surface.painted(title, BOLD)}")

    def tell(self, what: str) -> None:
        """Say what happens."""
        printing.say(f"  {self.surface.painted(_short(what), DIM)}")

    def speaks(self, name: str, message: Plain) -> None:
        """Show a message of that speaker."""
        thread = message["thread"]
        where = f" [thread {thread['root_message_id']}]" if thread["is_thread_reply"] else ""
        speaker = self.surface.speaker(f"{name:5}", name)
        printing.say(f"  {speaker} {message['id']}{where}  {printing.one_line(message['text'])}")

    def is_told(self, text: str) -> None:
        """Show what a process was answered, a sentence a line."""
        for sentence in _NEXT_SENTENCE.split(printing.one_line(_short(text))):
            printing.say(f"        {sentence}")

    def check(self, sentence: str, *, held: bool) -> None:
        """Note something that has to hold, and whether it did."""
        self.checks.append((sentence, held))

    def verdict(self) -> int:
        """Say of each check whether it held; return 0 if all did, else 1."""
        self.act("What has to hold")
        for sentence, held in self.checks:
            mark = (
                self.surface.painted("ok  ", GREEN) if held else self.surface.painted("FAIL", RED)
            )
            printing.say(f"  {mark}  {printing.one_line(sentence)}")
        all_held = bool(self.checks) and all(held for _, held in self.checks)
        printing.say("\nAll of it held." if all_held else "\nNot all of it held.")
        return 0 if all_held else 1


def _short(text: str) -> str:
    return _LONG_ID.sub(r"\1...", text)
