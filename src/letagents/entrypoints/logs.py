"""Logs, to standard error: plain lines at a terminal, one JSON object a line otherwise."""

import logging
import sys
from contextlib import suppress
from typing import Any, BinaryIO, cast


class _StandardError:
    """Standard error as it is at the moment; what it does not take any more stops nobody's work."""

    def write(self, line: bytes) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.buffer.write(line)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.buffer.flush()


def configure_others(level: str) -> None:
    """Send the logs of libraries where ours belong; this loads none of them."""
    logging.basicConfig(
        stream=sys.stderr,
        level=max(_threshold(level), logging.WARNING),
        format="%(name)s: %(message)s",
    )


def configure(form: str | None, level: str) -> None:
    """Send the logs of this process where they belong; `form` None follows the terminal."""
    import structlog

    configure_others(level)
    human = form == "text" or (form is None and sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *_rendered(human),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_threshold(level)),
        logger_factory=structlog.BytesLoggerFactory(cast(BinaryIO, _StandardError())),
        cache_logger_on_first_use=True,
    )


def _threshold(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _rendered(human: bool) -> list[Any]:
    import structlog

    if not human:
        return [structlog.processors.JSONRenderer(serializer=_as_bytes)]
    renderer = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    return [renderer, _encoded]


def _as_bytes(event: object, **options: Any) -> bytes:
    import orjson

    return orjson.dumps(event, default=options.get("default"))


def _encoded(_logger: object, _method: str, line: Any) -> bytes:
    return str(line).encode("utf-8", "backslashreplace")
