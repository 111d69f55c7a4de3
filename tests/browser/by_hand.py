"""Pages by hand (`pages/page.js`) in frames."""

from __future__ import annotations

from playwright.async_api import Frame, Page

from tests.contract.playing import POLL


async def framed(parent: Page | Frame, url: str) -> Frame:
    """Frame a page by hand in another one that has `embed`, and return it when it is loaded."""
    await parent.evaluate("url => embed(url)", url)
    return await loaded(newest_frame(parent), url)


def newest_frame(parent: Page | Frame) -> Frame:
    """Return the frame that was added to a page last."""
    return (parent.main_frame if isinstance(parent, Page) else parent).child_frames[-1]


async def loaded(frame: Frame, url: str) -> Frame:
    """Wait for the page by hand at an address in a frame, and return the frame."""
    # Playwright loses a wait that began in the empty document of a frame that then moves to another process.
    await frame.wait_for_url(url)
    await frame.wait_for_function("() => typeof say === 'function'", polling=POLL)  # hidden frames draw nothing
    return frame
