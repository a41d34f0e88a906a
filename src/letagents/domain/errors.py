"""Every error that a caller can meet: a stable code, what happened, and the call that helps.

X1  An error says what happened and what to do next; its text holds no secret.
X2  Refused and unknown are told apart: only after an error whose `retry` is AFTER_READING may it
    have taken effect.
"""

import enum
from typing import ClassVar, Self


class Retry(enum.Enum):
    """Whether, and after what, the same call can succeed."""

    NEVER = "never"
    """The call itself has to change."""
    LATER = "later"
    """Nothing happened; the same call may succeed after a while."""
    AFTER_REGISTERING = "after_registering"
    """Nothing happened; register (or reconnect) first."""
    AFTER_READING = "after_reading"
    """Whether it took effect is not known; read before calling again."""

    @property
    def may_pass(self) -> bool:
        """Whether a call may succeed later that is done once, however often it is called."""
        return self in (Retry.LATER, Retry.AFTER_READING)


class LetAgentsError(Exception):
    """The base of all our errors. `happened` and `remedy` are sentences for people and models."""

    code: ClassVar[str] = "letagents_error"
    retry: ClassVar[Retry] = Retry.NEVER

    def __init__(self, happened: str, *, remedy: str) -> None:
        super().__init__(happened)
        self.happened = happened
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.happened} {self.remedy}"


class Malformed(LetAgentsError):
    """A value is not of the form that its field needs. Nothing was stored."""

    code = "malformed"


class UnknownWorker(LetAgentsError):
    """No worker of this account has that handle on this machine."""

    code = "unknown_worker"

    def __init__(self, worker_id: object) -> None:
        super().__init__(
            f"Unknown worker_id {worker_id}: this machine's state holds no such worker.",
            remedy="Call register_agent_session with a fresh random registration_key and room_id "
            "to become a new worker, or with recover_lost_worker, room_id and display_name.",
        )


class ForeignWorker(LetAgentsError):
    """The handle was made under another account or server than the one in use now."""

    code = "foreign_worker"

    def __init__(self, worker_id: object) -> None:
        super().__init__(
            f"Unknown worker_id {worker_id} for this account: it was registered under another "
            "account or server.",
            remedy="Sign in to that account again, or call register_agent_session with a fresh "
            "random registration_key and room_id to become a new worker here.",
        )


class AccountUnverified(LetAgentsError):
    """Somebody is signed in, and who it is cannot be told now. Nothing was changed."""

    code = "account_unverified"
    retry = Retry.LATER

    def __init__(self, why: object = "the sign-in on this machine names none") -> None:
        super().__init__(
            f"Could not verify your LetAgents account: {str(why).rstrip('.')}.",
            remedy="Sign in again, then call register_agent_session with the same worker_id or "
            "registration_key.",
        )


class AmbiguousRoom(LetAgentsError):
    """The worker is in several rooms (or in none) and the call does not say which is meant."""

    code = "ambiguous_room"


class NoRoom(LetAgentsError):
    """The call needs a room, and none was given or joined."""

    code = "no_room"

    def __init__(self) -> None:
        super().__init__(
            "No room is available: none was named and this chat has joined none.",
            remedy="Call join_room(name=...) or create_room() first, or pass room_id.",
        )


class UnknownRoom(LetAgentsError):
    """No such room exists, or the invite code fits none."""

    code = "unknown_room"


class ConnectionLost(LetAgentsError):
    """This process may not act for the worker: the connection is another's, or nobody's."""

    code = "connection_lost"
    retry = Retry.AFTER_REGISTERING

    def __init__(
        self, worker_id: object | None, room_id: object, why: str, session_id: object = None
    ) -> None:
        """`session_id` is whose it is if no worker is known to hold it."""
        call = f"Call register_agent_session(room_id={str(room_id)!r}) first."
        if worker_id is not None:
            call = (
                f"Call register_agent_session(worker_id={str(worker_id)!r}, "
                f"room_id={str(room_id)!r}) first; whoever holds the connection then loses it."
            )
        who = worker_id if worker_id is not None else f"The session {session_id}"
        super().__init__(f"{who} cannot act in {room_id} from here: {why}.", remedy=call)
        self.about = (worker_id, room_id, why, session_id)

    def of_worker(self, worker_id: object) -> Self:
        """Return a fresh error that says the same of that worker."""
        return type(self)(worker_id, *self.about[1:3])

    def again(self) -> Self:
        """Return a fresh error that says the same."""
        return type(self)(*self.about)


class NotConnected(ConnectionLost):
    """This process never connected the worker in that room, or lost its memory in a restart."""

    code = "not_connected"


class ConnectionReplaced(ConnectionLost):
    """A newer process connected the worker since; this one is no longer heard."""

    code = "connection_replaced"


class SessionEnded(ConnectionLost):
    """The worker's session in the room was disconnected or ended."""

    code = "session_ended"


class SessionUnknown(LetAgentsError):
    """No session of that id is known here, or it belongs to another room or kind."""

    code = "unknown_session"
    retry = Retry.AFTER_REGISTERING


class SessionRequired(LetAgentsError):
    """The call does not show who acts, and the chat has workers of which it could be one."""

    code = "session_required"
    retry = Retry.AFTER_REGISTERING


class RegistrationConflict(LetAgentsError):
    """Another registration of the same worker in the same room is under way or went first."""

    code = "registration_conflict"
    retry = Retry.LATER


class NoSuchLostWorker(LetAgentsError):
    """Recovery by name found no worker, or more than one, that this process holds."""

    code = "no_lost_worker"


class NameTaken(LetAgentsError):
    """No display name is left for the worker in that room."""

    code = "name_taken"


class KeyReused(LetAgentsError):
    """An idempotency key was used before with other content. Nothing was stored."""

    code = "key_reused"


class UnknownMessage(LetAgentsError):
    """A message that the call refers to does not exist in that room."""

    code = "unknown_message"


class NotAvailable(LetAgentsError):
    """The tool exists, and what it would need is not available in this installation."""

    code = "not_available"


class StateUnavailable(LetAgentsError):
    """This machine's state cannot be read or written now. Nothing was changed."""

    code = "state_unavailable"
    retry = Retry.LATER


class StateDamaged(StateUnavailable):
    """The state is there and is not what it should be. It was left exactly as it is."""

    code = "state_damaged"
    retry = Retry.NEVER


class RoomsUnavailable(LetAgentsError):
    """The store of rooms cannot be used now. Nothing was changed."""

    code = "rooms_unavailable"
    retry = Retry.LATER


class OutcomeUnknown(LetAgentsError):
    """The room did not answer: what was asked may or may not have happened."""

    code = "outcome_unknown"
    retry = Retry.AFTER_READING


class SettingsInvalid(LetAgentsError):
    """A setting holds a value that it cannot have."""

    code = "settings_invalid"


class NotSignedIn(LetAgentsError):
    """The call needs an account, and who calls has shown none. Nothing happened."""

    code = "not_signed_in"
    retry = Retry.AFTER_REGISTERING


class SignInFirst(NotSignedIn):
    """A room is entered by people who are signed in alone, and the server says where they can be.

    `start` is the address that it names for that.
    """

    code = "auth_required"

    def __init__(self, room_id: str | None = None, start: str | None = None) -> None:
        room = f"The room {room_id[:200]}" if room_id else "That room"
        super().__init__(
            f"{room} is open to people who are signed in alone.",
            remedy="Call start_device_auth() to sign in, then poll_device_auth(), then this again.",
        )
        self.room_id, self.start = room_id, start


class NoAttendance(LetAgentsError):
    """The server keeps no process connection for it. That says nothing of the session."""

    code = "no_attendance"
