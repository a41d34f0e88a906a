"""The rows of the tools load nothing of the domain; where they repeat its bounds, these are its."""

from letagents.domain import messages, room_config, search
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tools.catalogue import TOOLS

BY_NAME = {tool.name: tool for tool in TOOLS}


def parameter(tool: str, name: str) -> Parameter:
    return next(one for one in BY_NAME[tool].parameters if one.name == name)


def test_a_text_is_as_long_as_a_message_may_be() -> None:
    for tool in ("send_message", "send_thread_message"):
        assert parameter(tool, "text").max_length == messages.TEXT_LIMIT


def test_a_search_is_bounded_as_in_the_domain() -> None:
    asked = "search_messages"

    assert parameter(asked, "words").max_length == search.TEXT_LIMIT
    assert parameter(asked, "author").ceiling == search.AUTHOR_LIMIT
    assert parameter(asked, "limit").maximum == search.HITS_LIMIT
    assert parameter(asked, "limit").doc == f"Default {search.HITS_DEFAULT}."
    assert parameter(asked, "cursor").ceiling == search.CURSOR_LENGTH


def test_the_file_that_chooses_a_room_is_called_by_its_name() -> None:
    assert room_config.FILE in BY_NAME["initialize_repo"].purpose
