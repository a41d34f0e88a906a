"""What is to be said of whether processes can tell that others are there."""

from pathlib import Path

from letagents.adapters.processes.locks import ProcessLocks
from letagents.ports.health import Finding

ABOUT = "processes"


def examine(processes: ProcessLocks, run_dir: Path) -> Finding:
    """Say whether it is known that a process is there. Going by time instead is no fault."""
    if not run_dir.exists():
        return Finding(ABOUT, f"{run_dir} is not used yet")
    fault = processes.fault()
    if fault is None:
        return Finding(ABOUT, "the system tells whether the process that holds a task is there")
    told = f"whether a process is there is guessed from its last call, without locks: {fault}"
    return Finding(ABOUT, told)
