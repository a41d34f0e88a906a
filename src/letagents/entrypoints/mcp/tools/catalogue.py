"""All tools that there are, in the order in which they are listed. (Source: mcp-tools 3.)

Who is offered which of them: domain/surfaces.py, where a new tool needs its line too.
"""

from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import (
    artifacts,
    board,
    codex,
    governance,
    knowledge,
    listening,
    onboarding,
    paths,
    reasoning,
    repository,
    rooms,
    search,
    speaking,
    unavailable,
    wakes,
    workers,
)
from letagents.entrypoints.mcp.visit import Visit

TOOLS: tuple[Tool[Visit], ...] = (
    # 1 entering rooms
    *rooms.JOINING,
    # 2 sessions of agents
    *workers.SESSIONS,
    *codex.CODEX,
    # 3 where one is
    *rooms.INSPECTION,
    *repository.INSPECTION,
    # 4 what a room knows
    *knowledge.KNOWLEDGE,
    # 5 wake rules
    *wakes.WAKES,
    # 6 status and reasoning
    *speaking.STATUS,
    *reasoning.REASONING,
    # 7 workspace capture
    *unavailable.CAPTURE,
    # 8 tasks, then claimed paths
    *board.ADDING,
    *governance.GOVERNING,
    *artifacts.EVENTS_AND_ARTIFACTS,
    *board.WORKING,
    *paths.PATHS,
    # 9 setting a repository up
    *repository.SETTING_UP,
    # 10 messages, then search
    *speaking.SPEAKING,
    *listening.LISTENING,
    *search.SEARCH,
    # 11 and 12 a supervised turn
    *unavailable.TURN,
    # 13 onboarding
    *onboarding.ONBOARDING,
    *workers.NAMING,
    # 14 coming back
    *rooms.RESUMING,
    # 15 is not used
    # 16 a repository's visibility
    *repository.VISIBILITY,
)
