"""Every kind of thing a server can do works as the SDK documents it, in both protocol eras."""

from __future__ import annotations

import base64
from typing import Annotated

import anyio
import mcp_types as types
import pytest
from mcp.server.mcpserver import Audio, Context, Elicit, Image, Resolve
from mcp.shared.uri_template import UriTemplate
from pydantic import BaseModel

from mcpframe import FrameServer
from tests.support.memory import ERAS, Heard, connected, text

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
both_eras = pytest.mark.parametrize("era", ERAS)


class Point(BaseModel):
    x: int
    y: float


@both_eras
async def test_structured_output_is_validated_by_the_client(era):
    server = FrameServer("s")

    @server.tool()
    def point(x: int) -> Point:
        return Point(x=x, y=0.5)

    async with connected(server, era) as client:
        tool = (await client.list_tools()).tools[0]
        assert tool.output_schema is not None
        assert tool.output_schema["properties"]["y"]["type"] == "number"
        assert (await client.call_tool("point", {"x": 3})).structured_content == {"x": 3, "y": 0.5}


@both_eras
async def test_images_audio_and_binary_resources_arrive_byte_for_byte(era):
    server = FrameServer("s")
    every_byte = bytes(range(256))

    @server.tool()
    def picture() -> Image:
        return Image(data=every_byte, format="png")

    @server.tool()
    def sound() -> Audio:
        return Audio(data=every_byte, format="wav")

    @server.resource("data://bytes", mime_type="application/octet-stream")
    def data() -> bytes:
        return every_byte

    async with connected(server, era) as client:
        image = (await client.call_tool("picture")).content[0]
        audio = (await client.call_tool("sound")).content[0]
        contents = (await client.read_resource("data://bytes")).contents[0]
    assert isinstance(image, types.ImageContent)
    assert isinstance(audio, types.AudioContent)
    assert isinstance(contents, types.BlobResourceContents)
    assert [base64.b64decode(each) for each in (image.data, audio.data, contents.blob)] == [every_byte] * 3
    assert (image.mime_type, audio.mime_type, contents.mime_type) == (
        "image/png",
        "audio/wav",
        "application/octet-stream",
    )


@both_eras
async def test_templates_prompts_and_completion(era):
    server = FrameServer("s")

    @server.resource("city://{name}/mayor")
    def mayor(name: str) -> str:
        return f"mayor of {name}"

    @server.prompt()
    def greet(name: str) -> str:
        return f"Greet {name}"

    @server.completion()
    async def complete(reference, argument, context):
        return types.Completion(values=[argument.value + "lo"])

    async with connected(server, era) as client:
        templates = (await client.list_resource_templates()).resource_templates
        assert UriTemplate.parse(templates[0].uri_template).expand({"name": "Rome"}) == "city://Rome/mayor"
        assert (await client.read_resource("city://Rome/mayor")).contents[0].text == "mayor of Rome"
        prompt = await client.get_prompt("greet", {"name": "Ann"})
        assert prompt.messages[0].content.text == "Greet Ann"
        completion = await client.complete(types.PromptReference(name="greet"), {"name": "name", "value": "Os"})
        assert completion.completion.values == ["Oslo"]


@both_eras
async def test_progress_comes_before_the_result_and_in_order(era):
    server = FrameServer("s")

    @server.tool()
    async def work(ctx: Context) -> str:
        for step in range(3):
            await ctx.report_progress(step, 3, f"step {step}")
        return "done"

    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, total, message))

    async with connected(server, era) as client:
        await client.call_tool("work", progress_callback=on_progress)
        assert seen == [(0, 3, "step 0"), (1, 3, "step 1"), (2, 3, "step 2")]


@both_eras
async def test_a_cancelled_call_stops_its_tool_and_the_session_goes_on(era):
    server = FrameServer("s")
    started, stopped = anyio.Event(), anyio.Event()

    @server.tool()
    async def wait() -> str:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return "never"

    async with connected(server, era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait")
            await started.wait()
            tasks.cancel_scope.cancel()
        await stopped.wait()
        assert (await client.list_tools()).tools[0].name == "wait"


class Seats(BaseModel):
    count: int


async def how_many() -> Elicit[Seats]:
    return Elicit("How many?", Seats)


@both_eras
async def test_elicitation_asks_the_user_of_the_client(era):
    server = FrameServer("s")

    @server.tool()
    async def book(seats: Annotated[Seats, Resolve(how_many)]) -> str:
        return f"booked {seats.count}"

    async def answer(context, params):
        assert params.message == "How many?"
        return types.ElicitResult(action="accept", content={"count": 4})

    async with connected(server, era, elicitation_callback=answer) as client:
        assert text(await client.call_tool("book")) == "booked 4"


@both_eras
async def test_list_changes_reach_the_client(era):
    server = FrameServer("s")
    heard = Heard()

    @server.tool()
    async def grow(ctx: Context) -> str:
        server.add_tool(lambda: "new", name="new")
        await ctx.notify_tools_changed()
        await ctx.session.send_tool_list_changed()
        return "grown"

    async with connected(server, era, message_handler=heard.message, cache=None) as client:
        assert client.server_capabilities.tools.list_changed is True
        if era == "2026":
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("grow")
                assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
        else:
            await client.call_tool("grow")
            await heard.changed.wait()
            assert heard.changes == ["notifications/tools/list_changed"]
        assert {tool.name for tool in (await client.list_tools()).tools} == {"grow", "new"}
