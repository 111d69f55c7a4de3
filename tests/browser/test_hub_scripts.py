"""The hub's two scripts in a page of Chromium, without a hub: what they pass on, and what they do for it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from mcpframe.hub.core import limits
from mcpframe.hub.core.tools import TOOLS, checked
from mcpframe.kit.base.data import HOST_JSON, script_with, static_dir
from tests.browser.conftest import Origins
from tests.browser.webmcp import profile

OPTIONS = json.dumps({"most": limits.HUB_MESSAGE_BYTES})
POST = """(make) => {
    const tool = (name, inputSchema = { type: "object" }) => ({ name, inputSchema });
    const result = new Function("tool", `return ({ tools: ${make} })`)(tool);
    const payload = { jsonrpc: "2.0", id: "a", result };
    postMessage({ channel: "mcp-default", type: "mcp", direction: "server-to-client", payload }, "*");
}"""
CYCLE = "((schema) => { schema.self = schema; return schema; })({ type: 'object' })"
DEEP = "JSON.parse('{\"type\":\"object\",\"a\":'.repeat(200) + '1' + '}'.repeat(200))"
UNREADABLE = {"a cycle": CYCLE, "a BigInt": "({ type: 'object', maximum: 1n })", "depth": DEEP}
FORMS = """<!doctype html><link rel="icon" href="data:,">
    <form toolname="book" tooldescription="Book a table"><input name="who" required><button>Book</button></form>
    <form toolname="find" tooldescription="Find" toolautosubmit><input name="what"><button>Find</button></form>
    <script>
        document.forms[1].addEventListener("submit", (event) => {
            event.preventDefault();
            event.respondWith?.(Promise.resolve("found"));
        });
    </script>
"""


@pytest.fixture(scope="module")
async def page(webmcp_browser: Browser, origins: Origins) -> AsyncIterator[Page]:
    async with profile(webmcp_browser) as (context, _):
        page = await context.new_page()
        await page.route("**/forms.html*", lambda route: route.fulfill(body=FORMS, content_type="text/html"))
        await page.goto(f"{origins.host}/forms.html")
        yield page


async def reported(page: Page, make: str) -> Any:
    """Return what `page.js` reports of a list of tools."""
    install = f"({script_with('hub/page.js', HOST_JSON)})({{ report, ...{OPTIONS} }})"
    report = await page.evaluate(
        f"""async (make) => {{
            let half;
            const heard = new Promise((report) => {{ half = {install}; }});
            half.listen();
            ({POST})(make);
            return heard.finally(() => half.stop());
        }}""",
        make,
    )
    return report["text"]


@pytest.mark.parametrize("schema", UNREADABLE.values(), ids=UNREADABLE)
async def test_a_tool_that_cannot_be_passed_on_costs_no_other(page: Page, schema: str) -> None:
    text = await reported(page, f"[tool('good'), tool('bad', {schema}), tool('better')]")
    valid, problems = checked(TOOLS, json.loads(text)["payload"]["result"]["tools"], page.url)
    assert list(valid) == ["good", "better"]
    [problem] = problems
    assert "'bad'" in problem
    assert "cannot be passed on" in problem


async def test_what_is_no_list_of_tools_is_refused_as_a_whole(page: Page) -> None:
    name, *_ = await reported(page, CYCLE)
    assert name == "MalformedMessage"
    text = await reported(page, "Object.assign([1n], { length: 4e9 })")
    assert len(json.loads(text)["payload"]["result"]["tools"]) == 1000


async def test_a_form_says_that_it_waits_for_its_user(page: Page) -> None:
    script = (static_dir() / "hub" / "document-tools.js").read_text("utf-8").rstrip().rstrip(";")
    tools = await page.evaluate_handle(f"({script})()")

    async def run(name: str, **arguments: Any) -> Any:
        outcome = await tools.evaluate("(tools, given) => tools.run(...given)", [1, name, json.dumps(arguments)])
        return json.loads(outcome)

    assert {each["name"] for each in json.loads(await tools.evaluate("(tools) => tools.list()"))["value"]} == {
        "book",
        "find",
    }
    assert "waits for the user" in (await run("book", who="Ada"))["value"]
    assert await page.input_value("[name=who]") == "Ada"
    assert (await run("find", what="x"))["value"] == "found"
    await page.click("text=Book")
    await page.wait_for_url("**/forms.html?who=Ada")  # a page that is closed meanwhile never says that it is
