"""`model_context_client` in a page bundle: tools that JavaScript has registered, in Chromium and in npm's polyfill."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser, BrowserContext, Page

from tests.browser.by_hand import newest_frame
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.webmcp import polyfill_text, profile

TOOLS = """
    globalThis.aborted = [];
    let begun;
    globalThis.hanging = new Promise((resolve) => { begun = resolve; });
    globalThis.register = (name, execute, options) =>
        document.modelContext.registerTool(
            { name, title: `T ${name}`, description: "D", inputSchema: { type: "object" }, execute }, options);
    globalThis.ready = (async () => {
        if (!document.modelContext) return;
        const hello = { content: [{ type: "text", text: "hello" }], structuredContent: { a: 1 } };
        await register("text", ({ who }) => `hello ${who}`);
        await register("mcp", () => hello);
        await register("failed", () => ({ ...hello, isError: true }));
        await register("value", () => ({ x: [1, "é"] }));
        await register("nothing", () => undefined);
        await register("throws", () => { throw new Error("a secret"); });
        await register("hang", (input, options) => new Promise(() => {
            begun();
            options?.signal?.addEventListener("abort", () => aborted.push("hang"));
        }));
    })();
"""
FORM = """() => document.body.insertAdjacentHTML("beforeend",
    '<form toolname="book" tooldescription="Book a table"><input name="who"><button>Book</button></form>')"""
NAMES = ["failed", "hang", "mcp", "nothing", "text", "throws", "value"]


@pytest.fixture(scope="session")
def agent(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/agent`."""
    return bundle_of("agent")


async def start(context: BrowserContext, agent: Bundle, *origins: str) -> Page:
    """Open the page; it uses the tools of these origins as well."""
    page = await context.new_page()
    await page.goto(f"{agent.url}#{','.join(origins)}")
    await page.wait_for_selector("html[data-state=loaded]", timeout=BOOT_PATIENCE * 1000)
    return page


async def ask(page: Page, what: str, *arguments: str) -> Any:
    """Call a function of the page."""
    with anyio.fail_after(BOOT_PATIENCE):
        answer = await page.evaluate("([what, ...given]) => agent[what](...given)", [what, *arguments])
    return json.loads(answer) if isinstance(answer, str) and answer.startswith(("{", "[")) else answer


async def text(page: Page, name: str, **arguments: Any) -> str:
    """Call a tool; return its text, with `!` before that of an error."""
    result = await ask(page, "call", name, json.dumps(arguments))
    texts = [block["text"] for block in result["content"]]
    return ("!" if result["isError"] else "") + "".join(texts)


async def use(page: Page) -> None:
    """Use everything that `TOOLS` has."""
    assert sorted(tool["name"] for tool in await ask(page, "tools")) == NAMES
    assert await text(page, "text", who="é") == "hello é"
    assert await text(page, "mcp") == "hello"
    assert await text(page, "failed") == "!hello"
    assert await text(page, "value") == '{"x":[1,"é"]}'
    thrown = await text(page, "throws")
    assert thrown.startswith("!The tool 'throws' has failed")
    assert await ask(page, "hang") == "gave up"
    await page.evaluate("register('late', () => 'late')")
    await ask(page, "wait_for_change")
    assert await text(page, "late") == "late"


async def test_the_tools_of_a_document_and_of_its_frames(
    webmcp_browser: Browser, origins: Origins, agent: Bundle
) -> None:
    async with profile(webmcp_browser, TOOLS) as (context, troubles):
        troubles.expect("WebMCP tool execution failed")
        page = await start(context, agent, origins.stranger)
        await use(page)
        assert await page.evaluate("aborted") == ["hang"]
        await page.evaluate(FORM)
        await page.wait_for_function("async () => (await agent.tools()).includes('book')")
        assert "waits for the user" in await text(page, "book", who="Ada")
        assert await page.input_value("[name=who]") == "Ada"
        await page.evaluate("document.forms[0].remove()")
        [tool] = [tool for tool in await ask(page, "tools") if tool["name"] == "mcp"]
        assert (tool["title"], tool["description"], tool["_meta"]) == ("T mcp", "D", {"mcpframe/origin": agent.origin})

        script = f"""() => new Promise((resolve) => {{
            const frame = Object.assign(document.createElement("iframe"), {{ allow: "tools", onload: resolve }});
            frame.src = "{origins.stranger}/page.html";
            document.body.append(frame);
        }})"""
        await page.evaluate(script)
        frame = newest_frame(page)
        await frame.wait_for_url(f"{origins.stranger}/page.html")
        await frame.evaluate("ready")
        assert sorted(tool["name"] for tool in await ask(page, "tools")) == sorted([*NAMES, "late"])  # none is exposed
        exposed = f"register('mcp', () => location.origin, {{ exposedTo: ['{agent.origin}'] }})"
        await frame.evaluate(exposed.replace("'mcp'", "'theirs'"))
        assert f"theirs of {origins.stranger}" in await ask(page, "names")
        found = {tool["name"]: tool["_meta"]["mcpframe/origin"] for tool in await ask(page, "tools")}
        assert found["theirs"] == origins.stranger
        assert await text(page, "theirs") == origins.stranger


async def test_the_tools_of_the_polyfill(context: BrowserContext, troubles: Troubles, agent: Bundle) -> None:
    for script in (polyfill_text(), TOOLS):
        await context.add_init_script(script)
    await use(await start(context, agent))


async def test_a_document_without_tools_is_an_error_that_says_so(context: BrowserContext, agent: Bundle) -> None:
    page = await context.new_page()
    await page.goto(agent.url)
    failed = page.locator("#mcpframe-page[data-state=failed]")
    await failed.wait_for(timeout=BOOT_PATIENCE * 1000)
    assert "modelContext" in await failed.inner_text()


ODD_LISTS = (
    *("undefined", "null", "7", "'text'", "{}", "() => {}", "1n", "[null]", "[undefined]", "[7]", "[1n]", "[{}]"),
    *("[{ name: 7 }]", "[{ name: '' }]", "[{ get name() { throw 1; } }]", "[{ name: { toJSON() { throw 1; } } }]"),
    *("[new Proxy({}, { get() { throw 1; } })]", "Promise.reject()", "Promise.reject(7)", "(() => { throw null; })()"),
)
ODD_ANSWERS = (
    *(
        "undefined",
        "null",
        "7",
        "1n",
        "{}",
        "() => {}",
        "Symbol()",
        "{ toJSON() { throw 1; } }",
        "'{'",
        "'x'.repeat(1e7)",
    ),
    *(
        "'['.repeat(1e5)",
        "new Proxy({}, { get() { throw 1; } })",
        "(() => { const own = {}; own.own = own; return own; })()",
    ),
    *("Promise.reject()", "Promise.reject({ get name() { throw 1; } })", "(() => { throw undefined; })()"),
)


async def test_a_document_whose_scripts_have_replaced_it(webmcp_browser: Browser, agent: Bundle) -> None:
    """Every request is answered, and the agent goes on with what is there."""
    async with profile(webmcp_browser, TOOLS) as (context, _):
        page = await start(context, agent)
        names = "async () => agent.tools().then((found) => JSON.parse(found).length, () => 0)"
        for found in ODD_LISTS:
            await page.evaluate(f"() => {{ document.modelContext.getTools = () => ({found}); }}")
            assert await page.evaluate(names) == 0, found
        await page.evaluate("delete document.modelContext.getTools")
        for answer in ODD_ANSWERS:
            await page.evaluate(f"() => {{ document.modelContext.executeTool = () => ({answer}); }}")
            assert set(await ask(page, "call", "text", "{}")) >= {"content", "isError"}, answer
        await page.evaluate("delete document.modelContext.executeTool")
        assert await text(page, "text", who="é") == "hello é"
