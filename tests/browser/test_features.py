"""Everything MCP lets a server do, through a real frame: two official clients, in both protocol eras.

One page serves all tests of a client and era, as a person's session would: booting Python for each would take minutes.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser

from tests.browser.clients import Era, McpClient, PythonClient, TypeScriptClient
from tests.browser.conftest import Bundle, Origins, Troubles, new_profile, watched
from tests.browser.outers import PATIENCE
from tests.support.suites import extended

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGJgAQAAAAUAAaX2RUAAAAAASUVORK5CYII="


@pytest.fixture(
    scope="module",
    params=[
        extended(("python", "legacy", "everything")),
        ("python", "modern", "everything"),
        ("typescript", "legacy", "everything"),
        extended(("typescript", "modern", "everything")),
        ("python", "legacy", "everything_of_mcp_1"),
        extended(("typescript", "legacy", "everything_of_mcp_1")),
    ],
    ids=["python-2025", "python-2026", "typescript-2025", "typescript-2026", "python-mcp1", "typescript-mcp1"],
)
async def connected(
    request: pytest.FixtureRequest, browser: Browser, origins: Origins, typescript_client: None
) -> AsyncIterator[tuple[McpClient, Troubles]]:
    """Each client in each era, connected to a bundle with one of everything."""
    language: str
    era: Era
    language, era, server = request.param
    everything: Bundle = request.getfixturevalue(server)
    async with new_profile(browser) as context, watched(context) as troubles, AsyncExitStack() as stack:
        page = await context.new_page()
        await page.goto(f"{origins.host}/client.html")
        client = TypeScriptClient(page, era) if language == "typescript" else PythonClient(page, era, stack)
        await client.open(everything.url)
        yield client, troubles


@pytest.fixture
async def client(connected: tuple[McpClient, Troubles]) -> McpClient:
    """The connected client, with nothing noted yet."""
    await connected[0].forget()
    return connected[0]


@pytest.fixture
def server(connected: tuple[McpClient, Troubles], request: pytest.FixtureRequest) -> str:
    """The name of the bundle that is called."""
    return str(request.node.callspec.params["connected"][2])


@pytest.fixture
def console(connected: tuple[McpClient, Troubles]) -> Troubles:
    """The console of the frame and of the page around it."""
    return connected[1]


def text_of(result: dict[str, Any]) -> str:
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


async def test_the_era_is_the_one_asked_for(client: McpClient) -> None:
    assert client.version == {"legacy": "2025-11-25", "modern": "2026-07-28"}[client.era]


async def test_text(client: McpClient) -> None:
    text = 'Ünïcödé ✓ 🐍 \u2028 \\ " </script>'
    result = await client.call("echo", text=text)
    assert text_of(result) == text
    assert not result.get("isError")


async def test_tools_are_listed_with_their_schemas(client: McpClient) -> None:
    tools = {tool["name"]: tool for tool in (await client.request("tools/list"))["tools"]}
    assert tools["echo"]["description"] == "Return the text back."
    assert tools["echo"]["inputSchema"]["required"] == ["text"]
    assert tools["weather"]["outputSchema"]["properties"]["degrees"]["description"] == "In Celsius"


async def test_structured_output(client: McpClient) -> None:
    result = await client.call("weather", city="Oslo")
    assert result["structuredContent"] == {"city": "Oslo", "degrees": -3.5, "sunny": True}


async def test_wrong_arguments_are_an_error_result(client: McpClient) -> None:
    result = await client.call("echo", txet="typo")
    assert result["isError"]
    assert "text" in text_of(result)


async def test_an_image(client: McpClient) -> None:
    (content,) = (await client.call("image"))["content"]
    assert (content["type"], content["mimeType"], content["data"]) == ("image", "image/png", PIXEL)


async def test_audio(client: McpClient) -> None:
    (content,) = (await client.call("audio"))["content"]
    assert (content["type"], content["mimeType"]) == ("audio", "audio/wav")
    assert content["data"].startswith("UklGR")


async def test_a_link_to_a_resource(client: McpClient) -> None:
    (content,) = (await client.call("link"))["content"]
    assert (content["type"], content["uri"]) == ("resource_link", "city://Oslo/sky")


async def test_a_text_resource(client: McpClient) -> None:
    (content,) = (await client.request("resources/read", {"uri": "text://motto"}))["contents"]
    assert (content["mimeType"], content["text"]) == ("text/plain", "Ünïcödé ✓ 🐍")


async def test_a_binary_resource(client: McpClient) -> None:
    assert {"data://pixel", "text://motto"} <= {
        resource["uri"] for resource in (await client.request("resources/list"))["resources"]
    }
    (content,) = (await client.request("resources/read", {"uri": "data://pixel"}))["contents"]
    assert (content["mimeType"], content["blob"]) == ("image/png", PIXEL)


async def test_a_resource_template(client: McpClient) -> None:
    (template,) = (await client.request("resources/templates/list"))["resourceTemplates"]
    assert template["uriTemplate"] == "city://{city}/sky"
    (content,) = (await client.request("resources/read", {"uri": "city://Quito/sky"}))["contents"]
    assert content["text"] == "The sky over Quito"


async def test_prompts(client: McpClient) -> None:
    (prompt,) = (await client.request("prompts/list"))["prompts"]
    assert prompt["title"] == "Plan a trip"
    assert [(argument["name"], argument["required"]) for argument in prompt["arguments"]] == [
        ("city", True),
        ("days", False),
    ]
    result = await client.request("prompts/get", {"name": "trip", "arguments": {"city": "Oslo", "days": "3"}})
    assert [(message["role"], message["content"]["text"]) for message in result["messages"]] == [
        ("user", "Plan 3 days in Oslo."),
        ("assistant", "Gladly."),
    ]


@pytest.mark.parametrize(
    "ref", [{"type": "ref/prompt", "name": "trip"}, {"type": "ref/resource", "uri": "city://{city}/sky"}]
)
async def test_completion(client: McpClient, ref: dict[str, str]) -> None:
    result = await client.request("completion/complete", {"ref": ref, "argument": {"name": "city", "value": "Os"}})
    assert result["completion"]["values"] == ["Oslo", "Osaka"]


async def test_progress(client: McpClient) -> None:
    assert text_of(await client.call("count", to=3)) == "counted to 3"
    steps = [await client.next("progress") for _ in range(3)]
    assert [(step["progress"], step["total"], step["message"]) for step in steps] == [
        (1, 3, "step 1"),
        (2, 3, "step 2"),
        (3, 3, "step 3"),
    ]


async def test_logging_at_the_level_that_was_asked_for(client: McpClient, server: str) -> None:
    await client.set_log_level("warning")
    await client.call("log", text="quietly")
    if server == "everything_of_mcp_1":  # its FastMCP has no levels, and sends all that is logged
        assert (await client.next("log"))["data"] == "debug quietly"
    entry = await client.next("log")
    assert (entry["level"], entry["data"]) == ("warning", {"heard": "quietly"})

    await client.set_log_level("debug")
    await client.call("log", text="all")
    entries = [await client.next("log") for _ in range(2)]
    assert [(entry["level"], entry["data"]) for entry in entries] == [
        ("debug", "debug all"),
        ("warning", {"heard": "all"}),
    ]


async def test_print_goes_to_the_console_and_to_a_client_that_asked_for_logs(
    client: McpClient, console: Troubles
) -> None:
    await client.set_log_level("emergency")
    assert text_of(await client.call("shout", text="quiet")) == "QUIET"
    await console.said("printed quiet")

    await client.set_log_level("debug")
    assert text_of(await client.call("shout", text="aloud")) == "ALOUD"
    await console.said("printed aloud")
    entry = await client.next("log")
    assert (entry["level"], entry["data"]) == ("info", "printed aloud")


async def test_all_that_a_tool_says_goes_to_the_client_in_order(client: McpClient, console: Troubles) -> None:
    for word in ("complained", "warned"):
        console.expect(word)
    await client.set_log_level("info")
    await client.call("speak", text="it")
    entries = [await client.next("log") for _ in range(5)]
    assert [(entry["level"], entry["data"]) for entry in entries] == [
        ("info", "printed it"),
        ("info", "told it"),
        ("info", "complained it"),
        ("info", "written it"),
        ("warning", "WARNING warned it"),
    ]
    await console.said("warned it")


async def test_an_exception_is_an_error_result_and_a_traceback_in_the_console(
    client: McpClient, console: Troubles
) -> None:
    console.expect("LookupError")
    result = await client.call("fail", message="no such city")
    assert result["isError"]
    assert "no such city" in text_of(result)
    await console.said("Traceback (most recent call last)")
    await console.said("LookupError: no such city")
    assert text_of(await client.call("echo", text="still here")) == "still here"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"action": "accept", "content": {"seats": 2, "window": True}}, "2 seats on the night train, window True"),
        ({"action": "decline"}, "not booked: decline"),
        ({"action": "cancel"}, "not booked: cancel"),
    ],
    ids=["accept", "decline", "cancel"],
)
async def test_elicitation(client: McpClient, answer: dict[str, Any], outcome: str) -> None:
    await client.answer("elicitation/create", answer)
    assert text_of(await client.call("book", train="the night train")) == outcome
    asked = (await client.next("asked"))["params"]
    assert asked["message"] == "How many seats on the night train?"
    assert asked["requestedSchema"]["properties"]["seats"]["type"] == "integer"


async def test_roots(client: McpClient) -> None:
    await client.answer("roots/list", {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]})
    assert (await client.call("roots"))["structuredContent"] == {"result": ["file:///a", "file:///b"]}


async def test_sampling(client: McpClient) -> None:
    message = {"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "deep-thought"}
    await client.answer("sampling/createMessage", message)
    assert text_of(await client.call("sample", question="?")) == "deep-thought: 42"


async def test_a_cancelled_call_is_cancelled_in_the_server(client: McpClient) -> None:
    name = f"{type(client).__name__} {client.era}"
    await client.call_and_cancel("wait", name=name)
    with anyio.fail_after(PATIENCE):
        while name not in (await client.call("cancelled_waits"))["structuredContent"]["result"]:
            pass


async def test_changed_lists_are_announced(client: McpClient) -> None:
    await client.call("grow", name="sprout")
    assert {await client.next("changed") for _ in range(3)} == {"tools", "prompts", "resources"}
    assert "sprout" in {tool["name"] for tool in (await client.request("tools/list"))["tools"]}
    assert text_of(await client.call("sprout")) == "sprout"


async def test_a_long_computation_loses_no_message(client: McpClient) -> None:
    """While a synchronous tool holds the only thread, what arrives waits; and nothing is answered out of place."""
    answers: dict[str, str] = {}

    async def ask(text: str) -> None:
        answers[text] = text_of(await client.call("echo", text=text))

    async def compute() -> None:
        answers["computed"] = text_of(await client.call("compute", seconds=1.0))

    texts = [f"meanwhile {number}" for number in range(20)]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(compute)
        for text in texts:
            tasks.start_soon(ask, text)
    assert answers == {"computed": "computed True", **dict(zip(texts, texts, strict=True))}


async def test_a_large_argument_and_result(client: McpClient) -> None:
    text = "0123456789" * 100_000
    assert text_of(await client.call("echo", text=text)) == text
