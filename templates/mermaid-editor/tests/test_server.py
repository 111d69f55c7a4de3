"""The tools in plain Python, with the official client in memory. There is no page: nothing is drawn."""

import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated

import server
from diagram import START, Diagram


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
async def fresh():
    await server.server.session.storage.clear()
    server.diagram.__init__()
    server.editor.__init__(server.diagram, server.announce)


@pytest.mark.anyio
async def test_what_is_drawn_is_the_source():
    async with Client(server.server) as client:
        first = await client.call_tool("get_source")
        assert first.structured_content == {"code": START, "edited_by_user": False}
        drawn = await client.call_tool("draw", {"code": "pie\n  a: 1"})
        assert drawn.content[0].text == "Drawn."
        assert (await client.call_tool("get_source")).structured_content["code"] == "pie\n  a: 1"
        (content,) = (await client.read_resource("mermaid://diagram")).contents
        assert (content.text, content.mime_type) == ("pie\n  a: 1", "text/vnd.mermaid")


@pytest.mark.anyio
async def test_edits_of_the_user_are_seen_by_the_next_call():
    async with Client(server.server) as client:
        server.diagram.edit("pie\n  b: 2")
        source = await client.call_tool("get_source")
        assert source.structured_content == {"code": "pie\n  b: 2", "edited_by_user": True}
        assert not (await client.call_tool("get_source")).structured_content["edited_by_user"]


@pytest.mark.anyio
async def test_drawing_over_edits_gives_what_was_replaced():
    async with Client(server.server) as client:
        server.diagram.edit("pie\n  b: 2")
        drawn = await client.call_tool("draw", {"code": "pie\n  c: 3"})
        assert drawn.content[0].text.endswith("\n\npie\n  b: 2")


@pytest.mark.anyio
async def test_an_export_leaves_the_edits_to_be_told_of():
    async with Client(server.server) as client:
        server.diagram.edit("pie\n  b: 2")
        await client.call_tool("export_svg")
        drawn = await client.call_tool("draw", {"code": "pie\n  c: 3"})
        assert drawn.content[0].text.endswith("\n\npie\n  b: 2")


@pytest.mark.anyio
async def test_changes_are_announced():
    async with Client(server.server) as client, client.listen(resource_subscriptions=["mermaid://diagram"]) as events:
        await client.call_tool("draw", {"code": "pie\n  a: 1"})
        assert await anext(aiter(events)) == ResourceUpdated(uri="mermaid://diagram")


@pytest.mark.anyio
async def test_the_diagram_is_kept_for_the_session():
    async with Client(server.server) as client:
        await client.call_tool("draw", {"code": "pie\n  a: 1"})
        server.diagram = server.editor._diagram = Diagram()  # as when the page is opened again
        server.editor._session = None
        assert (await client.call_tool("get_source")).structured_content["code"] == "pie\n  a: 1"


@pytest.mark.anyio
async def test_lines_of_what_was_kept_end_with_line_feeds():
    await server.server.session.storage.set("diagram", "pie\r\n  a: 1")
    async with Client(server.server) as client:
        assert (await client.call_tool("get_source")).structured_content["code"] == "pie\n  a: 1"


@pytest.mark.anyio
async def test_a_picture_needs_a_browser():
    async with Client(server.server) as client:
        result = await client.call_tool("export_svg")
    assert result.is_error
    assert "in a browser" in result.content[0].text
