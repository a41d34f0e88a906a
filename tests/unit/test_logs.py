"""Where the logs of a process go."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from letagents.entrypoints import logs


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_a_log_that_nobody_reads_any_more_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    unread = os.fdopen(writing, "w")
    with monkeypatch.context() as during:
        during.setattr("sys.stderr", unread)
        logs.configure("json", "info")
        structlog.get_logger().error("rooms.failed")
        with pytest.raises(BrokenPipeError):
            unread.close()
        structlog.get_logger().error("rooms.failed")


def test_a_log_goes_to_the_standard_error_of_the_moment(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Path(os.devnull).open("w") as first, monkeypatch.context() as during:
        during.setattr("sys.stderr", first)
        logs.configure("json", "info")
    structlog.get_logger().error("rooms.failed")
    assert "rooms.failed" in capfd.readouterr().err
