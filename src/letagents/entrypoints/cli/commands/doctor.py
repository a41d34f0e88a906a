"""The command that says what is wrong on this machine."""

from letagents.entrypoints.cli.parsing import Command, as_json

COMMANDS = (
    Command(
        "doctor",
        "doctor",
        "say what is configured, where files are, what is wrong and how to mend it",
        as_json,
    ),
)
