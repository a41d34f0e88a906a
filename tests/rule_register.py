"""The register of rules: each numbered sentence of domain/ and ports/, and the tests that prove it.

A rule is a line such as `L3  A dead lease is free.` in a docstring, wrapped where it is long.
A rule that no longer holds keeps its number, and its sentence begins with "Retired".
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "letagents"
PAGE = ROOT / "docs" / "rules.md"

NUMBER = re.compile(r"[A-Z][0-9]+")
STATEMENT = re.compile(r"(?P<number>[A-Z][0-9]+) {2,3}(?P<words>\S.*)")

HEAD = """\
# Rules

This page is generated: `make docs` writes it from the docstrings and the tests.
A number is never used again; a rule that no longer holds stays here as retired.
"""


@attrs.frozen
class Rule:
    """A sentence that we would defend, under its number."""

    number: str
    sentence: str
    file: str

    @property
    def is_retired(self) -> bool:
        return self.sentence.startswith("Retired")

    @property
    def place(self) -> tuple[str, int]:
        return self.number[0], int(self.number[1:])


@attrs.frozen
class Proof:
    """A test that names a rule."""

    number: str
    test: str


def stated() -> list[Rule]:
    """Return every rule of domain/ and ports/, in the order of their numbers."""
    files = _python_files(SOURCE / "domain", SOURCE / "ports")
    rules = [rule for file in files for rule in rules_in(file.read_text("utf-8"), _shown(file))]
    return sorted(rules, key=lambda rule: rule.place)


def proven() -> list[Proof]:
    """Return every naming of a rule by a test of ours or of the suites that we ship."""
    files = _python_files(ROOT / "tests", SOURCE / "testing")
    return [proof for file in files for proof in proofs_in(file.read_text("utf-8"), _shown(file))]


def rules_in(source: str, file: str) -> list[Rule]:
    """Return the rules that the docstrings of `source` state."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [
        ast.get_docstring(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented)
    ]
    return [
        Rule(number, sentence, file)
        for docstring in docstrings
        for number, sentence in _statements((docstring or "").splitlines())
    ]


def proofs_in(source: str, file: str) -> list[Proof]:
    """Return the proofs that `source` holds: the calls of `rule` that pass numbers."""
    reader = _ProofReader(file)
    reader.visit(ast.parse(source))
    return reader.found


def page(rules: Iterable[Rule], proofs: Iterable[Proof]) -> str:
    """Return the page that shows each rule with its file and its tests."""
    tests: dict[str, list[str]] = defaultdict(list)
    for proof in proofs:
        if proof.test not in tests[proof.number]:
            tests[proof.number].append(proof.test)
    lines, file = [HEAD], ""
    for rule in rules:
        if rule.file != file:
            file = rule.file
            lines.append(f"## {file}\n")
        lines.append(f"**{rule.number}** {rule.sentence}\n")
        lines.extend(f"- `{test}`" for test in sorted(tests[rule.number]))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _statements(lines: list[str]) -> Iterator[tuple[str, str]]:
    number, words = "", list[str]()
    for line in [*map(str.strip, lines), ""]:
        start = STATEMENT.fullmatch(line)
        if number and (start or not line):
            yield number, " ".join(words)
            number = ""
        if start:
            number, words = start["number"], [start["words"]]
        elif number:
            words.append(line)


class _ProofReader(ast.NodeVisitor):
    def __init__(self, file: str) -> None:
        self.found: list[Proof] = []
        self._where = [file]

    def visit_Call(self, call: ast.Call) -> None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = call.func.id if isinstance(call.func, ast.Name) else name
        if name == "rule":
            self.found.extend(Proof(number, "::".join(self._where)) for number in _numbers(call))
        self.generic_visit(call)

    def visit_FunctionDef(self, function: ast.FunctionDef) -> None:
        self._enter(function)

    def visit_AsyncFunctionDef(self, function: ast.AsyncFunctionDef) -> None:
        self._enter(function)

    def visit_ClassDef(self, suite: ast.ClassDef) -> None:
        self._enter(suite)

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._where.append(node.name)
        self.generic_visit(node)
        self._where.pop()


def _numbers(call: ast.Call) -> Iterator[str]:
    for argument in call.args:
        value = argument.value if isinstance(argument, ast.Constant) else None
        if isinstance(value, str) and NUMBER.fullmatch(value):
            yield value


def _python_files(*folders: Path) -> list[Path]:
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def _shown(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    PAGE.write_text(page(stated(), proven()), "utf-8")
