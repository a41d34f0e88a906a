"""What a room keeps besides its messages, as the verbs that are written once see it.

A *book* is one room within one transaction. Verbs are given a book, ask the rules of the domain,
and put down what was decided; so every adapter that can hand out books has all verbs, and what a
verb did is kept whole or not at all. Refuse before the first `put`, and nothing has to be undone.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import Message
from letagents.domain.rooms import Room
from letagents.domain.sessions import Seat, Session
from letagents.domain.ticks import Tick
from letagents.ports.ids import Ids

if TYPE_CHECKING:
    from letagents.domain.focus_rooms import Focus
    from letagents.domain.receipts import Receipt, State
    from letagents.domain.threads import Summary, Tally, Voice

V = TypeVar("V")
T = TypeVar("T")

SYSTEM = "system"
"""The source of what a room says itself."""
SPEAKER = "letagents"
"""Who says it."""


def _nothing(_value: object) -> None:
    return None


@attrs.frozen(eq=False, kw_only=True)
class Kind(Generic[V]):
    """One kind of thing that rooms keep, and the facts by which its things are found.

    `key` is a thing's own name within its room, `number` its place in the order of its kind. `of`
    is an attrs class, of which plain fields, enums, moments, names, lists and further attrs classes
    can be kept.
    """

    name: str
    of: type[V]
    key: Callable[[V], str]
    number: Callable[[V], int]
    state: Callable[[V], str | None] = _nothing
    is_open: Callable[[V], bool] = lambda _value: True
    about: Callable[[V], str | None] = _nothing
    by: Callable[[V], str | None] = _nothing
    also: Callable[[V], str | None] = _nothing


@attrs.frozen(kw_only=True, cache_hash=True)
class Where:
    """Which things of a kind are asked for: all facts that are given have to fit.

    They come in the order of their numbers, or the newest first; `after` and `before` are numbers.
    Of equal numbers the one with the shorter key comes first, else the keys decide: so `_9` comes
    before `_10`, and what is due in one moment is done in the order of its asking.
    """

    state: str | None = None
    is_open: bool | None = None
    about: str | None = None
    by: str | None = None
    also: str | None = None
    after: int | None = None
    before: int | None = None
    newest_first: bool = False
    limit: int = 500


EVERYTHING = Where()
Lookup = tuple[Kind[Any], Where]
"""What `find` is asked for."""
ByName = tuple[Kind[Any], str]
"""What `get` is asked for."""


@attrs.frozen
class Named:
    """What a worker's session is called."""

    session_id: SessionId
    agent_key: str
    name_key: str
    is_live: bool


class Book(Protocol):
    """One room within one transaction."""

    @property
    def room_id(self) -> RoomId:
        """Which room."""
        ...

    @property
    def caller(self) -> Session | None:
        """Whom the fence admitted; None where the room itself, or its owner, acts."""
        ...

    @property
    def is_admin(self) -> bool:
        """Whether who acts may do what an admin of the room may.

        On one machine everybody acts under its owner's account, and may.
        """
        ...

    @property
    def origin(self) -> RoomId | None:
        """The room from which who acts says that it does so."""
        ...

    @property
    def parent(self) -> RoomId | None:
        """The room beside which this one is, if it is a focus room."""
        ...

    @property
    def now(self) -> datetime:
        """The moment of the transaction, for people."""
        ...

    @property
    def tick(self) -> Tick:
        """The same on the steady clock, for spans."""
        ...

    @property
    def grace(self) -> timedelta:
        """How long somebody who holds work is gone before the room tells of it."""
        ...

    @property
    def ids(self) -> Ids:
        """New names."""
        ...

    def get(self, kind: Kind[V], key: str) -> V | None:
        """Return the thing of that name."""
        ...

    def find(self, kind: Kind[V], where: Where = EVERYTHING) -> list[V]:
        """Return the things that fit, at most `where.limit`."""
        ...

    def bring(
        self,
        *asked: Lookup,
        named: Sequence[ByName] = (),
        numbered: Sequence[Kind[Any]] = (),
    ) -> None:
        """Look up at once what will be asked for soon; that costs less than one by one.

        `find` will be asked for what was `asked`, `get` for what is `named`, and `next_number` for
        the kinds `numbered`.
        """
        ...

    def count(self, kind: Kind[V], where: Where = EVERYTHING) -> int:
        """Return how many things fit, whatever the limit."""
        ...

    def next_number(self, kind: Kind[V]) -> int:
        """Return the number for a new thing: one more than the highest."""
        ...

    def put(self, kind: Kind[V], value: V) -> None:
        """Keep `value`, in place of the thing of its name if there is one."""
        ...

    def session(self, session_id: SessionId) -> Session | None:
        """Return a session of the room, ended or not."""
        ...

    def sessions(self) -> list[Session]:
        """Return the sessions that have not ended, oldest first."""
        ...

    def workers_before(self, session_id: SessionId | None, limit: int) -> list[Session]:
        """Return workers' sessions, ended ones too, the youngest first: those before that one."""
        ...

    def seat(self, session_id: SessionId) -> Seat | None:
        """Return the seat of a session, ended or not."""
        ...

    def seats_of(self, agent_key: str, instance_id: str) -> list[Seat]:
        """Return the seats of a worker's process, ended or not."""
        ...

    def names(self) -> list[Named]:
        """Return what all workers of the room are called, ended ones too."""
        ...

    def take(self, seat: Seat) -> None:
        """Keep a seat, in place of that of the same session if there is one."""
        ...

    def is_alive(self, process: str | None) -> bool | None:
        """Whether the process of a session is there; None where that cannot be known."""
        ...

    def last_seen(self, process: str | None) -> Tick | None:
        """Return when the process of a session was there last; None where that is not known."""
        ...

    def saw(self, session_id: SessionId) -> None:
        """Note that the process of a session is there now."""
        ...

    def beside(self, key: str | None = None) -> list[Room]:
        """Return the focus rooms beside this one as they were when the transaction began.

        They come the newest first, one more than are listed at most; or the one of that key.
        """
        ...

    def put_beside(self, make: "Callable[[int], Focus]", display_name: str) -> Room:
        """Make a room beside this one, under a number that none has; `make` says what it is."""
        ...

    def message(self, number: int) -> Message | None:
        """Return the message of that number."""
        ...

    def threads(self, limit: int) -> "list[Tally]":
        """Return the threads with the newest replies, those first."""
        ...

    def voices(self, root: int, read_to: int) -> "list[Voice]":
        """Return who spoke in a thread, the last first; replies after `read_to` are unread."""
        ...

    def threads_around(self, first: int, last: int, read_to: ByName) -> "list[Summary]":
        """Return the threads of the messages between those numbers, both included.

        How far one is read tells the number of the thing `read_to`, whose name goes on with the
        number of the thread's root.
        """
        ...

    def rename(self, display_name: str) -> Room:
        """Call the room so at once, and return it."""
        ...

    def receipts(self, number: int) -> "list[Receipt]":
        """Return the receipts of the message of that number, in the order of their agents."""
        ...

    def receipts_changed(self, after: int, limit: int) -> list[tuple[int, int]]:
        """Return the messages whose receipts changed after that change, with the number of each."""
        ...

    def last_receipt_change(self) -> int:
        """Return the number of the last change of a receipt; 0 if there was none."""
        ...

    def show_receipts(self, session: Session, first: int, last: int) -> bool:
        """Note that a session was shown the messages of those numbers; say whether it is news."""
        ...

    def declare_receipt(self, session: Session, message_id: MessageId, state: "State") -> "Receipt":
        """Note how far a session says that it is with a message. Raises NoReceipt."""
        ...

    def tell_receipts(self, session_id: SessionId, *, is_blocked: bool) -> None:
        """Let the receipts of a session know whether it can go on."""
        ...

    def say(
        self,
        text: str,
        *,
        key: str,
        source: str = SYSTEM,
        prompt_kind: str | None = None,
        session_id: SessionId | None = None,
    ) -> MessageId:
        """Let the room itself say `text`; a `key` that was used before says nothing again.

        `session_id` is the session whose act is reported, if it is one's.
        """
        ...


class Keeping(Protocol):
    """Hands out books."""

    async def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        """Return what `work` returns once what it put down is kept; nothing is if it raises.

        Waiters look again afterwards. `work` may run more than once, and in another thread.

        Raises:
            UnknownRoom: the room is not there.
            ConnectionLost: `fence` does not admit.
            RoomsUnavailable, OutcomeUnknown: as for any verb of RoomTransport (R10).
        """
        ...

    async def look(
        self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None = None
    ) -> T:
        """Return what `work` finds in one state of the room; it may put nothing.

        Raises: as `change`, but for OutcomeUnknown.
        """
        ...


class Noting(Keeping, Protocol):
    """Hands out books for what is noted beside what is done in a room."""

    async def note(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        """Do as `change` for what is noted beside that, and is no call of whoever `fence` is."""
        ...

    def listen_for(self, room_id: RoomId, fence: Fence) -> None:
        """Write down the next call of whoever `fence` is, though the last one was lately."""
        ...


Admins = Callable[[Session | None], bool]
"""Whether a session, or the room itself, may do what an admin of the room may."""


def as_in(caller: Session | None, parent: RoomId | None) -> Session | None:
    """Return who acts as what counts for being an admin: of a focus room, its parent's are."""
    if caller is None or parent is None:
        return caller
    return attrs.evolve(caller, room_id=parent)


def everybody(_caller: Session | None) -> bool:
    """Let each be an admin: whoever gets here acts for the machine's owner."""
    return True
