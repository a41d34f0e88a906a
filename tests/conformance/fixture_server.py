"""What the conformance suite wants of a server, on top of our own, over HTTP: it speaks no stdio.

`python -m tests.conformance.fixture_server` serves the fixtures; with `--plain`, what
`letagents mcp` serves, in the home that LETAGENTS_HOME names. Lists of tools, calls, errors,
progress, resources and their notices go through the code that `letagents mcp` runs.
"""

import argparse
import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import attrs
import uvicorn
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.subscriptions import PromptsListChanged, ServerEvent, ToolsListChanged
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ClientCapabilities,
    CompleteRequestParams,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitResult,
    GetPromptRequestParams,
    ListRootsResult,
    ListToolsResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from mcp_types import Tool as ListedTool

from letagents.domain.errors import NotAvailable
from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.opening import Opening
from letagents.entrypoints.mcp.resources import serve_resources
from letagents.entrypoints.mcp.server import build_server
from letagents.entrypoints.mcp.surface import readiness, tools_of
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.entrypoints.mcp.visit import Visit
from letagents.entrypoints.mcp.watches import Watches
from letagents.settings import load
from letagents.wiring.client import open_letagents

Plain = dict[str, Any]
Context = ServerRequestContext[Any]
Handler = Callable[[Context, CallToolRequestParams], Awaitable[Plain]]

CAPABILITY_MISSING = -32021
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
STATE_KEY = b"only for these tests"

bus = InMemorySubscriptionBus()


# --- our own tools: these two go all the way through our table -----------------------------------


async def fail(_visit: Visit, _arguments: Mapping[str, object], _progress: Progress) -> Plain:
    raise NotAvailable("This tool intentionally returns an error for testing.", remedy="Expect it.")


async def steps(_visit: Visit, _arguments: Mapping[str, object], progress: Progress) -> Plain:
    for done in (0, 50, 100):
        await progress(done, 100)
        await asyncio.sleep(0.05)
    return {"done": True}


def ours(name: str, run: Any) -> Tool[Visit]:
    return Tool(
        name=name,
        purpose=f"Do {name}.",
        result={"type": "object"},
        read_only=True,
        idempotent=True,
        open_world=False,
        run=run,
    )


OURS = (ours("test_error_handling", fail), ours("test_tool_with_progress", steps))


# --- fixtures whose results no tool of ours has ---------------------------------------------------


def text(words: str) -> Plain:
    return {"type": "text", "text": words}


def done(*content: Plain) -> Plain:
    return {"content": list(content), "isError": False, "resultType": "complete"}


def embedded(uri: str, kind: str, words: str) -> Plain:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


IMAGE: Plain = {"type": "image", "data": PNG, "mimeType": "image/png"}
SAID = {
    "test_simple_text": (text("This is a simple text response for testing."),),
    "test_image_content": (IMAGE,),
    "test_audio_content": ({"type": "audio", "data": WAV, "mimeType": "audio/wav"},),
    "test_embedded_resource": (
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ),
    "test_multiple_content_types": (
        text("Multiple content types test:"),
        IMAGE,
        embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ),
}


def form(**properties: Plain) -> Plain:
    return {"type": "object", "properties": properties, "required": list(properties)}


def choices(*names: str, key: str = "title") -> list[Plain]:
    return [{"const": f"value{n}", key: name} for n, name in enumerate(names, 1)]


OPTIONS = ["option1", "option2", "option3"]
FORMS: dict[str, Plain] = {
    "test_elicitation": form(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    ),
    "test_elicitation_sep1034_defaults": form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    ),
    "test_elicitation_sep1330_enums": form(
        untitledSingle={"type": "string", "enum": OPTIONS},
        titledSingle={"type": "string", "oneOf": choices("First Option", "Second Option")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        titledMulti={
            "type": "array",
            "items": {"anyOf": choices("First Choice", "Second Choice")},
        },
    ),
}


async def elicit(context: Context, params: CallToolRequestParams) -> Plain:
    message = str((params.arguments or {}).get("message", "Please answer."))
    answer = await context.session.elicit_form(
        message, FORMS[params.name], related_request_id=context.request_id
    )
    return done(
        text(f"Elicitation completed: action={answer.action}, content={answer.content}"),
    )


async def sample(context: Context, params: CallToolRequestParams) -> Plain:
    prompt = str((params.arguments or {}).get("prompt"))
    said = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await context.session.send_request(
        CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=100)),
        CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=context.request_id),
    )
    return done(text(f"LLM response: {spoken(answer)}"))


async def speak(context: Context, _params: CallToolRequestParams) -> Plain:
    """Log three lines, where the client wants to hear them."""
    if not hears_logs(context):
        return done(text("nothing logged"))
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        told = LoggingMessageNotificationParams(level="info", data=words)
        await context.session.send_notification(
            LoggingMessageNotification(params=told), related_request_id=context.request_id
        )
        await asyncio.sleep(0.05)
    return done(text("logged"))


def hears_logs(context: Context) -> bool:
    asked = (context.meta or {}).get("io.modelcontextprotocol/logLevel")
    return context.protocol_version != "2026-07-28" or asked is not None


async def need_sampling(context: Context, _params: CallToolRequestParams) -> Plain:
    if not context.session.check_client_capability(ClientCapabilities.model_validate(SAMPLING)):
        raise MCPError(
            code=CAPABILITY_MISSING,
            message="This needs the capability to sample.",
            data={"requiredCapabilities": SAMPLING},
        )
    return done(text("sampling is there"))


SAMPLING: Plain = {"sampling": {}}


def announcing(event: ServerEvent) -> Handler:
    async def announce(_context: Context, _params: CallToolRequestParams) -> Plain:
        await bus.publish(event)
        return done(text("announced"))

    return announce


# --- answers that take several rounds -------------------------------------------------------------


def asking(message: str, **properties: Plain) -> Plain:
    params = {"message": message, "mode": "form", "requestedSchema": form(**properties)}
    return {"method": "elicitation/create", "params": params}


def sampling(words: str, most: int) -> Plain:
    said = {"role": "user", "content": text(words)}
    return {"method": "sampling/createMessage", "params": {"messages": [said], "maxTokens": most}}


TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
ROOTS: Plain = {"method": "roots/list", "params": {}}
NAME = asking("What is your name?", name=TEXT)
GREETING = sampling("Generate a greeting", 50)


@attrs.frozen
class Rounds:
    """What is asked in each round, and whether a state goes back and forth."""

    asked: tuple[dict[str, Plain], ...]
    has_state: bool = False


ROUNDS = {
    "test_input_required_result_elicitation": Rounds(({"user_name": NAME},)),
    "test_input_required_result_sampling": Rounds(
        ({"capital_question": sampling("What is the capital of France?", 100)},)
    ),
    "test_input_required_result_list_roots": Rounds(({"client_roots": ROOTS},)),
    "test_input_required_result_request_state": Rounds(
        ({"confirm": asking("Please confirm", ok=FLAG)},), has_state=True
    ),
    "test_input_required_result_tampered_state": Rounds(
        ({"confirm": asking("Please confirm", ok=FLAG)},), has_state=True
    ),
    "test_input_required_result_multiple_inputs": Rounds(
        ({"user_name": NAME, "greeting": GREETING, "client_roots": ROOTS},), has_state=True
    ),
    "test_input_required_result_multi_round": Rounds(
        (
            {"step1": asking("Step 1: What is your name?", name=TEXT)},
            {"step2": asking("Step 2: What is your favorite color?", color=TEXT)},
        ),
        has_state=True,
    ),
    "test_input_required_result_capabilities": Rounds(({"user_name": NAME, "greeting": GREETING},)),
    "test_streaming_elicitation": Rounds(({"user_name": NAME},)),
}
PROMPT_ROUNDS = Rounds(
    ({"user_context": asking("What context should the prompt use?", context=TEXT)},)
)
NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling"}


def required(context: Context, params: Any, rounds: Rounds, name: str) -> Plain | None:
    """Return what is still to be asked; None when all is answered."""
    number = round_of(name, params.request_state) if rounds.has_state else 0
    answers = params.input_responses or {}
    if set(answers) >= set(rounds.asked[number]):
        number += 1
        if number == len(rounds.asked):
            return None
    capabilities = context.session.client_capabilities
    asked = {
        key: request
        for key, request in rounds.asked[number].items()
        if name != "test_input_required_result_capabilities"
        or getattr(capabilities, NEEDS.get(request["method"], "roots"), None) is not None
    }
    state = {"requestState": signed(f"{name} {number}")} if rounds.has_state else {}
    return {"resultType": "input_required", "inputRequests": asked, **state}


def signed(state: str) -> str:
    return f"{state}:{hmac.new(STATE_KEY, state.encode(), hashlib.sha256).hexdigest()}"


def round_of(name: str, state: str | None) -> int:
    if state is None:
        return 0
    plain = state.rpartition(":")[0]
    if not hmac.compare_digest(signed(plain).encode(), state.encode()):
        raise MCPError(code=INVALID_PARAMS, message="The requestState is not one of ours.")
    return int(plain.removeprefix(f"{name} "))


async def in_rounds(context: Context, params: CallToolRequestParams) -> Plain:
    left = required(context, params, ROUNDS[params.name], params.name)
    if left is not None:
        return left
    answers = (params.input_responses or {}).values()
    return done(text(f"state-ok {' '.join(spoken(answer) for answer in answers)}"))


def spoken(answer: object) -> str:
    """Return what a client answered, as words."""
    match answer:
        case ElicitResult(content=dict() as content):
            return f"Hello, {content.get('name', content)}!"
        case CreateMessageResult(content=TextContent(text=words)):
            return words
        case ListRootsResult(roots=roots):
            return ", ".join(str(root.uri) for root in roots)
        case _:
            return "nothing"


TOOLS: dict[str, Handler] = {
    **dict.fromkeys(FORMS, elicit),
    **dict.fromkeys(ROUNDS, in_rounds),
    "test_sampling": sample,
    "test_tool_with_logging": speak,
    "test_logging_tool": speak,
    "test_missing_capability": need_sampling,
    "test_trigger_tool_change": announcing(ToolsListChanged()),
    "test_trigger_prompt_change": announcing(PromptsListChanged()),
}
STRICT: Plain = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": TEXT, "city": TEXT},
        }
    },
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
SCHEMAS: dict[str, Plain] = {
    "test_elicitation": form(message=TEXT),
    "test_sampling": form(prompt=TEXT),
    "json_schema_2020_12_tool": STRICT,
}


# --- prompts and resources ------------------------------------------------------------------------


def argument(name: str) -> Plain:
    return {"name": name, "description": f"The {name}.", "required": True}


PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": [argument("arg1"), argument("arg2")],
    "test_prompt_with_embedded_resource": [argument("resourceUri")],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


async def list_prompts(_context: Context, _params: PaginatedRequestParams) -> Plain:
    listed = [
        {"name": name, "description": f"Prompt {name}.", "arguments": arguments}
        for name, arguments in PROMPTS.items()
    ]
    return {"prompts": listed, "resultType": "complete", **UNCACHED}


async def get_prompt(context: Context, params: GetPromptRequestParams) -> Plain:
    given = params.arguments or {}
    if params.name == "test_input_required_result_prompt":
        left = required(context, params, PROMPT_ROUNDS, params.name)
        if left is not None:
            return left
    said: dict[str, list[Plain]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(
                given.get("resourceUri", "test://none"),
                "text/plain",
                "Embedded resource content for testing.",
            ),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [IMAGE, text("Please analyze the image above.")],
        "test_input_required_result_prompt": [text("The context is there.")],
    }
    if params.name not in said:
        raise MCPError(code=INVALID_PARAMS, message=f"There is no prompt {params.name}.")
    messages = [{"role": "user", "content": content} for content in said[params.name]]
    return {"messages": messages, "resultType": "complete"}


UNCACHED: Plain = {"ttlMs": 0, "cacheScope": "private"}
WATCHED = "test://watched-resource"
STATIC: dict[str, Plain] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    WATCHED: {"mimeType": "text/plain", "text": "watched"},
}


def resource(uri: str) -> Plain | None:
    """Return the content of a fixture."""
    if uri in STATIC:
        return {"uri": uri, **STATIC[uri]}
    number = uri.removeprefix("test://template/").removesuffix("/data")
    if uri != f"test://template/{number}/data":
        return None
    words = f'{{"id":"{number}","templateTest":true,"data":"Data for ID: {number}"}}'
    return {"uri": uri, "mimeType": "application/json", "text": words}


def fixtures() -> Server[Any]:
    """Return our server with the suite's fixtures beside what it has."""
    server = build_server(OURS, cast("Opening[Visit]", Opening.of(None)), version="1")
    serve_resources(server, readiness(Caller()), Opening.of(None))
    add_fixtures(server)
    return server


def add_fixtures(server: Server[Any]) -> None:
    """Put the suite's fixtures beside what a server has."""
    add_tools(server)
    add_resources(server)
    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)
    server.add_request_handler("completion/complete", CompleteRequestParams, complete)
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, nothing)
    server.add_request_handler(
        "subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(bus)
    )


def entry(server: Server[Any], method: str) -> Callable[[Context, Any], Awaitable[Any]]:
    """Return the handler that our own code gave the server."""
    found = server.get_request_handler(method)
    assert found is not None
    return cast(Callable[[Context, Any], Awaitable[Any]], found.handler)


def add_tools(server: Server[Any]) -> None:
    list_ours, call_ours = entry(server, "tools/list"), entry(server, "tools/call")
    names = (*SAID, *TOOLS, "json_schema_2020_12_tool")
    more = [
        ListedTool(
            name=name,
            description=f"Do {name}.",
            input_schema=SCHEMAS.get(name, {"type": "object", "properties": {}}),
        )
        for name in names
    ]

    async def list_tools(context: Context, params: PaginatedRequestParams) -> ListToolsResult:
        return ListToolsResult(tools=[*(await list_ours(context, params)).tools, *more])

    async def call_tool(context: Context, params: CallToolRequestParams) -> Any:
        if params.name in SAID:
            return done(*SAID[params.name])
        handler: Handler = TOOLS.get(params.name) or call_ours
        return await handler(context, params)

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)


def add_resources(server: Server[Any]) -> None:
    list_ours, read_ours = entry(server, "resources/list"), entry(server, "resources/read")
    subscribe_ours = entry(server, "resources/subscribe")

    async def list_resources(context: Context, params: PaginatedRequestParams) -> Plain:
        listed = (await list_ours(context, params)).model_dump(by_alias=True, exclude_none=True)
        more = [
            {"uri": uri, "name": uri[7:], "description": uri[7:], "mimeType": one["mimeType"]}
            for uri, one in STATIC.items()
        ]
        return {**listed, "resources": [*listed["resources"], *more]}

    async def read_resource(context: Context, params: ReadResourceRequestParams) -> Any:
        content = resource(str(params.uri))
        if content is None:
            return await read_ours(context, params)
        return {"contents": [content], "resultType": "complete", **UNCACHED}

    async def subscribe(context: Context, params: SubscribeRequestParams) -> Any:
        return {} if params.uri == WATCHED else await subscribe_ours(context, params)

    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, nothing)


async def complete(_context: Context, _params: CompleteRequestParams) -> Plain:
    completion = {"values": ["paris", "park", "party"], "total": 150, "hasMore": False}
    return {"completion": completion, "resultType": "complete"}


async def nothing(_context: Context, _params: object) -> Plain:
    return {}


# --- serving --------------------------------------------------------------------------------------


@asynccontextmanager
async def plain() -> AsyncIterator[Server[Any]]:
    """Open what `letagents mcp` serves, in the home that the environment names."""
    settings = load()
    async with (
        open_letagents(settings) as letagents,
        letagents.client() as client,
        anyio.create_task_group() as tasks,
    ):
        visit = Visit(client, watches=Watches(client.messages, tasks))
        server = build_server(tools_of(settings.caller), Opening.of(visit), version="1")
        serve_resources(server, readiness(settings.caller), Opening.of(visit))
        yield server
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def with_fixtures() -> AsyncIterator[Server[Any]]:
    yield fixtures()


async def serve(port: int, opened: Callable[[], Any], ready: Path | None) -> None:
    async with opened() as server:
        app = server.streamable_http_app()
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
        web = uvicorn.Server(config)
        [listening] = sockets = [config.bind_socket()]
        if ready is not None:
            ready.write_text(str(listening.getsockname()[1]))
        await web.serve(sockets=sockets)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0, help="0 takes any")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--ready", type=Path, help="a file that is told the port")
    given = parser.parse_args()
    asyncio.run(serve(given.port, plain if given.plain else with_fixtures, given.ready))


if __name__ == "__main__":
    main()
