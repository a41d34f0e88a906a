"""What the errors of a database driver say, as far as one driver says it and another may not."""


def sqlstate(error: BaseException) -> str:
    """Return the code by which the server names the error; nothing where it said none."""
    return getattr(_cause(error), "sqlstate", None) or ""


def severity(error: BaseException) -> str:
    """Return how bad the server says it is: ERROR, FATAL or PANIC; nothing where it said nothing.

    After an ERROR it has undone the transaction; else it may have been about to commit it.
    """
    return getattr(getattr(_cause(error), "diag", None), "severity_nonlocalized", None) or ""


def was_cut(error: BaseException) -> bool:
    """Whether a connection was lost after it had been made: until then the driver names it."""
    cause = _cause(error)
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    is_of_the_line = "OperationalError" in kinds and "ConnectionTimeout" not in kinds
    return is_of_the_line and not sqlstate(error) and getattr(cause, "pgconn", None) is None


def in_short(error: BaseException) -> str:
    """Return the driver's own sentence, without the statement, its parameters and the rows."""
    cause = _cause(error)
    sentence = getattr(getattr(cause, "diag", None), "message_primary", None) or str(cause)
    first = sentence.strip().partition("\n")[0]
    return first.strip().rstrip(".") or type(cause).__name__


def _cause(error: BaseException) -> BaseException:
    return getattr(error, "orig", None) or error
