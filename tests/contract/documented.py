"""Whether what a server answers is what its OpenAPI document says."""

import functools
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema  # type: ignore[import-untyped]  # it ships no types
from starlette.applications import Starlette
from starlette.routing import Match, Route

from letagents.entrypoints.server.app import ROUTES
from letagents.entrypoints.server.document.openapi import document, plain_path

Plain = dict[str, Any]


@functools.cache
def whole() -> Plain:
    """Return the document."""
    return document(ROUTES, "http://rooms.test")


def is_documented(served: Starlette, response: httpx.Response) -> None:
    """See that an answer is one of those that the document has for its route."""
    request = response.request
    path = _route(served, request) or ""
    operations = whole()["paths"].get(path, {})
    if request.method.lower() not in operations:
        return  # test_interface.py sees to it that only what is no route is not there
    answers = operations[request.method.lower()]["responses"]
    shown = f"{request.method} {path} {response.status_code}"
    assert str(response.status_code) in answers, f"{shown} is in no document"
    content = answers[str(response.status_code)].get("content", {})
    media = response.headers.get("content-type", "").partition(";")[0]
    assert media in content or not content, f"{shown} is {media}"
    if media == "application/json":
        wrong = next(_checker(path, request.method, response.status_code)(response.json()), None)
        assert wrong is None, f"{shown}: {'.'.join(map(str, wrong.absolute_path))} {wrong.message}"


def _route(served: Starlette, request: httpx.Request) -> str | None:
    scope = {"type": "http", "method": request.method, "path": request.url.path}
    for one in served.routes:
        if isinstance(one, Route) and one.matches(scope)[0] is Match.FULL:
            return plain_path(one.path)
    return None


@functools.cache
def _checker(path: str, method: str, status: int) -> Any:
    answers = whole()["paths"][path][method.lower()]["responses"]
    schema = answers[str(status)]["content"]["application/json"]["schema"]
    validator = jsonschema.Draft202012Validator({**schema, "components": whole()["components"]})

    def wrong(answer: object) -> Iterator[Any]:
        return iter(validator.iter_errors(answer))

    return wrong
