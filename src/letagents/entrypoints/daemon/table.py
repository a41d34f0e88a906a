"""What a table of methods is: under which name which request is answered, and how."""

from collections.abc import Awaitable, Callable, Mapping

from letagents.wire.supervisor import Request

Method = Callable[[Request], Awaitable[object]]
Table = Mapping[str, Method]
