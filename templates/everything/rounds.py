"""Results that require input first, written by hand (revision 2026-07-28): the client calls again with the input.

The `request_state` comes back unchanged: the server keeps it, and the client only has a handle to it.
"""

from collections.abc import Mapping

from mcp.server.mcpserver import AssistantMessage, Context, UserMessage
from mcp_types import (
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

from mcpframe import FrameServer

Answer = CallToolResult | InputRequiredResult


def form(message: str, name: str, kind: str = "string") -> ElicitRequest:
    """Ask the user for one value."""
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(text: str, max_tokens: int) -> CreateMessageRequest:
    """Ask the model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def required(requests: Mapping[str, InputRequest], state: str | None = None) -> InputRequiredResult:
    """Require input."""
    return InputRequiredResult(input_requests=dict(requests), request_state=state)


def done(text: str) -> CallToolResult:
    """Answer with a text."""
    return CallToolResult(content=[TextContent(type="text", text=text)])


def given(ctx: Context, key: str) -> object:
    """Return the client's answer to one request; None if there is none."""
    return (ctx.input_responses or {}).get(key)


def written(ctx: Context, key: str, name: str) -> str | None:
    """Return what the user has written; None if there is no such answer."""
    answer = given(ctx, key)
    if not isinstance(answer, ElicitResult) or answer.action != "accept" or not answer.content:
        return None
    value = answer.content.get(name)
    return None if value is None else str(value)


async def test_input_required_result_elicitation(ctx: Context) -> Answer:
    """Ask the user's name."""
    name = written(ctx, "user_name", "name")
    if name is None:
        return required({"user_name": form("What is your name?", "name")})
    return done(f"Hello, {name}!")


async def test_input_required_result_sampling(ctx: Context) -> Answer:
    """Ask the client's model."""
    answer = given(ctx, "capital_question")
    if not isinstance(answer, CreateMessageResult):
        return required({"capital_question": sampling("What is the capital of France?", 100)})
    return done(answer.content.text if isinstance(answer.content, TextContent) else answer.content.type)


async def test_input_required_result_list_roots(ctx: Context) -> Answer:
    """Ask for the client's folders."""
    answer = given(ctx, "client_roots")
    if not isinstance(answer, ListRootsResult):
        return required({"client_roots": ListRootsRequest()})
    return done("Roots: " + ", ".join(str(root.uri) for root in answer.roots))


async def test_input_required_result_request_state(ctx: Context) -> Answer:
    """Ask the user, and get a state back."""
    if written(ctx, "confirm", "ok") is None:
        return required({"confirm": form("Please confirm", "ok", "boolean")}, "to be confirmed")
    return done("state-ok" if ctx.request_state == "to be confirmed" else "The state is another one.")


async def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    """Ask the user, the model and for the folders at once."""
    requests: dict[str, InputRequest] = {
        "user_name": form("What is your name?", "name"),
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    answers = ctx.input_responses or {}
    missing = {key: request for key, request in requests.items() if key not in answers}
    if missing:
        return required(missing, "several")
    return done(f"Answered: {', '.join(sorted(answers))}.")


async def test_input_required_result_multi_round(ctx: Context) -> Answer:
    """Ask twice; the state keeps what was answered first."""
    kept = ctx.request_state or ""
    name = kept.removeprefix("name:") if kept.startswith("name:") else written(ctx, "step1", "name")
    if name is None:
        return required({"step1": form("Step 1: What is your name?", "name")}, "begun")
    color = written(ctx, "step2", "color")
    if color is None:
        return required({"step2": form("Step 2: What is your favorite color?", "color")}, f"name:{name}")
    return done(f"{name} likes {color}.")


async def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    """Ask the user; a state that was not given out is refused before this runs."""
    if written(ctx, "confirm", "ok") is None:
        return required({"confirm": form("Please confirm", "ok", "boolean")}, "untouched")
    return done(f"The state is {ctx.request_state}.")


async def test_input_required_result_capabilities(ctx: Context) -> Answer:
    """Ask only for what the client can do."""
    if ctx.input_responses:
        return done(f"Answered: {', '.join(sorted(ctx.input_responses))}.")
    able = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if able and able.sampling is not None:
        requests["greeting"] = sampling("Generate a greeting", 50)
    if able and able.elicitation is not None:
        requests["user_name"] = form("What is your name?", "name")
    if able and able.roots is not None:
        requests["client_roots"] = ListRootsRequest()
    return required(requests) if requests else done("The client can do nothing of this.")


async def test_input_required_result_prompt(
    ctx: Context,
) -> list[UserMessage | AssistantMessage] | InputRequiredResult:
    """A prompt that needs the user's answer first."""
    context = written(ctx, "user_context", "context")
    if context is None:
        return required({"user_context": form("What context should the prompt use?", "context")})
    return [UserMessage(f"Consider this: {context}")]


def register(server: FrameServer) -> None:
    """Add the tools and the prompt."""
    for tool in (
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
    ):
        server.add_tool(tool)
    server.prompt()(test_input_required_result_prompt)
