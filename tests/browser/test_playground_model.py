"""The playground asks a model about the server that runs: stand-ins of both forms, at another origin, with CORS."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.async_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcpframe.kit.web.serve import serve_app, serve_folder
from tests.browser.conftest import Troubles
from tests.browser.test_accessibility import SCHEMES, complaints
from tests.browser.test_playground import STARTING, run, write
from tests.support.built import built_public_site

ALLOWED = {
    "chat": {"content-type", "authorization"},
    "messages": {"content-type", "x-api-key", "anthropic-version", "anthropic-dangerous-direct-browser-access"},
}
ADD = {"a": 2, "b": 3}


class Models:
    """Both forms of a model that calls `add` once and then answers, or goes on calling if it is asked to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, str], dict[str, Any]]] = []

    async def answer(self, request: Request) -> Response:
        form = request.path_params["form"]
        headers = {"Access-Control-Allow-Origin": request.headers["origin"]}
        if request.method == "OPTIONS":  # refuses unknown headers, as one service does
            wanted = {each.strip() for each in request.headers["access-control-request-headers"].split(",")}
            if not wanted <= ALLOWED[form]:
                return Response(status_code=403)
            return Response(headers={**headers, "Access-Control-Allow-Headers": ",".join(wanted)})
        body = await request.json()
        self.asked.append((form, request.headers, body))
        if request.headers.get("authorization", request.headers.get("x-api-key", "")).endswith("wrong"):
            return JSONResponse({"error": "this key is not known"}, 401, headers)
        told = json.dumps(body["messages"])
        calls = "for ever" in told or ("call-1" not in told and "tool_use_id" not in told)
        return JSONResponse(self.chat(calls) if form == "chat" else self.messages(calls), headers=headers)

    def chat(self, calls: bool) -> dict[str, Any]:
        function = {"name": "add", "arguments": json.dumps(ADD)}
        message: dict[str, Any] = {"role": "assistant", "content": None if calls else "It is <b>five</b>."}
        if calls:
            message["tool_calls"] = [{"id": "call-1", "type": "function", "function": function}]
        return {"choices": [{"message": message}]}

    def messages(self, calls: bool) -> dict[str, Any]:
        use = {"type": "tool_use", "id": "call-1", "name": "add", "input": ADD}
        return {"content": [use] if calls else [{"type": "text", "text": "It is <b>five</b>."}]}


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
def service(models: Models) -> Iterator[str]:
    with serve_app(Starlette(routes=[Route("/{form}", models.answer, methods=["POST", "OPTIONS"])])) as served:
        yield f"http://127.0.0.1:{served.port}/"


@pytest.fixture
def address() -> Iterator[str]:
    with serve_folder(built_public_site().parents[1]) as served:
        yield f"http://localhost:{served.port}/below/site/playground/#template=minimal"


async def test_a_conversation_in_both_forms(
    page: Page, troubles: Troubles, models: Models, service: str, address: str
) -> None:
    troubles.expect("status of 401")
    await page.goto(address)
    await page.get_by_text("Ask a model").click()
    panel, log = page.locator("#model"), page.get_by_role("log", name="Conversation")
    await panel.get_by_label("Address").fill(f"{service}chat")
    await panel.get_by_label("Model", exact=True).fill("stand-in")
    await panel.get_by_label("Key").fill("secret")
    await panel.get_by_label("Question").fill("What is 2 + 3?")
    ask = panel.get_by_role("button", name="Ask")
    await ask.click()
    await expect(log).to_contain_text("Run the server first.")
    assert models.asked == []
    await run(page)

    await ask.click()
    await expect(log).to_contain_text("The model calls add")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []
    await log.get_by_role("button", name="Allow").click()
    await expect(log).to_contain_text("It is <b>five</b>.")  # as text
    [(_, headers, first), (_, _, second)] = models.asked
    assert headers["authorization"] == "Bearer secret"
    assert first["tools"][0]["function"]["parameters"]["required"] == ["a", "b"]
    assert second["messages"][-1] == {"role": "tool", "tool_call_id": "call-1", "content": "5"}

    models.asked.clear()
    await panel.get_by_label("Kind of service").select_option("messages")
    await panel.get_by_label("Address").fill(f"{service}messages")
    await panel.get_by_label("Question").fill("And again?")
    await ask.click()
    await log.get_by_role("button", name="Refuse").click()
    await expect(log).to_contain_text("The user does not allow this call.")
    await expect(ask).to_be_enabled()
    [(_, headers, first), (_, _, second)] = models.asked
    assert (headers["x-api-key"], len(first["messages"])) == ("secret", 1)  # not the other service's conversation
    assert second["messages"][-1]["content"][0]["is_error"] is True

    await panel.get_by_label("Key").fill("wrong")
    await panel.get_by_label("Question").fill("And once more?")
    await ask.click()
    await expect(log).to_contain_text("answered 401")
    await expect(log).to_contain_text("this key is not known")
    kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "secret" not in kept
    assert "wrong" not in kept


async def test_a_conversation_ends(page: Page, models: Models, service: str, address: str) -> None:
    """By the limit of rounds for a tool that only reads, and by Stop while it asks before a call."""
    await page.goto(address)
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await page.get_by_text("Ask a model").click()
    panel, log = page.locator("#model"), page.get_by_role("log", name="Conversation")
    await panel.get_by_label("Address").fill(f"{service}chat")
    await panel.get_by_label("Model", exact=True).fill("stand-in")
    await panel.get_by_label("Question").fill("Call it for ever.")
    await run(page)
    ask, stop = panel.get_by_role("button", name="Ask"), panel.get_by_role("button", name="Stop the model")
    await ask.click()
    await expect(log.get_by_role("button", name="Allow")).to_be_visible()
    await stop.click()
    await expect(log).to_contain_text("Stopped.")
    await expect(log.get_by_role("button", name="Allow")).to_have_count(0)
    assert len(models.asked) == 1

    text = await page.locator(".cm-content").inner_text()
    reads = "@server.tool(annotations={'readOnlyHint': True})"
    await write(page, text.replace("@server.tool()", reads))
    await run(page)
    await ask.click()
    await expect(log).to_contain_text("within 10 rounds", timeout=STARTING)
    assert len(models.asked) == 11
