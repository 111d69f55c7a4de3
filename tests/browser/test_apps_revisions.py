"""A view under hosts that npm's `AppBridge` is not: of revision 2025-11-21, and as the seed describes them.

The seed ("MCP Apps PostMessage Lifecycle") has messages posted as JSON text, answers to `ui/initialize` without
`protocolVersion` and `hostInfo`, and is otherwise the same.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import BrowserContext

from tests.browser.apps_hosts import Hand
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.support.suites import extended

Json = dict[str, Any]
CONTEXT = {"theme": "dark", "locale": "en-US", "displayMode": "inline", "toolInfo": {}, "styles": {}}
CAPABILITIES = {"experimental": {}, "openLinks": {}, "serverTools": {"listChanged": True}, "logging": {}, "sandbox": {}}
HOSTS: dict[str, Json] = {
    "2026-01-26": {"protocolVersion": "2026-01-26", "hostInfo": {"name": "A host", "version": "1"}},
    "2025-11-21": {"protocolVersion": "2025-11-21", "hostInfo": {"name": "A host", "version": "1"}},
    "the seed's": {},
}
RESULT = {
    "content": [{"type": "text", "text": "72°F, Sunny"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
    "isError": False,
    "structuredContent": {"temp": 72, "condition": "Sunny"},
}


@pytest.fixture
async def hand(context: BrowserContext, troubles: Troubles, origins: Origins) -> Hand:
    return await Hand.load(context, origins.host)


@pytest.mark.parametrize(
    ("kind", "text"),
    [*((kind, False) for kind in HOSTS), ("the seed's", True), *(extended(kind, True) for kind in [*HOSTS][:-1])],
)
async def test_a_view_lives_under_hosts_of_every_revision(hand: Hand, view: Bundle, kind: str, text: bool) -> None:
    answers = {
        "ui/initialize": [{"result": {**HOSTS[kind], "hostCapabilities": CAPABILITIES, "hostContext": CONTEXT}}],
        "tools/call": [{"result": RESULT}],
        "ui/message": [{"result": {}}],
        "ui/update-model-context": [{"result": {}}],
        "ui/open-link": [{"result": {}}],
        "ui/request-display-mode": [{"result": {"mode": "fullscreen"}}],
        "resources/read": [{"result": {"contents": []}}],
        "ping": [{"result": {}}],
    }
    await hand.run(
        "([answers, text, url]) => { Object.assign(hand, { answers, text }); embed(url); }", [answers, text, view.url]
    )
    assert (await hand.hears("ui/initialize"))["params"]["appCapabilities"]["tools"] == {"listChanged": True}
    assert await hand.hears("ui/notifications/initialized") == {
        "jsonrpc": "2.0",
        "method": "ui/notifications/initialized",
        "params": {},
    }
    assert set((await hand.hears("ui/notifications/size-changed"))["params"]) == {"width", "height"}
    await hand.say("ui/notifications/tool-input-partial", {"arguments": {"location": "N"}})
    await hand.say("ui/notifications/tool-input", {"arguments": {"location": "NYC"}})
    await hand.say("ui/notifications/tool-result", RESULT)
    await hand.say("ui/notifications/host-context-changed", {"theme": "light"})
    told = await hand.tool(1, "told")
    assert told["context"]["theme"] == "light"
    assert told["context"]["locale"] == "en-US"
    assert [kind for kind, _ in told["heard"]][-2:] == ["ToolInput", "ToolResult"]
    assert told["heard"][-1][1]["structured"] == RESULT["structuredContent"]
    asked: list[tuple[str, Json, Any]] = [
        ("call_tool", {"name": "get_forecast", "arguments": {"location": "NYC"}}, None),
        ("send_message", {"content": "Weather updated!"}, None),
        ("update_model_context", {"content": "72°F", "structured": {"temperature": 72}}, None),
        ("open_link", {"url": "https://weather.example/nyc"}, None),
        ("request_display_mode", {"mode": "fullscreen"}, "fullscreen"),
        ("read_resource", {"uri": "ui://x/y"}, None),
        ("ping", {}, None),
    ]
    for number, (method, arguments, wanted) in enumerate(asked):
        answer = await hand.tool(f"ask {number}", "ask", method=method, arguments=arguments)
        assert "error" not in answer, answer
        assert wanted in (None, answer["result"])
    await hand.say("ui/notifications/tool-cancelled", {"reason": "enough"})
    assert (await hand.tool(2, "told"))["heard"][-1] == ["ToolCancelled", {"reason": "enough"}]
    gone = await hand.run("() => hand.ask('bye', 'ui/resource-teardown', { reason: 'done' })")
    assert gone == {"jsonrpc": "2.0", "id": "bye", "result": {}}
    calls = await hand.run("heard.filter(({ data }) => data.method === 'ui/initialize').map(({ data }) => data.id)")
    assert len(set(calls)) == 1
    assert await hand.run("heard.every(({ data }) => typeof data === 'object')")
