"""The application of the everything server: what the scenarios of the official conformance suite call.

The same code serves clients of both eras: a tool that needs input gives an `Ask`, and is called again with the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from secrets import token_bytes
from typing import Any

import attrs

from mcp_sansio import LEGACY_REVISIONS, CapabilityError, Change, ErrorCode, Event, RequestReceived, ServerConnection
from mcp_sansio import types as t
from mcp_sansio.helpers import StateError, open_state, seal_state

INFO = t.Implementation("everything", "1.0", title="The everything server of mcp_sansio")
CAPABILITIES = t.ServerCapabilities(
    tools=t.ToolsCapability(list_changed=True),
    resources=t.ResourcesCapability(subscribe=True, list_changed=True),
    prompts=t.PromptsCapability(list_changed=True),
    completions={},
    logging={},
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

KEY = token_bytes(32)
MINUTES = 10 * 60.0


class Refused(Exception):
    """The request gets an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


@attrs.frozen
class Ask:
    """What a tool or prompt needs to know first.

    Attributes:
        requests: what to ask the client for, by key.
        state: what to get back with the answers.
    """

    requests: dict[str, t.InputRequest]
    state: dict[str, Any] = attrs.Factory(dict)


@attrs.frozen
class Call:
    """A call of a tool or a prompt.

    Attributes:
        event: the request, perhaps for a second time, with answers.
        server: its connection.
        app: the application.
    """

    event: RequestReceived
    server: ServerConnection
    app: Everything

    @property
    def request(self) -> t.CallToolRequest | t.GetPromptRequest:
        """The request."""
        assert isinstance(self.event.request, t.CallToolRequest | t.GetPromptRequest)
        return self.event.request

    @property
    def arguments(self) -> dict[str, Any]:
        """Its arguments."""
        return dict(self.request.arguments or {})

    def answer(self, key: str) -> Any:
        """The client's answer to the question *key*; None while there is none."""
        return (self.request.input_responses or {}).get(key)

    def state(self) -> dict[str, Any]:
        """The state that came with the answers; empty while there are none."""
        sealed = self.request.request_state
        if sealed is None:
            return {}
        try:
            return open_state(sealed, keys=[KEY], now=time.time(), principal="", request=self.request)
        except StateError as error:
            raise Refused(ErrorCode.INVALID_PARAMS, f"requestState is refused: {error}") from None


Answer = str | list[t.ContentBlock] | t.CallToolResult | list[t.PromptMessage] | Ask
Function = Callable[[Call], Answer]

TOOLS: dict[str, tuple[t.Tool, Function]] = {}
PROMPTS: dict[str, tuple[t.Prompt, Function]] = {}


def schema(required: dict[str, Any] | None = None) -> dict[str, Any]:
    """The JSON Schema of an object with these members, all of them required."""
    members = required or {}
    return {"type": "object", "properties": members, "required": list(members)}


def tool(description: str, input_schema: dict[str, Any] | None = None) -> Callable[[Function], Function]:
    """Make a function a tool of its name."""

    def add(function: Function) -> Function:
        name = function.__name__
        TOOLS[name] = (t.Tool(name, input_schema or schema(), description=description), function)
        return function

    return add


def prompt(description: str, *arguments: str) -> Callable[[Function], Function]:
    """Make a function a prompt of its name, whose arguments are all required."""

    def add(function: Function) -> Function:
        name = function.__name__
        takes = [t.PromptArgument(each, description=f"The {each}", required=True) for each in arguments] or None
        PROMPTS[name] = (t.Prompt(name, description=description, arguments=takes), function)
        return function

    return add


TEXT = {"type": "string"}


# Tools that give content


@tool("Gives a text")
def test_simple_text(call: Call) -> Answer:
    return "This is a simple text response for testing."


@tool("Gives an image")
def test_image_content(call: Call) -> Answer:
    return [t.ImageContent(PNG, "image/png")]


@tool("Gives a sound")
def test_audio_content(call: Call) -> Answer:
    return [t.AudioContent(WAV, "audio/wav")]


@tool("Gives a resource")
def test_embedded_resource(call: Call) -> Answer:
    text = "This is an embedded resource content."
    return [t.EmbeddedResource(t.TextResourceContents("test://embedded-resource", text, "text/plain"))]


@tool("Gives a text, an image and a resource")
def test_multiple_content_types(call: Call) -> Answer:
    contents = t.TextResourceContents("test://mixed-content-resource", '{"test":"data"}', "application/json")
    return [
        t.TextContent("Multiple content types test:"),
        t.ImageContent(PNG, "image/png"),
        t.EmbeddedResource(contents),
    ]


@tool("Fails")
def test_error_handling(call: Call) -> Answer:
    return t.CallToolResult([t.TextContent("This tool intentionally returns an error for testing")], is_error=True)


@tool(
    "Tool with JSON Schema 2020-12 features",
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": TEXT, "city": TEXT}}},
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
    },
)
def json_schema_2020_12_tool(call: Call) -> Answer:
    return f"JSON Schema 2020-12 tool called with {call.arguments}"


@tool("Has arguments that are mirrored in headers", schema({"region": {"type": "string", "x-mcp-header": "Region"}}))
def test_parameter_headers(call: Call) -> Answer:
    return f"Region: {call.arguments['region']}"


# Tools that talk while they work


@tool("Reports progress")
def test_tool_with_progress(call: Call) -> Answer:
    for done in (0, 50, 100):
        call.server.progress(call.event.id, done, 100, f"Completed step {done} of 100")
        time.sleep(0.05)
    return "Progress: 100"


@tool("Logs")
def test_tool_with_logging(call: Call) -> Answer:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        call.server.log("info", text, related=call.event.id)
        time.sleep(0.05)
    return "Tool with logging executed successfully"


@tool("Logs, where the request asks for it")
def test_logging_tool(call: Call) -> Answer:
    return test_tool_with_logging(call)


@tool("Takes longer than the server keeps the response open")
def test_reconnection(call: Call) -> Answer:
    time.sleep(2 * call.app.patience)
    return "Reconnection test completed successfully"


@tool("Tells that the list of tools has changed")
def test_trigger_tool_change(call: Call) -> Answer:
    call.app.publish(t.ToolListChangedNotification())
    return "Tool list changed"


@tool("Tells that the list of prompts has changed")
def test_trigger_prompt_change(call: Call) -> Answer:
    call.app.publish(t.PromptListChangedNotification())
    return "Prompt list changed"


# Tools that need input


def form(message: str, *names: str, **properties: t.PrimitiveSchemaDefinition) -> t.ElicitRequestFormParams:
    """A form with these properties; those that only have a name are strings, and required."""
    strings: dict[str, t.PrimitiveSchemaDefinition] = {name: t.StringSchema() for name in names}
    return t.ElicitRequestFormParams(message, t.RequestedSchema({**strings, **properties}, list(names) or None))


def sample(text: str) -> t.CreateMessageRequest:
    """A question to the client's model."""
    return t.CreateMessageRequest([t.SamplingMessage("user", t.TextContent(text))], 100)


def said(result: t.CreateMessageResult) -> str:
    """What the model said."""
    contents = result.content if isinstance(result.content, list) else [result.content]
    return " ".join(content.text for content in contents if isinstance(content, t.TextContent))


def filled_in(result: t.ElicitResult) -> str:
    """What the user did with a form."""
    return f"action={result.action}, content={result.content or {}}"


@tool("Asks the client's model", schema({"prompt": TEXT}))
def test_sampling(call: Call) -> Answer:
    answer = call.answer("model")
    if answer is None:
        return Ask({"model": sample(call.arguments["prompt"])})
    return f"LLM response: {said(answer)}"


@tool("Needs a client with a model")
def test_missing_capability(call: Call) -> Answer:
    answer = call.answer("model")
    return Ask({"model": sample("Say hello")}) if answer is None else f"LLM response: {said(answer)}"


def asks(name: str, description: str, request: Callable[[Call], t.ElicitRequestFormParams], **schemas: Any) -> None:
    """Add a tool that asks the user, and says what the user did."""

    def function(call: Call) -> Answer:
        answer = call.answer("user")
        return Ask({"user": request(call)}) if answer is None else f"User response: {filled_in(answer)}"

    function.__name__ = name
    tool(description, schema(schemas))(function)


def options(*names: str) -> list[t.EnumOption]:
    """Options with a title."""
    return [t.EnumOption(name, name.capitalize()) for name in names]


STEPS = ["option1", "option2", "option3"]
asks(
    "test_elicitation",
    "Asks the user for name and address",
    lambda call: form(call.arguments["message"], "username", "email"),
    message=TEXT,
)
asks("test_streaming_elicitation", "Asks the user", lambda call: form("Go on?", ok=t.BooleanSchema()))
asks(
    "test_elicitation_sep1034_defaults",
    "Asks the user, with defaults",
    lambda call: form(
        "Please check these values",
        name=t.StringSchema(default="John Doe"),
        age=t.NumberSchema("integer", default=30),
        score=t.NumberSchema("number", default=95.5),
        status=t.UntitledSingleSelectEnumSchema(["active", "inactive", "pending"], default="active"),
        verified=t.BooleanSchema(default=True),
    ),
)
asks(
    "test_elicitation_sep1330_enums",
    "Asks the user to choose",
    lambda call: form(
        "Please choose",
        untitledSingle=t.UntitledSingleSelectEnumSchema(STEPS),
        titledSingle=t.TitledSingleSelectEnumSchema(options("value1", "value2", "value3")),
        legacyEnum=t.LegacyTitledEnumSchema(["opt1", "opt2", "opt3"], ["Option One", "Option Two", "Option Three"]),
        untitledMulti=t.UntitledMultiSelectEnumSchema(t.UntitledItems(STEPS)),
        titledMulti=t.TitledMultiSelectEnumSchema(t.TitledItems(options("value1", "value2", "value3"))),
    ),
)


@tool("Asks for a name")
def test_input_required_result_elicitation(call: Call) -> Answer:
    answer = call.answer("user_name")
    if not isinstance(answer, t.ElicitResult):
        return Ask({"user_name": form("What is your name?", "name")})
    return f"Hello, {(answer.content or {}).get('name', 'stranger')}!"


@tool("Asks the client's model for a capital")
def test_input_required_result_sampling(call: Call) -> Answer:
    answer = call.answer("capital_question")
    if not isinstance(answer, t.CreateMessageResult):
        return Ask({"capital_question": sample("What is the capital of France?")})
    return f"The model said: {said(answer)}"


@tool("Asks for the client's roots")
def test_input_required_result_list_roots(call: Call) -> Answer:
    answer = call.answer("client_roots")
    if not isinstance(answer, t.ListRootsResult):
        return Ask({"client_roots": t.ListRootsRequest()})
    return f"Roots: {', '.join(root.uri for root in answer.roots)}"


@tool("Wants its state back")
def test_input_required_result_request_state(call: Call) -> Answer:
    if call.answer("confirm") is None or call.state() != {"asked": "confirm"}:
        return Ask({"confirm": form("Please confirm", ok=t.BooleanSchema())}, {"asked": "confirm"})
    return "state-ok"


@tool("Refuses a state that was changed")
def test_input_required_result_tampered_state(call: Call) -> Answer:
    return test_input_required_result_request_state(call)


@tool("Asks for three things at once")
def test_input_required_result_multiple_inputs(call: Call) -> Answer:
    questions: dict[str, t.InputRequest] = {
        "user_name": form("What is your name?", "name"),
        "greeting": sample("Write a greeting"),
        "client_roots": t.ListRootsRequest(),
    }
    if any(call.answer(key) is None for key in questions) or not call.state():
        return Ask(questions, {"asked": sorted(questions)})
    return f"Got {', '.join(questions)}"


@tool("Asks twice")
def test_input_required_result_multi_round(call: Call) -> Answer:
    state = call.state()
    if call.answer("step2") is not None and state.get("round") == 2:
        return f"Done: {state['name']}"
    if call.answer("step1") is not None and state.get("round") == 1:
        name = (call.answer("step1").content or {}).get("name")
        return Ask({"step2": form("What is your favourite color?", "color")}, {"round": 2, "name": name})
    return Ask({"step1": form("What is your name?", "name")}, {"round": 1})


@tool("Asks only for what the client declared")
def test_input_required_result_capabilities(call: Call) -> Answer:
    declared = call.event.client_capabilities
    questions: dict[str, t.InputRequest] = {}
    if declared.sampling is not None:
        questions["greeting"] = sample("Write a greeting")
    if declared.elicitation is not None:
        questions["user_name"] = form("What is your name?", "name")
    if declared.roots is not None:
        questions["client_roots"] = t.ListRootsRequest()
    missing = {key: asked for key, asked in questions.items() if call.answer(key) is None}
    return Ask(missing) if missing else f"Got {', '.join(questions) or 'nothing'}"


# Prompts


def user(*contents: t.ContentBlock) -> list[t.PromptMessage]:
    """Messages of the user."""
    return [t.PromptMessage("user", content) for content in contents]


@prompt("A simple prompt")
def test_simple_prompt(call: Call) -> Answer:
    return user(t.TextContent("This is a simple prompt for testing."))


@prompt("A prompt with arguments", "arg1", "arg2")
def test_prompt_with_arguments(call: Call) -> Answer:
    given = call.arguments
    return user(t.TextContent(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))


@prompt("A prompt with a resource", "resourceUri")
def test_prompt_with_embedded_resource(call: Call) -> Answer:
    contents = t.TextResourceContents(call.arguments["resourceUri"], "Embedded resource content.", "text/plain")
    return user(t.EmbeddedResource(contents), t.TextContent("Please process the embedded resource above."))


@prompt("A prompt with an image")
def test_prompt_with_image(call: Call) -> Answer:
    return user(t.ImageContent(PNG, "image/png"), t.TextContent("Please analyze the image above."))


@prompt("A prompt that asks the user first")
def test_input_required_result_prompt(call: Call) -> Answer:
    answer = call.answer("user_context")
    if not isinstance(answer, t.ElicitResult):
        return Ask({"user_context": form("What is it about?", "context")})
    return user(t.TextContent(f"Context: {(answer.content or {}).get('context', 'none')}"))


# Resources

RESOURCES = [
    t.Resource("static-text", "test://static-text", description="A text", mime_type="text/plain"),
    t.Resource("static-binary", "test://static-binary", description="An image", mime_type="image/png"),
    t.Resource("watched-resource", "test://watched-resource", description="A text", mime_type="text/plain"),
]
TEMPLATES = [
    t.ResourceTemplate("template", "test://template/{id}/data", description="Data", mime_type="application/json")
]


def contents_of(uri: str) -> t.TextResourceContents | t.BlobResourceContents | None:
    """What a resource holds."""
    if uri == "test://static-binary":
        return t.BlobResourceContents(uri, PNG, "image/png")
    if any(uri == resource.uri for resource in RESOURCES):
        return t.TextResourceContents(uri, f"This is the content of {uri}.", "text/plain")
    before, _, key = uri.removesuffix("/data").rpartition("/")
    if before == "test://template" and uri.endswith("/data"):
        return t.TextResourceContents(uri, f'{{"id":"{key}","templateTest":true}}', "application/json")
    return None


# The application

NEEDS: dict[type[t.InputRequest], t.ClientCapabilities] = {
    t.CreateMessageRequest: t.ClientCapabilities(sampling=t.SamplingCapability()),
    t.ElicitRequestFormParams: t.ClientCapabilities(elicitation=t.ElicitationCapability()),
    t.ListRootsRequest: t.ClientCapabilities(roots=t.RootsCapability()),
}
KINDS = {"string": str, "boolean": bool, "integer": int}


def check_arguments(input_schema: dict[str, Any], arguments: dict[str, Any]) -> str | None:
    """What is wrong with the arguments of a tool, as far as types of members and missing ones go."""
    for name in input_schema.get("required", ()):
        if name not in arguments:
            return f"{name} is missing"
    for name, value in arguments.items():
        kind = input_schema["properties"].get(name, {}).get("type")
        if kind in KINDS and type(value) is not KINDS[kind]:
            return f"{name} is no {kind}"
    return None


class Everything:
    """The application.

    Attributes:
        publish: tells all clients of a change.
        patience: for how many seconds the server keeps a response open that a client can come back for.
    """

    publish: Callable[[Change], object]
    patience = 1.0

    def serve(self, server: ServerConnection, event: Event) -> None:
        """Serve an event of any connection."""
        if not isinstance(event, RequestReceived):
            return
        try:
            result = self._result(server, event)
            if isinstance(result, Ask):
                self._ask(server, event, result)
            else:
                server.respond(event.id, result)
        except Refused as refused:
            options = {} if refused.data is None else {"data": refused.data}
            server.respond_error(event.id, refused.code, str(refused), **options)

    def _ask(self, server: ServerConnection, event: RequestReceived, ask: Ask) -> None:
        request = event.request
        assert isinstance(request, t.CallToolRequest | t.GetPromptRequest)
        state = seal_state(ask.state, key=KEY, now=time.time(), lifetime=MINUTES, principal="", request=request)
        try:
            server.request_input(event.id, ask.requests, state if ask.state else None)
        except CapabilityError:
            declared = event.client_capabilities
            needed = [NEEDS[type(each)] for each in ask.requests.values()]
            missing = {
                name: getattr(capabilities, name)
                for capabilities in needed
                for name in ("sampling", "elicitation", "roots")
                if getattr(capabilities, name) is not None and getattr(declared, name) is None
            }
            server.respond_missing_capability(event.id, t.ClientCapabilities(**missing))

    def _result(self, server: ServerConnection, event: RequestReceived) -> t.Result | Ask:
        call = Call(event, server, self)
        match event.request:
            case t.ListToolsRequest():
                return t.ListToolsResult([tool for tool, _ in TOOLS.values()])
            case t.CallToolRequest(name=name, arguments=arguments) if name in TOOLS:
                declared, function = TOOLS[name]
                fault = check_arguments(declared.input_schema, arguments or {})
                return _tool_result(function(call)) if fault is None else _failed(fault)
            case t.ListPromptsRequest():
                return t.ListPromptsResult([prompt for prompt, _ in PROMPTS.values()])
            case t.GetPromptRequest(name=name, arguments=given) if name in PROMPTS:
                prompt, function = PROMPTS[name]
                missing = [each.name for each in prompt.arguments or () if each.name not in (given or {})]
                if missing:
                    raise Refused(ErrorCode.INVALID_PARAMS, f"Arguments are missing: {', '.join(missing)}")
                return _prompt_result(function(call))
            case t.ListResourcesRequest():
                return t.ListResourcesResult(RESOURCES)
            case t.ListResourceTemplatesRequest():
                return t.ListResourceTemplatesResult(TEMPLATES)
            case t.ReadResourceRequest(uri=uri):
                contents = contents_of(uri)
                if contents is not None:
                    return t.ReadResourceResult([contents])
                legacy = event.revision in LEGACY_REVISIONS
                code = ErrorCode.RESOURCE_NOT_FOUND if legacy else ErrorCode.INVALID_PARAMS
                raise Refused(code, "Resource not found", {"uri": uri})
            case t.CompleteRequest():
                return t.CompleteResult(t.Completion([]))
            case t.SetLevelRequest() | t.SubscribeRequest() | t.UnsubscribeRequest():
                return t.EmptyResult()
        raise Refused(ErrorCode.INVALID_PARAMS, f"Not found: {event.method}")


def _failed(detail: str) -> t.CallToolResult:
    return t.CallToolResult([t.TextContent(detail)], is_error=True)


def _tool_result(answer: Any) -> t.CallToolResult | Ask:
    if isinstance(answer, str):
        return t.CallToolResult([t.TextContent(answer)])
    return t.CallToolResult(answer) if isinstance(answer, list) else answer


def _prompt_result(answer: Any) -> t.GetPromptResult | Ask:
    return t.GetPromptResult(answer) if isinstance(answer, list) else answer
