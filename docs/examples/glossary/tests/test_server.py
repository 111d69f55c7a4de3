import asyncio

from mcp import Client

from server import server


async def call(tool: str, **arguments: str) -> object:
    async with Client(server) as client:
        result = await client.call_tool(tool, arguments)
        return result.content[0].text if result.is_error else result.structured_content


def test_a_term_has_a_meaning():
    assert asyncio.run(call("define", term="origin")) == {"result": "Scheme, host and port of a page's address."}


def test_a_wrong_term_is_told_what_there_is():
    assert (
        asyncio.run(call("define", term="tab"))
        == "Error executing tool define: There is no term 'tab'; there are: origin, session."
    )


def test_what_a_path_leads_to():
    [meaning] = asyncio.run(call("find", path="$[?@.kind == 'protocol'].meaning"))["result"]
    assert meaning.startswith("What a host")
