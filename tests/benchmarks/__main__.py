"""`make bench`: figures measured side by side in one run, on a machine that may be busy.

`python -m tests.benchmarks NAME ...` measures only the named functions of its modules.
"""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks import (
    board_store,
    guard,
    hearing_store,
    rooms_store,
    search_store,
    servers,
    supervisor,
    whole,
)


def main(names: list[str]) -> int:
    for measure in (
        *rooms_store.MEASURED,
        *board_store.MEASURED,
        *search_store.MEASURED,
        *hearing_store.MEASURED,
        *guard.MEASURED,
        *whole.MEASURED,
        *servers.MEASURED,
        *supervisor.MEASURED,
    ):
        if names and measure.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as home:
            for row in measure(Path(home)):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
