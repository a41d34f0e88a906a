"""How an agent's program is told who it is and where its supervisor answers.

(Source: supervisor 4.1, 6.14.) All of it may be seen by everybody on the machine: none is a secret.
"""

from letagents.application.agents.programs import LaunchOf
from letagents.domain import surfaces
from letagents.domain.manifest import Delivery, Entry, Execution
from letagents.domain.surfaces import Caller, Profile
from letagents.ports.providers import Launch

_PREFIX = "LETAGENTS_SUPERVISOR_"


def launcher(socket: str, tools: tuple[str, ...]) -> LaunchOf:
    """Return what says how an agent is run whose supervisor answers at `socket`.

    `tools` is the command that starts letagents for it.
    """

    def launch(entry: Entry, execution: Execution, session_id: str) -> Launch:
        named = {
            "ENTRY_ID": entry.entry_id,
            "DAEMON_SOCKET": socket,
            "WORK_ATTEMPT_ID": execution.work_attempt_id,
            "EXECUTION_GENERATION_ID": execution.execution_id,
            "AGENT_SESSION_ID": session_id,
            "ROOM_ID": entry.room_id,
            "AGENT_DISPLAY_NAME": entry.display_name,
            "PROVIDER": entry.provider,
        }
        coordinates = {f"{_PREFIX}{name}": value for name, value in named.items() if value}
        polls = entry.delivery is Delivery.POLLING
        called = Profile.SUPERVISED_MCP_POLLING if polls else Profile.SUPERVISED_ROOM_TURN
        profile = {
            "LETAGENTS_EXECUTION_PROFILE": called.value,
            "LETAGENTS_SUPERVISED_BOUNDED_TURNS": "" if polls else "1",
            "LETAGENTS_API_URL": entry.api_url,
        }
        caller = Caller(called, provider=entry.provider, api_url=entry.api_url)
        return Launch(
            workspace=entry.workspace or ".",
            tools=tools,
            coordinates=coordinates | profile,
            model=entry.model,
            enabled=surfaces.offered(caller) if polls else (),
        )

    return launch
