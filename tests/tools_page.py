"""The page of tools: what each does, who is offered it, and whether it only reads."""

from pathlib import Path

from letagents.domain.surfaces import BY_NAME, Offer, Profile, reads
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.entrypoints.mcp.visit import Visit

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "tools.md"

TABLE = """\
| tool | what it does | core | reads | turn | polling |
|---|---|---|---|---|---|
"""
"""Where the generated part begins; what stands before it is written by hand."""


def page() -> str:
    """Return the page as it should be: what is written by hand, and the table."""
    by_hand = PAGE.read_text("utf-8").partition(TABLE)[0]
    return by_hand + TABLE + "".join(_row(tool) for tool in TOOLS)


def _row(tool: Tool[Visit]) -> str:
    offer = BY_NAME[tool.name]
    marks = (
        offer.core,
        reads(tool.name),
        Profile.SUPERVISED_ROOM_TURN in offer.to,
        Profile.SUPERVISED_MCP_POLLING in offer.to,
    )
    shown = " | ".join("yes" if mark else "" for mark in marks)
    return f"| `{tool.name}` | {_line(tool, offer)} | {shown} |\n"


def _line(tool: Tool[Visit], offer: Offer) -> str:
    first = tool.purpose.partition(". ")[0].rstrip(".")
    only = f" Only for {offer.provider}." if offer.provider else ""
    return f"{first}.{only}".replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
