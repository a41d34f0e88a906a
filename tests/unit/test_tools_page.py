"""The page of tools is what the tools say of themselves."""

from tests import tools_page


def test_the_page_of_tools_is_current() -> None:
    shown = tools_page.PAGE.read_text("utf-8")

    assert shown == tools_page.page(), "docs/how-to/tools.md is old: run scripts/tools"
