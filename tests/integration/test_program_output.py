"""What a program writes, as long as it lives."""

import subprocess
import sys

import pytest

from letagents.adapters.providers.programs import LARGEST_OUTPUT, Output

WRITES = """\
import os, sys
os.write(1, b"x" * int(sys.argv[1]) + b" first")
sys.stdin.readline()
os.write(1, b" last")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files that others write to are not read there")
def test_of_what_a_program_writes_for_months_the_end_is_kept_and_the_disk_is_not_filled() -> None:
    output = Output()
    words = [sys.executable, "-c", WRITES, str(2 * LARGEST_OUTPUT)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=output.file) as program:
        while not output.tail().endswith("first"):
            assert program.poll() is None
        output.trim()
        output.trim()
        program.communicate(b"\n", timeout=30)
    size = output.file.seek(0, 2)

    assert size < LARGEST_OUTPUT
    assert output.close().endswith("x first last")
