"""Pages by hand (`pages/page.js`) in frames."""

from __future__ import annotations

from playwright.async_api import Frame, Page

from tests.contract.playing import loaded

__all__ = ["framed", "loaded", "newest_frame"]


async def framed(parent: Page | Frame, url: str) -> Frame:
    """Frame a page by hand in another one that has `embed`, and return it when it is loaded."""
    await parent.evaluate("url => embed(url)", url)
    return await loaded(newest_frame(parent), url)


def newest_frame(parent: Page | Frame) -> Frame:
    """Return the frame that was added to a page last."""
    return (parent.main_frame if isinstance(parent, Page) else parent).child_frames[-1]
