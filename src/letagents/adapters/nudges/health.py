"""What is to be said of the wake-ups between the processes of this machine."""

from pathlib import Path

from letagents.adapters.nudges.datagram import OFTEN, DatagramNudges
from letagents.adapters.nudges.postgres import OFTEN as SERVER_OFTEN
from letagents.adapters.nudges.postgres import PostgresNudges
from letagents.ports.health import Finding

ABOUT = "wake-ups"


def examine_server(nudges: PostgresNudges) -> Finding:
    """Say whether waiters are woken at once through the server that keeps the rooms."""
    fault = nudges.fault()
    if fault is None:
        return Finding(ABOUT, "whoever waits is woken at once, through the server of the rooms")
    return Finding(ABOUT, f"whoever waits looks every {SERVER_OFTEN} s: {fault}")


def examine(nudges: DatagramNudges, run_dir: Path) -> Finding:
    """Say whether waiters are woken at once. That they look by themselves instead is no fault."""
    if not run_dir.exists():
        return Finding(ABOUT, f"{run_dir} is not used yet")
    fault = nudges.fault()
    if fault is None:
        return Finding(ABOUT, "whoever waits is woken at once, through a socket")
    return Finding(ABOUT, f"whoever waits looks every {OFTEN} s, since there is no socket: {fault}")
