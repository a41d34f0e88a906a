"""What a room remembers besides its messages, for one client: asked for and added to."""

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, TypeVar

import attrs
import structlog

from letagents.application.connections import Connections, fence_of, ids_of
from letagents.application.messaging import Messaging
from letagents.domain.errors import LetAgentsError, NotAvailable, OutcomeUnknown
from letagents.domain.ids import RoomId
from letagents.domain.sessions import Connection

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
    from letagents.domain.artifacts import Shared
    from letagents.domain.guidelines import InForce, ReplyOrder
    from letagents.domain.knowledge import Entry, Section
    from letagents.domain.messages import Message
    from letagents.domain.reasoning import Reasoning, Trace, Update
    from letagents.domain.records import Record
    from letagents.domain.room_events import Wanted
    from letagents.domain.tasks import Artifact
    from letagents.domain.wake_rules import Asked, WakeRule
    from letagents.ports.artifacts import Artifacts, Events, SharedArtifacts
    from letagents.ports.guidelines import GuidelinesOf
    from letagents.ports.knowledge import Knowledge, Records
    from letagents.ports.reasoning import Reasonings
    from letagents.ports.wakes import Rules, Wakes

log = structlog.get_logger()
T = TypeVar("T")


@attrs.frozen
class Stores:
    """Where what rooms remember is kept."""

    knowledge: "Knowledge"
    guidelines: "GuidelinesOf"
    artifacts: "Artifacts"
    wakes: "Wakes"
    reasonings: "Reasonings"


Opening = Callable[[], Stores | None]
"""Returns the stores; None where rooms remember nothing but messages."""


@attrs.frozen
class Memory:
    """The memory of rooms for one client. Its verbs raise what those of the ports do."""

    opening: Opening
    connections: Connections
    messages: Messaging

    @property
    def stores(self) -> Stores:
        """The stores. Raises NotAvailable where there are none."""
        if (stores := self.opening()) is None:
            raise NotAvailable(
                "These rooms keep messages and nothing else.",
                remedy="Say it in the room: send_message.",
            )
        return stores

    # --- what is known

    async def records(
        self,
        room_id: RoomId,
        section: "Section",
        *,
        after: str | None = None,
        viewer: Connection | None = None,
    ) -> "Records":
        """Return facts or requests, from behind `after`, which is `records.cursor` of one."""
        asked = self.stores.knowledge.records(
            room_id, section, after=after, viewer=fence_of(viewer)
        )
        return await self.connections.told(viewer, asked)

    async def add(
        self, speaker: Connection, section: "Section", record_id: str, said: "Entry"
    ) -> "Record":
        """Add a fact or a request; the same again is the same."""
        room_id, fence, knowledge = speaker.session.room_id, speaker.fence, self.stores.knowledge
        record = await self._surely(
            speaker, lambda: knowledge.add(room_id, section, record_id, said, fence)
        )
        log.info("record.added", **ids_of(speaker), record_id=record_id)
        return record

    async def history(self, room_id: RoomId, record_id: str) -> "Records":
        """Return the versions of a record, the newest first."""
        return await self.stores.knowledge.history(room_id, record_id)

    async def answer(self, speaker: Connection, record_id: str, text: str) -> "Record":
        """Answer a request, as a human being; who asked is told."""
        room_id, fence = speaker.session.room_id, speaker.fence
        asked = self.stores.knowledge.answer(room_id, record_id, text, fence)
        record = await self.connections.told(speaker, asked)
        log.info("record.answered", **ids_of(speaker), record_id=record_id)
        return record

    async def revise(self, speaker: Connection, before: "Record", said: "Entry") -> "Record":
        """Let a record say something else, as a human being who has seen it as it was `before`."""
        asked = self.stores.knowledge.revise(
            speaker.session.room_id,
            before.record_id,
            said,
            version=before.version,
            fence=speaker.fence,
        )
        return await self.connections.told(speaker, asked)

    async def archive(
        self, speaker: Connection, record_id: str, *, archived: bool, version: int | None = None
    ) -> "Record":
        """Archive a record or restore it, as a human being; by default the newest version."""
        room_id = speaker.session.room_id
        if version is None:
            version = (await self.history(room_id, record_id)).records[0].version
        asked = self.stores.knowledge.archive(
            room_id, record_id, version=version, archived=archived, fence=speaker.fence
        )
        return await self.connections.told(speaker, asked)

    async def set_guidelines(self, speaker: Connection, text: str) -> "InForce":
        """Set a room's guidelines, as a human being; return what counts then."""
        asked = self.stores.guidelines.set(speaker.session.room_id, text, speaker.fence)
        return await self.connections.told(speaker, asked)

    async def set_reply_order(self, speaker: Connection, order: "ReplyOrder") -> "InForce":
        """Set how agents answer that are called together, as a human being."""
        room_id = speaker.session.room_id
        asked = self.stores.guidelines.set_reply_order(room_id, order, speaker.fence)
        return await self.connections.told(speaker, asked)

    async def guidelines(self, room_id: RoomId, viewer: Connection | None = None) -> "InForce":
        """Return what people wish from the agents in the room."""
        return await self.connections.told(
            viewer, self.stores.guidelines.in_force(room_id, fence_of(viewer))
        )

    # --- what is shown

    async def artifacts(
        self,
        room_id: RoomId,
        *,
        task_id: str | None,
        after: str | None,
        limit: int,
        viewer: Connection | None = None,
    ) -> "SharedArtifacts":
        """Return artifacts, the newest first."""
        asked = self.stores.artifacts.artifacts(
            room_id, task_id=task_id, after=after, limit=limit, viewer=fence_of(viewer)
        )
        return await self.connections.told(viewer, asked)

    async def publish(
        self, speaker: Connection, artifact: "Artifact", task_ids: Collection[str]
    ) -> "Shared":
        """Show an artifact to the room; the same again is the same."""
        room_id, fence, artifacts = speaker.session.room_id, speaker.fence, self.stores.artifacts
        shared = await self._surely(
            speaker, lambda: artifacts.publish(room_id, artifact, task_ids, fence)
        )
        log.info("artifact.published", **ids_of(speaker))
        return shared

    async def events(
        self, room_id: RoomId, wanted: "Wanted", viewer: Connection | None = None
    ) -> "Events":
        """Return what happened in the room's repository."""
        asked = self.stores.artifacts.events(room_id, wanted, fence_of(viewer))
        return await self.connections.told(viewer, asked)

    async def reason(
        self, speaker: Connection, said: "Trace"
    ) -> "tuple[Reasoning, Update, Message | None]":
        """Show a trace of reasoning; a milestone in it is said in the room."""
        room_id = speaker.session.room_id
        asked = self.stores.reasonings.post(room_id, said, speaker.fence)
        trace, update = await self.connections.told(speaker, asked)
        if said.milestone is None:
            return trace, update, None
        text = f"[milestone] {said.milestone}"
        return trace, update, await self.messages.send(speaker, text)

    # --- what wakes

    async def wake(self, speaker: Connection, asked: "Asked") -> "tuple[WakeRule, bool]":
        """Let the speaker's agent be woken; return the rule, and whether it is new."""
        adding = self.stores.wakes.add(speaker.session.room_id, asked, speaker.fence)
        rule, was_made = await self.connections.told(speaker, adding)
        log.info("wake_rule.added", **ids_of(speaker), rule_id=rule.rule_id)
        return rule, was_made

    async def rules(
        self, room_id: RoomId, *, agent_key: str | None = None, viewer: Connection | None = None
    ) -> "Rules":
        """Return wake rules of the room, or those of one agent."""
        asked = self.stores.wakes.rules(room_id, agent_key=agent_key, viewer=fence_of(viewer))
        return await self.connections.told(viewer, asked)

    async def cancel_wake(self, speaker: Connection, rule_id: str) -> "WakeRule":
        """Let a rule of the speaker's agent wake no more."""
        asked = self.stores.wakes.cancel(speaker.session.room_id, rule_id, speaker.fence)
        rule = await self.connections.told(speaker, asked)
        log.info("wake_rule.cancelled", **ids_of(speaker), rule_id=rule_id)
        return rule

    async def _surely(self, who: Connection, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask; where the answer got lost, ask once more, which changes nothing if it was heard."""
        try:
            return await self.connections.told(who, ask())
        except OutcomeUnknown as unknown:
            try:
                return await self.connections.told(who, ask())
            except LetAgentsError:
                raise unknown from None
