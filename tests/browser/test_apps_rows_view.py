"""Each message of MCP Apps, in the view's role: a bundle in the official `AppBridge`, of 2.0.4 and 1.7.5.

`tests/support/apps_rows.py` says which test is for which message. One view does for all of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext

from tests.browser.apps_hosts import CONTEXT, AppsHost
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, watched

Json = dict[str, Any]
TEXT = [{"type": "text", "text": "a text"}]
ANSWERS: Json = {
    "onopenlink": {},
    "onmessage": {},
    "onupdatemodelcontext": {},
    "ondownloadfile": {},
    "onrequestdisplaymode": {"mode": "fullscreen"},
    "oncalltool": {"content": TEXT},
    "onreadresource": {"contents": [{"uri": "x://y", "text": "z"}]},
    "onlistresources": {"resources": [{"uri": "x://y", "name": "y"}]},
    "onlistresourcetemplates": {"resourceTemplates": [{"uriTemplate": "x://{y}", "name": "ys"}]},
    "onlistprompts": {"prompts": [{"name": "ask"}]},
    "tools/list": {"tools": [{"name": "forecast", "inputSchema": {"type": "object"}}]},
    "sampling/createMessage": {"role": "assistant", "model": "a model", "content": TEXT[0]},
}


@pytest.fixture(scope="module")
async def opened(
    profile: BrowserContext, origins: Origins, view: Bundle, app_bridge: str
) -> AsyncIterator[tuple[AppsHost, Json]]:
    """The host with the view, and what that said of itself."""
    async with watched(profile):
        host = await AppsHost.load(profile, origins, view.url, app_bridge)
        yield host, await host.open(context=CONTEXT, answers=ANSWERS)


@pytest.fixture
def host(opened: tuple[AppsHost, Json]) -> AppsHost:
    return opened[0]


async def heard(host: AppsHost, kind: str, wanted: Any = None) -> Any:
    """Return the last of a kind that the view has heard, once it has (or has heard what is wanted)."""
    with anyio.fail_after(BOOT_PATIENCE):
        while True:
            found = [value for each, value in (await host.tool("told"))["heard"] if each == kind]
            if found and wanted in (None, found[-1]):
                return found[-1]


async def test_the_handshake(opened: tuple[AppsHost, Json]) -> None:
    host, said = opened
    assert said == {
        "appInfo": {"name": "view", "version": "1.4", "title": "A view"},
        "appCapabilities": {"tools": {"listChanged": True}},
        "protocolVersion": "2026-01-26",
    }
    told = await host.tool("told")
    assert (told["name"], told["version"], told["context"]["locale"]) == ("A host", "3", "de-AT")


async def test_a_link(host: AppsHost) -> None:
    assert await host.ask("open_link", url="https://example.org/") == {"result": None}
    assert await host.taken("onopenlink") == {"url": "https://example.org/"}


async def test_a_download(host: AppsHost) -> None:
    assert await host.ask("download", name="a b.txt", data="text") == {"result": None}
    resource = {"uri": "file:///a%20b.txt", "mimeType": "text/plain", "text": "text"}
    assert await host.taken("ondownloadfile") == {"contents": [{"type": "resource", "resource": resource}]}


async def test_a_message(host: AppsHost) -> None:
    assert await host.ask("send_message", content="a text") == {"result": None}
    assert await host.taken("onmessage") == {"role": "user", "content": TEXT}


async def test_model_context(host: AppsHost) -> None:
    assert await host.ask("update_model_context", content="a text", structured={"t": 72}) == {"result": None}
    assert await host.taken("onupdatemodelcontext") == {"content": TEXT, "structuredContent": {"t": 72}}


async def test_a_display_mode(host: AppsHost) -> None:
    assert await host.ask("request_display_mode", mode="pip") == {"result": "fullscreen"}
    assert await host.taken("onrequestdisplaymode") == {"mode": "pip"}


async def test_a_tool_of_the_server(host: AppsHost) -> None:
    called = await host.ask("call_tool", name="forecast", arguments={"days": 5})
    assert called["result"]["content"] == TEXT
    assert await host.taken("oncalltool") == {"name": "forecast", "arguments": {"days": 5}}


async def test_a_resource_of_the_server(host: AppsHost) -> None:
    read = await host.ask("read_resource", uri="x://y")
    assert read["result"]["contents"] == [{"uri": "x://y", "text": "z"}]
    assert await host.taken("onreadresource") == {"uri": "x://y"}


@pytest.mark.parametrize(
    ("method", "event"),
    [
        ("list_tools", "tools/list"),
        ("list_resources", "onlistresources"),
        ("list_resource_templates", "onlistresourcetemplates"),
        ("list_prompts", "onlistprompts"),
    ],
)
async def test_lists_of_the_server(host: AppsHost, method: str, event: str) -> None:
    (member,) = ANSWERS[event]
    assert (await host.ask(method))["result"][member] == ANSWERS[event][member]
    assert not (await host.taken(event) or {}).get("cursor")


async def test_a_message_of_the_model(host: AppsHost) -> None:
    asked = {"messages": [{"role": "user", "content": TEXT[0]}], "max_tokens": 5}
    answered = (await host.ask("create_message", **asked))["result"]
    assert (answered["role"], answered["content"]) == ("assistant", TEXT[0])
    assert await host.taken("sampling/createMessage") == {"messages": asked["messages"], "maxTokens": 5}


async def test_pings(host: AppsHost) -> None:
    assert await host.ask("ping") == {"result": None}
    assert await host.taken("ping") == {}
    assert await host.raw({"jsonrpc": "2.0", "id": "a ping", "method": "ping"}) == {
        "jsonrpc": "2.0",
        "id": "a ping",
        "result": {},
    }


async def test_the_size(host: AppsHost) -> None:
    await host.tool("grow", pixels=700)
    while (size := await host.taken("size"))["height"] < 700:
        pass
    assert set(size) == {"width", "height"}


async def test_a_request_to_be_removed(host: AppsHost) -> None:
    await host.ask("request_teardown")
    assert await host.taken("request-teardown") == {}


async def test_a_line_for_the_log(host: AppsHost) -> None:
    await host.ask("log", level="warning", data={"a": 1}, logger="view")
    assert await host.taken("log") == {"level": "warning", "data": {"a": 1}, "logger": "view"}


async def test_an_app_tool(host: AppsHost) -> None:
    listed = await host.call("listTools")
    assert [tool["name"] for tool in listed["result"]["tools"]][:2] == ["add", "told"]
    assert await host.tool("add", a=2, b=3) == {"result": 5}


async def test_the_app_s_tools_change(host: AppsHost) -> None:
    assert await host.tool("learn") == {"result": "learned"}
    assert not await host.taken("notifications/tools/list_changed")
    assert await host.tool("shout", text="hey") == {"result": "HEY"}


async def test_an_app_tool_that_takes_time(host: AppsHost) -> None:
    stopped = await host.call("callTool", {"name": "work", "arguments": {}}, stop=True)
    assert "enough" in stopped["error"]
    assert await host.taken("progress") == {"progress": 1, "total": 1000, "message": "on it"}
    assert await heard(host, "work") == "cancelled"


async def test_a_request_that_the_view_cancels(host: AppsHost) -> None:
    await host.page.evaluate("apps.silent.add('onopenlink')")
    late = await host.ask("open_link", within=0.2, url="https://example.org/late")
    assert late["error"] == "HostTimeout"
    assert await host.taken("cancelled") == "onopenlink"
    await host.page.evaluate("apps.silent.clear()")


async def test_partial_arguments(host: AppsHost) -> None:
    await host.call("sendToolInputPartial", {"arguments": {"place": "Wi"}})
    assert await heard(host, "ToolInputPartial") == {"arguments": {"place": "Wi"}}


async def test_arguments_and_result(host: AppsHost) -> None:
    await host.call("sendToolInput", {"arguments": {"place": "Wien"}})
    assert await heard(host, "ToolInput") == {"arguments": {"place": "Wien"}}
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    await host.call(
        "sendToolResult",
        {"content": [*TEXT, image], "isError": False, "structuredContent": {"temp": 72}},
    )
    assert await heard(host, "ToolResult") == {
        "content": [*TEXT, image],
        "structured": {"temp": 72},
        "is_error": False,
        "meta": {},
    }


async def test_a_cancelled_call(host: AppsHost) -> None:
    await host.call("sendToolCancelled", {"reason": "enough"})
    assert await heard(host, "ToolCancelled") == {"reason": "enough"}


async def test_context_changes(host: AppsHost) -> None:
    await host.call("sendHostContextChange", {"displayMode": "fullscreen"})
    context = (await host.tool("told"))["context"]
    assert (context["display_mode"], context["locale"]) == ("fullscreen", "de-AT")


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
async def test_lists_of_the_server_change(host: AppsHost, kind: str) -> None:
    await host.call(f"send{kind.title()[:-1]}ListChanged")
    assert await heard(host, "changed", kind) == kind


async def test_teardown(host: AppsHost) -> None:
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}
    assert await heard(host, "teardown") == "done"
    assert await host.taken("log") == {"level": "info", "data": {"last": "words"}, "logger": "view"}
