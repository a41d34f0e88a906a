"""The server's interface as an OpenAPI document, built from the tables of its routes."""

import re
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from typing import Any

from letagents.entrypoints.server.document.operations import JSON, OPERATIONS, Operation
from letagents.entrypoints.server.document.shapes import (
    FLAG_OR_NULL,
    INTEGER_OR_NULL,
    SHAPES,
    TEXT,
    TEXT_OR_NULL,
    Schema,
    ref,
)
from letagents.wire.http import credentials

Row = tuple[str, str, Callable[..., Any]]

_REFUSALS = {
    400: "The request is not of its form.",
    401: "Nobody is signed in, or a session is not the caller's or has ended.",
    403: "The caller may not do that.",
    404: "It is not there.",
    408: "The body was not sent in time.",
    409: "It does not fit what is there. Nothing happened.",
    410: "It has ended.",
    413: "It is too large.",
    429: "Too much was asked for lately.",
    500: "It is not known what happened.",
    501: "These rooms have no such thing.",
    503: "Nothing can be kept now. Nothing happened.",
}
_OF_ROOMS = (400, 401, 403, 404, 408, 409, 413, 429, 500, 501, 503)
_OF_READING = (400, 401, 403, 404, 409, 429, 500, 501, 503)
_OPEN = (400, 500, 503)
_CREDENTIALS: Schema = {
    "agent_session_id": TEXT_OR_NULL,
    "agent_session_token": TEXT_OR_NULL,
    "agent_session_generation": INTEGER_OR_NULL,
}


def document(rows: Iterable[Row], base_url: str) -> dict[str, Any]:
    """Return the document of the routes in `rows`."""
    paths: dict[str, dict[str, Any]] = {}
    for method, path, handler in rows:
        operation = OPERATIONS.get((method, path))
        if operation is not None:
            shown = _operation(method, path, handler, operation)
            paths.setdefault(plain_path(path), {})[method.lower()] = shown
    return {
        "openapi": "3.1.0",
        "info": {"title": "letagents rooms", "version": version("letagents")},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "schemas": SHAPES,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "letagents_session"},
            },
        },
    }


def plain_path(path: str) -> str:
    """Return a path as the document names it."""
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def _operation(
    method: str, path: str, handler: Callable[..., Any], asked: Operation
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "operationId": _name(method, path),
        "summary": (handler.__doc__ or "").strip().partition("\n")[0] or _name(method, path),
        "parameters": list(_parameters(method, path, asked)),
        "responses": _responses(method, asked),
    }
    if not asked.open_to_all:
        shown["security"] = [{"token": []}, {"session": []}]
    if asked.body is not None:
        shown["requestBody"] = {
            "required": bool(asked.body["required"]),
            "content": {JSON: {"schema": _with_credentials(asked.body, asked.acts)}},
        }
    return shown


def _name(method: str, path: str) -> str:
    words = re.findall(r"\w+", re.sub(r":path|_id", "", path))
    return "_".join([method.lower(), *words])


def _parameters(method: str, path: str, asked: Operation) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)", path):
        yield {"name": name, "in": "path", "required": True, "schema": {**TEXT, "minLength": 1}}
    for name, schema in asked.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": schema}
    if method == "GET" and "{room_id" in path:
        for header in (credentials.SESSION_ID, credentials.SESSION_TOKEN):
            yield {"name": header, "in": "header", "required": False, "schema": TEXT}


def _responses(method: str, asked: Operation) -> dict[str, Any]:
    common = _OPEN if asked.open_to_all else _OF_READING if method == "GET" else _OF_ROOMS
    found = {
        str(status): {"description": _REFUSALS[status], "content": _json(ref("Problem"))}
        for status in sorted({*common, *asked.refusals})
    }
    for status, schema in asked.answers.items():
        found[str(status)] = {"description": "It is done."} | (
            {"content": {asked.media: {"schema": schema or TEXT}}} if status != 303 else {}
        )
    return found


def _json(schema: Schema) -> dict[str, Any]:
    return {JSON: {"schema": schema}}


def _with_credentials(body: Schema, acts: str | None) -> Schema:
    if acts is None:
        return body
    of_a_person = {credentials.OF_A_PERSON: FLAG_OR_NULL} if acts == "person" else {}
    return {**body, "properties": {**body["properties"], **_CREDENTIALS, **of_a_person}}
