"""All tools, in the order in which they are listed. (Source: mcp-tools 3.)"""

from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import messages, rooms, workers
from letagents.entrypoints.mcp.visit import Visit

TOOLS: tuple[Tool[Visit], ...] = (
    *rooms.JOINING,
    *workers.SESSIONS,
    *rooms.INSPECTION,
    *messages.STATUS,
    *messages.MESSAGES,
    *workers.NAMING,
    *rooms.RESUMING,
)
