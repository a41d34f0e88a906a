"""A few rules of the house that no linter knows."""

import ast
import importlib.util
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import letagents

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "letagents"
TESTS = ROOT / "tests"

SHAPELESS = {"base", "common", "core", "helpers", "manager", "misc", "types", "utils"}
"""Names that say nothing: what would go there belongs in another room."""

UNIX_ONLY = {
    "crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "spwd",
    "syslog", "termios", "tty",
}  # fmt: skip

SUPPRESSION = re.compile(r"# (?:noqa: [A-Z0-9, ]+\b|type: ignore\[[^]]+\])(?P<reason>.*)")

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#]+)")

PACKAGES = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)

VARIABLE = re.compile(r"\bLETAGENTS_[A-Z_]*[A-Z]\b")
NO_VARIABLES = {"LETAGENTS_NO_ROOM_REPLY"}
"""What an agent answers in place of words."""


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("changes/*.md")])


def _shown(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _imports(nodes: Iterator[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when the module is imported: everything outside functions.

    What stands under a test of the platform, or of types, is left to that test.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and re.search(
            r"sys\.platform|os\.name|TYPE_CHECKING", ast.unparse(child.test)
        ):
            continue
        yield child
        yield from _at_import(child)


def test_no_module_has_a_name_that_says_nothing() -> None:
    named = {
        file: file.parent.name if file.stem == "__init__" else file.stem for file in _modules()
    }

    assert [_shown(file) for file, name in named.items() if name in SHAPELESS] == []


def test_init_files_are_empty_except_the_package_s_own() -> None:
    own = SOURCE / "__init__.py"
    folders = [file for file in _modules() if file.name == "__init__.py" and file != own]

    assert [_shown(file) for file in folders if file.read_bytes()] == []


def test_the_package_s_own_names_are_loaded_from_where_a_type_checker_finds_them() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_bytes())
    checked = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("letagents.")
        for alias in node.names
    }

    assert checked == letagents._HOMES
    assert sorted(checked) == sorted(letagents.__all__)


def test_every_module_says_in_a_sentence_what_lives_in_it() -> None:
    spoken = [file for file in _modules() if file.read_bytes()]
    docstrings = {file: ast.get_docstring(ast.parse(file.read_bytes())) for file in spoken}

    assert [_shown(file) for file, text in docstrings.items() if not text] == []


def test_every_module_can_be_imported_where_there_is_no_unix() -> None:
    found = {
        f"{_shown(file)}: {name}"
        for file in _modules()
        for name in _imports(_at_import(ast.parse(file.read_bytes())))
        if name.partition(".")[0] in UNIX_ONLY
    }

    assert found == set()


def test_every_variable_that_is_read_is_told_of() -> None:
    read = {name for file in _modules() for name in VARIABLE.findall(file.read_text("utf-8"))}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    told = {name for page in pages for name in VARIABLE.findall(page.read_text("utf-8"))}

    assert read - told - NO_VARIABLES == set()


def test_nobody_mocks() -> None:
    found = {
        _shown(file)
        for file in [*_modules(), *TESTS.rglob("*.py")]
        for name in _imports(ast.walk(ast.parse(file.read_bytes())))
        if name.startswith(("unittest.mock", "mock."))
    }

    assert found == set()


def test_every_suppression_of_a_check_says_why() -> None:
    found = [
        f"{_shown(file)}:{comment.start[0]}"
        for file in _modules()
        for comment in _comments(file)
        for suppression in SUPPRESSION.finditer(comment.string)
        if len(suppression["reason"].split()) < 3
    ]

    assert found == []


def _comments(file: Path) -> Iterator[tokenize.TokenInfo]:
    with tokenize.open(file) as lines:
        for token in tokenize.generate_tokens(lines.readline):
            if token.type == tokenize.COMMENT:
                yield token


@pytest.mark.parametrize("lock", ["run", "dev", "build"])
def test_rich_is_nowhere_that_letagents_runs(lock: str) -> None:
    pinned = PACKAGES.findall((ROOT / "requirements" / f"{lock}.txt").read_text("utf-8"))

    assert len(pinned) > 3
    assert "rich" not in pinned
    assert importlib.util.find_spec("rich") is None


def test_lock_files_name_no_place_that_packages_come_from() -> None:
    locks = {file.name: file.read_text("utf-8") for file in (ROOT / "requirements").iterdir()}

    elsewhere = re.compile(r"://|^ *-(?!-hash=)", re.MULTILINE)

    assert [name for name, text in locks.items() if elsewhere.search(text)] == []


@pytest.mark.parametrize("page", _pages(), ids=_shown)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    targets = LINK.findall(page.read_text("utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []
