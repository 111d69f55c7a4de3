"""Drop files on a page as a person does, which only the browser's own protocol can."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Frame


async def drop(frame: Frame, selector: str, *files: Path) -> None:
    """Drop files on the middle of an element of a framed page, of the host's site."""
    element = await frame.wait_for_selector(selector)
    box = element and await element.bounding_box()
    assert box
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    protocol = await frame.page.context.new_cdp_session(frame.page)
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        await protocol.send("Input.dispatchDragEvent", {"type": kind, **point, "data": data})
    await protocol.detach()
