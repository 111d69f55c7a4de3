"""A server's setup phase in a visible window, with the profile that the bridge uses afterwards."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from mcpframe.kit.base.errors import BridgeError
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bridge.chromium.bridge_page import BridgePage, FramedPage
from mcpframe.kit.bridge.chromium.carried_storage import CarriedStorage
from mcpframe.kit.browser.chromium import has_display
from mcpframe.kit.browser.devtools.browsers import LocalChromium
from mcpframe.kit.browser.profile import Profile, Remembered
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.meter import PageOutcome


class _Quiet:
    """The callbacks of a tab in its setup phase, in which there are no MCP messages."""

    def on_message(self, server_message: ServerMessage) -> None:
        """Never called in a setup."""

    def on_gone(self, reason: str, *, outcome: PageOutcome = "lost") -> None:
        """Do nothing: the setup itself raises the error."""

    def on_note(self, text: str) -> None:
        """Show the user a message."""
        print(f"mcpframe bridge: {visible(text)}", file=sys.stderr, flush=True)


def check_screen() -> None:
    """Raise `BridgeError` if no window can be shown."""
    if not has_display():
        raise BridgeError("There is no screen to show the setup on: run this with --setup in a desktop session.")


async def set_up(
    chromium: Path,
    profile: Profile,
    addresses: Mapping[str, int],
    key: str,
    framed: FramedPage,
    carried: CarriedStorage | None = None,
) -> Remembered:
    """Show the server's setup, wait until the user has completed it, store its result, and return it.

    Args:
        chromium: the browser's program.
        profile: the profile, which keeps the server's stored data.
        addresses: host names that are served on this machine, each with its port.
        carried: takes the values that the session has stored then; None if they are used in this profile.

    Raises:
        BridgeError: the window was closed, the setup failed, or its values cannot be carried.
    """
    browsers = LocalChromium(chromium, profile.chromium, addresses, visible=True)
    try:
        page = BridgePage(await browsers.open_tab(), _Quiet())
        await page.load()
        result = await page.set_up(framed)
        if error := result.get("error"):
            raise BridgeError(f"The setup did not succeed: {error['message'] or error['code']}.")
        remembered = Remembered(framed.session_id, result["title"], result["visibility"], result["permissions"])
        if carried is not None:
            await _read_values(browsers, framed, carried)
    finally:
        await browsers.close()
    profile.remember(key, remembered)
    notice = result.get("ephemeralMessage") or f"{result['title']} is set up."
    print(f"mcpframe bridge: {visible(notice)}", file=sys.stderr, flush=True)
    return remembered


async def _read_values(browsers: LocalChromium, framed: FramedPage, carried: CarriedStorage) -> None:
    """Open the server's page as a client would, and read the values of its session: the setup's own page is gone."""
    page = BridgePage(await browsers.open_tab(), _Quiet(), carried)
    await page.load()
    await page.open(framed)
    try:
        async with asyncio.timeout(framed.patience):
            await carried.read()
    except TimeoutError:
        raise BridgeError("The server does not stop computing after its setup: its values cannot be read.") from None
    if carried.is_too_large:
        raise BridgeError("The setup has stored more than is carried to browsers elsewhere: leave out --browsers.")
    # The profile may have those of earlier sessions of the server.
    carried.values = [value for value in carried.values if value[0][0] == framed.session_id]
