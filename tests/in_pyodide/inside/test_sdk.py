"""The effects of `sdk.prepare`, in the Python that it prepares."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Annotated, Any

import anyio
import anyio.to_thread
import js
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Elicit, MCPServer, RequestStateSecurity, Resolve
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic_core import SchemaSerializer, SchemaValidator
from pyodide.ffi import create_proxy

from mcpframe.frame.compat import sdk
from mcpframe.frame.compat.placeholders import PlaceholderError
from mcpframe.frame.serving.server import serve
from tests.support.memory import ERAS, connected, text

both_eras = pytest.mark.parametrize("era", ERAS)


def test_prepare_can_be_repeated():
    before = list(sys.meta_path)
    sdk.prepare()
    assert sys.meta_path == before


def test_models_are_built_at_once_again():
    class Model(BaseModel):
        number: int

    assert "defer_build" not in BaseModel.model_config
    assert Model.__pydantic_complete__
    assert TypeAdapter(list[int]).pydantic_complete


@pytest.mark.parametrize(
    ("adapter", "value"),
    [
        (types.client_request_adapter, types.PingRequest()),
        (TypeAdapter(types.TextContent), types.TextContent(text="hello")),
    ],
    ids=["made by the SDK", "made later for a model of the SDK"],
)
def test_the_schema_of_a_type_adapter_that_was_deferred_is_one_for_pydantic_core(adapter: Any, value: BaseModel):
    assert json.loads(SchemaSerializer(adapter.core_schema).to_json(value)) == json.loads(value.model_dump_json())
    assert SchemaValidator(adapter.core_schema).validate_python(value) == adapter.validate_python(value)


def test_the_schema_of_an_undefined_type_says_so_when_it_is_read():
    adapter = TypeAdapter("list[NotThere]")
    with pytest.raises(PydanticUserError, match="not fully defined"):
        print(adapter.core_schema)
    with pytest.raises(PydanticUserError, match="not fully defined"):
        adapter.validate_python([])


# --- placeholders

HTTP_USES = {
    "streamable_http_app": lambda server: server.streamable_http_app(),
    "sse_app": lambda server: server.sse_app(),
    "custom_route": lambda server: server.custom_route("/health", methods=["GET"])(print),
}


@pytest.mark.parametrize("use", HTTP_USES)
def test_an_http_transport_says_that_it_does_not_work_here(use):
    with pytest.raises(ImportError, match=r"'(starlette|uvicorn|sse_starlette)' is not part of the bundle.*HTTP trans"):
        HTTP_USES[use](MCPServer("s"))


@pytest.mark.parametrize("run", ["run_sse_async", "run_streamable_http_async"])
async def test_running_an_http_server_says_so_too(run):
    with pytest.raises(PlaceholderError, match=r"MCP's HTTP transports do not work"):
        await getattr(MCPServer("s"), run)()


async def test_an_http_client_says_so_too():
    from mcp.client.streamable_http import streamable_http_client

    with pytest.raises(PlaceholderError, match=r"'httpx2' is not part of the bundle\..*add 'httpx2' to its req"):
        async with streamable_http_client("https://example.com/mcp"):
            pass


def test_keys_for_the_request_state_say_what_to_do():
    with pytest.raises(PlaceholderError, match=r"'cryptography' is not part of the bundle\..*give it a codec="):
        RequestStateSecurity(keys=["k" * 32])


@pytest.mark.parametrize("name", ["cryptography", "starlette", "starlette.applications", "httpx2", "jwt"])
def test_the_author_sees_that_the_packages_are_absent(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


def test_a_package_that_is_installed_later_is_the_real_one(tmp_path, monkeypatch):
    (tmp_path / "starlette.py").write_text("real = True")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("starlette").real
    del sys.modules["starlette"]


# --- handlers without threads


async def test_what_would_run_in_a_thread_runs_here():
    assert await anyio.to_thread.run_sync(lambda number: number + 1, 2, abandon_on_cancel=True) == 3
    with pytest.raises(KeyError):
        await anyio.to_thread.run_sync({}.__getitem__, "key")


async def test_a_cancelled_call_does_not_begin():
    ran = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anyio.to_thread.run_sync(ran.append, 1)
    assert ran == []


class Name(BaseModel):
    name: str


def ask_name() -> Elicit[Name]:
    return Elicit("Who?", Name)


@both_eras
async def test_synchronous_tools_resources_prompts_and_resolvers(era):
    server = MCPServer("s")

    @server.tool()
    def tool(who: Annotated[Name, Resolve(ask_name)]) -> str:
        return who.name

    @server.resource("data://plain")
    def plain() -> str:
        return "plain"

    @server.resource("data://{key}/template")
    def template(key: str) -> str:
        return key

    @server.prompt()
    def prompt() -> str:
        return "prompt"

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    async with connected(server, era, elicitation_callback=answer) as client:
        assert text(await client.call_tool("tool")) == "Ann"
        assert (await client.read_resource("data://plain")).contents[0].text == "plain"
        assert (await client.read_resource("data://key/template")).contents[0].text == "key"
        assert (await client.get_prompt("prompt")).messages[0].content.text == "prompt"


async def test_messages_that_arrive_while_a_tool_computes_are_answered():
    """The browser keeps messages until Python gives the thread back; here the tool itself posts them."""
    server = MCPServer("s")
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    def request(number: int, name: str) -> str:
        params = {"name": name, "arguments": {}, "_meta": envelope}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    @server.tool()
    def compute() -> int:
        for number in range(1, 51):
            js.postMessage(request(number, "quick"), js.location.origin)
        return sum(range(1_000_000))

    @server.tool()
    def quick() -> str:
        return "quick"

    into, read = anyio.create_memory_object_stream[Any](1000)
    write, out = anyio.create_memory_object_stream[Any](1000)

    def deliver(event: Any) -> None:
        into.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_json(event.data, by_name=False)))

    listener = create_proxy(deliver)
    js.addEventListener("message", listener)
    try:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve, server, read, write)
                js.postMessage(request(0, "compute"), js.location.origin)
                answered = {(await out.receive()).message.id for _ in range(51)}
                tasks.cancel_scope.cancel()
    finally:
        js.removeEventListener("message", listener)
        listener.destroy()
        for stream in (into, read, write, out):
            stream.close()
    assert answered == set(range(51))


# --- the request state without cryptography


class Seats(BaseModel):
    count: int


async def how_many() -> Elicit[Seats]:
    return Elicit("How many?", Seats)


@pytest.mark.parametrize("tamper", [None, "A" * 43, "v1.abc", ""])
async def test_the_request_state_of_a_plain_server_round_trips_and_cannot_be_tampered_with(tamper):
    server = MCPServer("s")

    @server.tool()
    async def book(train: str, seats: Annotated[Seats, Resolve(how_many)]) -> str:
        return f"{seats.count} on {train}"

    async def nobody(context: Any, params: Any) -> types.ElicitResult:
        raise AssertionError("answered below")

    async with connected(server, "2026", elicitation_callback=nobody) as client:
        asked = await client.session.call_tool("book", {"train": "T"}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        assert len(asked.request_state) == 43
        answers = {key: types.ElicitResult(action="accept", content={"count": 2}) for key in asked.input_requests}
        state = asked.request_state if tamper is None else tamper

        async def retry(arguments: dict[str, Any]) -> Any:
            return await client.session.call_tool("book", arguments, input_responses=answers, request_state=state)

        if tamper is None:
            assert text(await retry({"train": "T"})) == "2 on T"
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await retry({"train": "another"})
        else:
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await retry({"train": "T"})


# --- output schemas

SCHEMA = {
    "type": "object",
    "properties": {"points": {"type": "array", "items": {"$ref": "#/$defs/point"}}},
    "required": ["points"],
    "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
}


@both_eras
@pytest.mark.parametrize(("points", "valid"), [([{"x": 1}], True), ([{"x": "one"}], False), ([{}], False), (3, False)])
async def test_the_client_validates_output_with_the_stand_in_for_rpds(era, points, valid):
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name="t", input_schema={"type": "object"}, output_schema=SCHEMA)]
        )

    async def call(ctx: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[], structured_content={"points": points})

    async with connected(Server("s", on_list_tools=list_tools, on_call_tool=call), era) as client:
        if valid:
            assert (await client.call_tool("t")).structured_content == {"points": points}
        else:
            with pytest.raises(RuntimeError, match="Invalid structured content"):
                await client.call_tool("t")
    assert sys.modules["rpds"].HashTrieMap.__module__ == "mcpframe.frame.compat.rpds"
