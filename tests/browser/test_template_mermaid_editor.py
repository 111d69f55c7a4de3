"""The template mermaid-editor, end to end: the model draws, the person edits, and each sees the other's changes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Frame

from tests.browser.hosts import Connected, Host

URI = "mermaid://diagram"
PIE = 'pie title Pets\n  "Dogs" : 60\n  "Cats" : 40'
FLOW = "flowchart LR\n  A[Idea] --> B(Draft)"


@pytest.fixture
def template() -> str:
    return "mermaid-editor"


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def drawn(frame: Frame, words: str) -> None:
    """Wait until the picture has these words."""
    await frame.wait_for_selector(f"#picture svg >> text={words}", state="attached")


@asynccontextmanager
async def seen(host: Host) -> AsyncIterator[Connected]:
    """Connect, and show the page as its setup would have it."""
    async with host.connect() as server:
        await server.show(True)
        yield server


async def test_the_page_has_to_be_seen(host: Host) -> None:
    async with host.setup() as setting_up:
        result = await setting_up.result()
    assert (result["title"], result["visibility"]) == ("Mermaid editor", "required")
    async with host.connect() as server:
        await drawn(server.frame, "This diagram")
        assert await (await server.frame.frame_element()).is_visible()


async def test_the_model_draws_and_the_person_edits(host: Host) -> None:
    async with seen(host) as server, server.updates(URI) as next_update:
        frame = server.frame
        assert text(await server.ok("draw", code=PIE)) == "Drawn."
        assert await next_update() == URI
        await drawn(frame, "Dogs")
        assert await frame.input_value("#code") == PIE

        edited = PIE.replace("Dogs", "Horses")
        await frame.fill("#code", edited)
        assert await next_update() == URI
        await drawn(frame, "Horses")
        source = await server.ok("get_source")
        assert source["structuredContent"] == {"code": edited, "edited_by_user": True}
        assert (await server.read(URI))["contents"][0]["text"] == edited
        again = await server.ok("get_source")
        assert not again["structuredContent"]["edited_by_user"]

        await frame.fill("#code", FLOW)  # not announced yet, but there for the very next call
        replaced = await server.ok("draw", code=PIE)
        assert text(replaced).endswith(f"\n\n{FLOW}")
        await drawn(frame, "Dogs")
        await frame.click("#undo")
        await drawn(frame, "Draft")
        assert (await server.ok("get_source"))["structuredContent"]["code"] == FLOW


async def test_mistakes(host: Host) -> None:
    async with seen(host) as server:
        await server.ok("draw", code=PIE)
        refused = await server.call("draw", code="flowchart LR\n  A -->")
        assert refused["isError"]
        assert "Mermaid cannot draw this: Parse error on line" in text(refused)
        assert (await server.ok("get_source"))["structuredContent"]["code"] == PIE

        await server.frame.fill("#code", "pie\n  Dogs")  # the person's own: shown beside the last good picture
        await server.frame.wait_for_selector("#mistake:not([hidden])")
        await drawn(server.frame, "Dogs")
        no_picture = await server.call("export_svg")
        assert no_picture["isError"]
        await server.frame.fill("#code", FLOW)
        await drawn(server.frame, "Draft")
        await server.frame.wait_for_selector("#mistake", state="hidden")


async def test_exports(host: Host) -> None:
    async with seen(host) as server:
        await server.ok("draw", code=FLOW)
        resource = (await server.ok("export_svg", theme="dark"))["content"][0]["resource"]
        assert resource["mimeType"] == "image/svg+xml"
        assert resource["text"].startswith("<svg")
        assert "Draft" in resource["text"]
        assert "foreignObject" not in resource["text"]  # which other programs don't show
        async with host.page.expect_download() as download:
            await server.ok("export_svg", to="download")
        file = await download.value
        assert file.suggested_filename == "diagram.svg"
        assert "Draft" in (await file.path()).read_text()
        async with host.page.expect_download() as download:
            await server.frame.click("#download")
        assert (await download.value).suggested_filename == "diagram.svg"


async def test_the_diagram_is_kept_for_the_session(host: Host) -> None:
    async with seen(host) as server:
        await server.ok("draw", code=PIE)
    async with seen(host) as server:
        await drawn(server.frame, "Dogs")
        assert (await server.ok("get_source"))["structuredContent"]["code"] == PIE


KINDS = {
    "sequenceDiagram\n  Ada->>Bob: Hello": "Hello",
    "classDiagram\n  class Horse": "Horse",
    "stateDiagram-v2\n  [*] --> Moving": "Moving",
    "erDiagram\n  CUSTOMER ||--o{ ORDER : places": "CUSTOMER",
    "gantt\n  section A\n  Build :a1, 2025-01-01, 30d": "Build",
    "mindmap\n  root((Plan))\n    Origins": "Origins",
    "timeline\n  2025 : Launch": "Launch",
}
"""A diagram of each kind, and a word in its picture."""


async def test_every_kind_of_diagram_is_in_the_bundle(host: Host) -> None:
    async with seen(host) as server:
        for code, word in KINDS.items():
            await server.ok("draw", code=code)
            await drawn(server.frame, word)
