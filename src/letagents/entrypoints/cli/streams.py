"""The standard streams of a command, of which some may be closed or lost."""

import os
import sys

from letagents.domain.errors import LetAgentsError


def fill_in() -> bool:
    """Put nothing in the place of standard streams that are closed; return whether output is open.

    The next file that is opened would come to stand there, and be written to.
    """
    has_output = sys.stdout is not None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))
    return has_output


def no_output() -> LetAgentsError:
    """Return what is said to who has closed the output."""
    from letagents.entrypoints.cli.printing import OutputLost

    return OutputLost(
        "Standard output is closed, so nothing was done.",
        remedy="Send it to a file, or to /dev/null if nobody wants it.",
    )


def let_go_of_output() -> None:
    """Send what is still to come nowhere: who read it has left, which is no fault of anybody."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
