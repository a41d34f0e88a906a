"""What somebody makes up who knows the OpenAPI document: no answer is a failure or outside of it.

Schemathesis brings rich, which must not be where the other tests run: it has an environment of its
own, which `make test-long` sets up.
"""

import copy
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from tests.contract.callers import World, world
from tests.integration.listening import listening

from letagents.entrypoints.server.app import ROUTES
from letagents.entrypoints.server.document.openapi import document

pytestmark = [pytest.mark.anyio, pytest.mark.long]

Plain = dict[str, Any]

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / ".venv-fuzz" / ("Scripts" if sys.platform == "win32" else "bin") / "schemathesis"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
CONFIG = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501, 503]
"""
ENDING = "/(disconnect|logout)$"
"""After these the session that is shown would be none."""


@pytest.fixture
async def served() -> AsyncIterator[World]:
    async with world() as made:
        yield made


def known_by(made: World) -> Plain:
    """Return the document, with the things that are there as all that can be named."""
    shown = copy.deepcopy(document(ROUTES, "http://rooms.test"))
    own = made.callers["worker"]
    named = {name.partition(":")[0]: [value] for name, value in made.named.items()}
    named["record_id"].append(made.named["attention_id"])
    for operation in (one for path in shown["paths"].values() for one in path.values()):
        for parameter in operation["parameters"]:
            if parameter["in"] == "path" and parameter["name"] in named:
                parameter["schema"] = {"enum": named[parameter["name"]]}
        body = operation.get("requestBody", {}).get("content", {})
        fields = body.get("application/json", {}).get("schema", {}).get("properties", {})
        if "agent_session_token" in fields:
            fields["agent_session_id"] = {"enum": [own.session_id]}
            fields["agent_session_token"] = {"enum": [own.secret]}
            fields.pop("agent_session_generation", None)
    return shown


async def fuzzed(made: World, shown: Plain, folder: Path, *more: str) -> None:
    """Let a server be asked what its document allows, and what it does not."""
    if not PROGRAM.exists():
        pytest.skip("`make test-long` sets up schemathesis")
    (folder / "schemathesis.toml").write_text(CONFIG, "utf-8")
    (folder / "openapi.json").write_bytes(orjson.dumps(shown))
    async with listening(made.ends) as url:
        command = [
            *(str(PROGRAM), "run", "openapi.json", "--url", url, "--no-color"),
            *(
                "--checks",
                ",".join(CHECKS),
                "--max-examples",
                "10",
                "--no-shrink",
                "--warnings",
                "off",
            ),
            *("--phases", "examples,coverage,fuzzing", "--generation-deterministic", *more),
        ]
        with anyio.fail_after(900):
            done = await anyio.run_process(command, cwd=folder, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-20_000:]


async def test_nobody_gets_an_answer_that_is_in_no_document(served: World, tmp_path: Path) -> None:
    await fuzzed(served, document(ROUTES, "http://rooms.test"), tmp_path)


@pytest.mark.parametrize("who", ["member", "admin"])
async def test_an_account_gets_no_answer_that_is_in_no_document(
    served: World, tmp_path: Path, who: str
) -> None:
    token = f"Authorization: Bearer {served.callers[who].token}"

    await fuzzed(served, document(ROUTES, "http://rooms.test"), tmp_path, "--header", token)


async def test_a_worker_gets_no_answer_that_is_in_no_document(
    served: World, tmp_path: Path
) -> None:
    shown = [f"{name}: {value}" for name, value in served.callers["worker"].headers.items()]
    headers = [part for one in shown for part in ("--header", one)]

    await fuzzed(served, known_by(served), tmp_path, *headers, "--exclude-path-regex", ENDING)
