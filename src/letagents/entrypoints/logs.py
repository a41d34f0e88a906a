"""Logs, to standard error: plain lines at a terminal, one JSON object a line otherwise."""

import logging
import sys
from typing import Any

import structlog


def configure(form: str | None, level: str) -> None:
    """Send the logs of this process where they belong; `form` None follows the terminal."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    human = form == "text" or (form is None and sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *_rendered(human),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        stream=sys.stderr, level=max(threshold, logging.WARNING), format="%(name)s: %(message)s"
    )


def _rendered(human: bool) -> list[Any]:
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
