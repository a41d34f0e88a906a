"""What keeps the logs out of the way of a program that has set up none."""

import logging
import sys

import structlog


def quiet_by_default() -> None:
    """Keep structlog off standard output in a process that has not set it up."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )
