"""A server's setup phase in a visible window, with the profile that the bridge uses afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mcpframe.kit.base.errors import BridgeError
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bridge.chromium.bridge_page import BridgePage, FramedPage
from mcpframe.kit.browser.devtools.browsers import LocalChromium
from mcpframe.kit.browser.profile import Profile, Remembered
from mcpframe.kit.edges.link.messages import ServerMessage


class _Quiet:
    """The callbacks of a tab in its setup phase, in which there are no MCP messages."""

    def on_message(self, server_message: ServerMessage) -> None:
        """Never called in a setup."""

    def on_gone(self, reason: str) -> None:
        """Do nothing: the setup itself raises the error."""

    def on_note(self, text: str) -> None:
        """Show the user a message."""
        print(f"mcpframe bridge: {visible(text)}", file=sys.stderr, flush=True)


async def set_up(chromium: Path, profile: Profile, addresses: Mapping[str, int], key: str, framed: FramedPage) -> None:
    """Show the server's setup, wait until the user has completed it, and store its result.

    Args:
        chromium: the browser's program.
        profile: the profile, which keeps the server's stored data.
        addresses: host names that are served on this machine, each with its port.

    Raises:
        BridgeError: there is no screen, the window was closed, or the setup failed.
    """
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise BridgeError("There is no screen to show the setup on: run this with --setup in a desktop session.")
    browsers = LocalChromium(chromium, profile.chromium, addresses, visible=True)
    try:
        page = BridgePage(await browsers.open_tab(), _Quiet())
        await page.load()
        result = await page.set_up(framed)
    finally:
        await browsers.close()
    if error := result.get("error"):
        raise BridgeError(f"The setup did not succeed: {error['message'] or error['code']}.")
    remembered = Remembered(framed.session_id, result["title"], result["visibility"], result["permissions"])
    profile.remember(key, remembered)
    notice = result.get("ephemeralMessage") or f"{result['title']} is set up."
    print(f"mcpframe bridge: {visible(notice)}", file=sys.stderr, flush=True)
