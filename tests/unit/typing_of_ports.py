"""Checked by mypy, never run: each adapter plays its port, so a port's change shows here first."""

from letagents.adapters.forges import WebForges
from letagents.adapters.git import GitCheckouts, GitSurroundings
from letagents.adapters.guard.hooks import GitHooks
from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.providers.claude import ClaudeProvider
from letagents.adapters.providers.claude_conversation import ClaudeConversation
from letagents.adapters.providers.codex import CodexProvider
from letagents.adapters.providers.codex_conversation import CodexConversation
from letagents.adapters.providers.live_codex import AppServers
from letagents.adapters.providers.open_model import OpenModelProvider
from letagents.adapters.providers.opencode_conversation import OpenModelConversation
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.evidence import ToldProcesses, UnknownProcesses
from letagents.adapters.rooms.hosted.attachments import HostedAttachments
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.focus_rooms import HostedFocusRooms
from letagents.adapters.rooms.hosted.governance import HostedGovernance
from letagents.adapters.rooms.hosted.grants import HttpGrantServer
from letagents.adapters.rooms.hosted.paths import HostedPaths
from letagents.adapters.rooms.hosted.receipts import HostedReceipts
from letagents.adapters.rooms.hosted.reports import HostedReports
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.kept.activities import KeptActivities
from letagents.adapters.rooms.kept.artifacts import KeptArtifacts
from letagents.adapters.rooms.kept.attachments import KeptAttachments
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.guidelines import KeptGuidelines
from letagents.adapters.rooms.kept.knowledge import KeptKnowledge
from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.adapters.rooms.kept.reasoning import KeptReasonings
from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.adapters.rooms.kept.wakes import KeptWakes
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.memory import MemoryState
from letagents.adapters.state.sqlite import SqliteState
from letagents.adapters.supervision.hold import HomeHold
from letagents.adapters.supervision.memory import MemorySupervision
from letagents.adapters.supervision.sql import SqlSupervision
from letagents.adapters.supervisor.none import NoSupervisor
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemClock, SystemIds
from letagents.ports.activity import Reports
from letagents.ports.artifacts import Artifacts
from letagents.ports.attachments import Attachments
from letagents.ports.board import Board
from letagents.ports.clock import Clock
from letagents.ports.focus_rooms import FocusRooms
from letagents.ports.forges import Forges
from letagents.ports.governance import Governance
from letagents.ports.grant_servers import GrantServer
from letagents.ports.guard import Hooks
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.ids import Ids
from letagents.ports.knowledge import Knowledge
from letagents.ports.live_codex import LiveCodex
from letagents.ports.path_claims import PathClaims
from letagents.ports.processes import Processes
from letagents.ports.providers import Conversation, Provider
from letagents.ports.reasoning import Reasonings
from letagents.ports.receipts import Receipts
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore
from letagents.ports.supervision import Hold, Supervision
from letagents.ports.supervisor import Supervisor
from letagents.ports.surroundings import Checkouts, Surroundings
from letagents.ports.wakes import Wakes
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.testing.scripted_codex import ScriptedCodex
from letagents.testing.scripted_provider import ScriptedConversation, ScriptedProvider


def the_focus_rooms(kept: KeptFocusRooms, hosted: HostedFocusRooms) -> tuple[FocusRooms, ...]:
    return kept, hosted


def the_clocks(system: SystemClock, manual: ManualClock) -> tuple[Clock, ...]:
    return system, manual


def the_dice(system: SystemIds, counting: CountingIds) -> tuple[Ids, ...]:
    return system, counting


def the_nudges(none: NoNudges, datagram: DatagramNudges) -> tuple[Nudges, ...]:
    return none, datagram


def the_processes(
    locks: ProcessLocks, told: ToldProcesses, unknown: UnknownProcesses
) -> tuple[Processes, ...]:
    return locks, told, unknown


def the_rooms(
    memory: MemoryRooms, local: LocalRooms, hosted: HostedRooms
) -> tuple[RoomTransport, ...]:
    return memory, local, hosted


def the_grant_servers(http: HttpGrantServer) -> tuple[GrantServer, ...]:
    return (http,)


def the_stores(
    memory: MemoryState, json: JsonFileState, sqlite: SqliteState
) -> tuple[StateStore, ...]:
    return memory, json, sqlite


def the_supervisors(none: NoSupervisor, socket: SocketSupervisor) -> tuple[Supervisor, ...]:
    return none, socket


def the_journals(memory: MemorySupervision, sql: SqlSupervision) -> tuple[Supervision, ...]:
    return memory, sql


def the_holds(home: HomeHold) -> tuple[Hold, ...]:
    return (home,)


def the_surroundings(git: GitSurroundings) -> tuple[Surroundings, ...]:
    return (git,)


def the_checkouts(git: GitCheckouts) -> tuple[Checkouts, ...]:
    return (git,)


def the_forges(web: WebForges) -> tuple[Forges, ...]:
    return (web,)


def the_boards(kept: KeptBoard, hosted: HostedBoard) -> tuple[Board, ...]:
    return kept, hosted


def the_governance(kept: KeptGovernance, hosted: HostedGovernance) -> tuple[Governance, ...]:
    return kept, hosted


def what_rooms_remember(
    knowledge: KeptKnowledge,
    guidelines: KeptGuidelines,
    artifacts: KeptArtifacts,
    reasonings: KeptReasonings,
    wakes: KeptWakes,
) -> tuple[Knowledge, GuidelinesOf, Artifacts, Reasonings, Wakes]:
    return knowledge, guidelines, artifacts, reasonings, wakes


def the_files(kept: KeptAttachments, hosted: HostedAttachments) -> tuple[Attachments, ...]:
    return kept, hosted


def the_receipts(kept: KeptReceipts, hosted: HostedReceipts) -> tuple[Receipts, ...]:
    return kept, hosted


def the_path_claims(kept: KeptPaths, hosted: HostedPaths) -> tuple[PathClaims, ...]:
    return kept, hosted


def the_hooks(git: GitHooks) -> tuple[Hooks, ...]:
    return (git,)


def the_providers(
    codex: CodexProvider,
    claude: ClaudeProvider,
    open_model: OpenModelProvider,
    scripted: ScriptedProvider,
) -> tuple[Provider, ...]:
    return codex, claude, open_model, scripted


def the_conversations(
    codex: CodexConversation,
    claude: ClaudeConversation,
    open_model: OpenModelConversation,
    scripted: ScriptedConversation,
) -> tuple[Conversation, ...]:
    return codex, claude, open_model, scripted


def the_codexes(servers: AppServers, scripted: ScriptedCodex) -> tuple[LiveCodex, ...]:
    return servers, scripted


def the_reports(kept: KeptActivities, hosted: HostedReports) -> tuple[Reports, ...]:
    return kept, hosted
