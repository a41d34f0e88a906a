"""Which signals ask a process to leave."""

import os
import signal
import sys

import pytest

from letagents.entrypoints import signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no terminal hangs up there")


def test_a_terminal_that_closes_asks_to_leave() -> None:
    heard: list[int] = []
    before = signal.getsignal(signal.SIGHUP)
    with signals.heard_by(lambda number, _frame: heard.append(number)):
        os.kill(os.getpid(), signal.SIGHUP)
    assert heard == [signal.SIGHUP]
    assert signal.getsignal(signal.SIGHUP) == before


def test_one_that_outlives_its_terminal_does_not_hear_of_its_end() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup leaves it
    try:
        with signals.heard_by(lambda number, _frame: heard.append(number)):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert heard == []
