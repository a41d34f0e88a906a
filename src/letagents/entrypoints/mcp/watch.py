"""What threads of their own see of the client, however busy the event loop is.

The loop learns that the client has closed its end only when it has read everything before that, and
nothing at all while it is busy. These threads sleep in the kernel until there is something to tell.
"""

import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

LOOK = 0.5
"""Seconds between two looks at what the kernel does not tell of."""


def when_client_hangs_up(tell: Callable[[bool], None]) -> None:
    """Call `tell` in a thread once nobody holds the other end of standard input, or of output.

    It hears whether something that was written before may still be unread. A file never hangs up,
    and on Windows nothing tells of it.
    """
    if hasattr(select, "poll"):
        _in_thread(_tell_of_hanging_up, os.dup(0), os.dup(1), tell)


def _tell_of_hanging_up(source: int, target: int, tell: Callable[[bool], None]) -> None:
    ends = select.poll()
    ends.register(source, select.POLLHUP | getattr(select, "POLLRDHUP", 0))
    ends.register(target, select.POLLERR)
    watched = {source, target}
    while watched:
        seen = dict(ends.poll())
        unfit = {end for end, event in seen.items() if event & select.POLLNVAL}
        for end in unfit:
            ends.unregister(end)
        watched -= unfit
        if seen.keys() - unfit:
            tell(_holds_unread(source))
            return
        if not seen:  # some systems wake up for data, too; that must not keep this thread busy
            _pause()


def _holds_unread(source: int) -> bool:
    import fcntl
    import termios

    try:
        waiting = fcntl.ioctl(source, termios.FIONREAD, bytes(4))
    except OSError:  # it does not say
        return True
    return any(waiting)


def when_parent_dies(tell: Callable[[], None]) -> None:
    """Call `tell` once the process that started this one is gone; at once if it is already.

    The first process of a container, and one that was started from outside of it, have nobody to
    outlive.
    """
    parent = os.getppid()
    if _adopted_by(parent):
        tell()
    elif parent > 1:
        _in_thread(_tell_of_death, parent, _handle_of(parent), tell)


def _adopted_by(parent: int) -> bool:
    """Whether `parent` did not start this process, but got it when its real parent died.

    A new process is in its parent's session, unless it leads one of its own. So one that leads
    none, and whose parent is in another session, has lost the parent that it began with. Services
    and remote logins lead their sessions, and what the first process of a container starts shares
    that one's. Parent 0 is outside of the container, where nothing can be asked about it.
    """
    if sys.platform != "linux" or parent == 0:
        return False
    session = os.getsid(0)
    try:
        return session not in (os.getpid(), os.getsid(parent))
    except OSError:  # it is just dying, which is noticed later, or it must not be asked
        return False


def _handle_of(process: int) -> int | None:
    """Return a descriptor that is readable once `process` has exited, where there are such."""
    if sys.platform != "linux":
        return None
    with suppress(OSError, AttributeError):
        return os.pidfd_open(process)
    return None


def _tell_of_death(parent: int, handle: int | None, tell: Callable[[], None]) -> None:
    # The handle is the parent's, and not that of a later process, if it still is the parent now.
    if handle is not None and os.getppid() == parent:
        exited = select.poll()
        exited.register(handle, select.POLLIN)
        exited.poll()
    while os.getppid() == parent:
        _pause()
    tell()


def _pause() -> None:
    threading.Event().wait(LOOK)


def _in_thread(do: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=do, args=arguments, daemon=True).start()
