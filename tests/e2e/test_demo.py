"""The demo: it passes where all is well, and nowhere else; and it leaves nothing behind."""

import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.e2e.shell import Running, run

from letagents.entrypoints.cli import demo
from letagents.entrypoints.cli.printing import Surface
from letagents.entrypoints.cli.stage import Stage

FORGETFUL = Path(__file__).with_name("forgetful_server.py")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files are made: with a short path, as users have it."""
    with tempfile.TemporaryDirectory(prefix="la") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr("tempfile.tempdir", None)
        yield Path(folder)
        monkeypatch.undo()


def processes(shown: str) -> set[int]:
    return {int(number) for number in re.findall(r"[Pp]rocess (\d+)", shown)}


def living(numbers: set[int]) -> set[int]:
    return {number for number in numbers if _lives(number)}


def _lives(number: int) -> bool:
    if sys.platform == "win32":  # where asking a process in this way would end it
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_demo_holds_what_it_promises_and_leaves_nothing_behind(place: Path) -> None:
    shown = run(place / "home", "demo")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.endswith("\nAll of it held.\n")
    assert "FAIL" not in shown.stdout
    assert "[connection_replaced]" in shown.stdout
    assert len(processes(shown.stdout)) == 4
    assert living(processes(shown.stdout)) == set()
    assert list(place.iterdir()) == []
    assert "registration key" not in shown.stdout
    assert re.search(r"[0-9a-f]{20}", shown.stdout) is None


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ([sys.executable, str(FORGETFUL), "client_message_id"], "The repeated send was answered"),
        ([sys.executable, str(FORGETFUL), "registration_key"], "Every process answered"),
        ([sys.executable, "-c", "import sys; sys.stdin.readline()"], "has left"),
        ([sys.executable, "-c", "print('{')"], "Every process answered"),
    ],
)
def test_what_does_not_hold_is_told_and_makes_it_fail(
    server: Sequence[str], told: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = demo.play(server, Surface())
    shown = capsys.readouterr().out
    failed = [line for line in shown.splitlines() if line.startswith("  FAIL")]

    assert code == 1
    assert any(told in line for line in failed)
    assert shown.endswith("\nNot all of it held.\n")
    assert living(processes(shown)) == set()
    assert list(place.iterdir()) == []


def test_one_false_check_among_true_ones_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(Surface())
    stage.check("This holds.", held=True)
    held = stage.verdict()
    stage.check("This does not.", held=False)

    assert held == 0
    assert stage.verdict() == 1
    assert "  FAIL  This does not." in capsys.readouterr().out.splitlines()


def test_without_any_check_nothing_has_held() -> None:
    assert Stage(Surface()).verdict() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no such signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_ends_its_processes_and_leaves_nothing_behind(
    number: signal.Signals, code: int, place: Path
) -> None:
    with Running(place / "home", ["demo"]) as running:
        shown = ""
        while "Ben, process" not in shown:
            shown += running.line()
        running.process.send_signal(number)

        assert running.ended() == code
        assert running.complaints() == ""
    assert len(processes(shown)) == 2
    assert living(processes(shown)) == set()
    assert list(place.iterdir()) == []
