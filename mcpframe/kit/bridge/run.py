"""The whole bridge: a server, a profile, a browser, and the edge that a client speaks to."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import BridgeError
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.bridge.chromium.bridge_page import HOST_NAME, FramedPage
from mcpframe.kit.bridge.chromium.pages import Pages
from mcpframe.kit.bridge.chromium.setup_window import set_up
from mcpframe.kit.bridge.target import Target, open_target
from mcpframe.kit.browser.chromium import ensure_chromium, has_display
from mcpframe.kit.browser.devtools.browsers import LocalChromium
from mcpframe.kit.browser.profile import Profile, default_folder, open_profile
from mcpframe.kit.edges.link.reopening_link import LinkedPage
from mcpframe.kit.web.serve import serve_folder

# The host page may frame any server, and loads only its own files.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; frame-src http: https:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class BridgeOptions:
    """The options of the command.

    Attributes:
        where: the server's address or folder.
        session_id: the session to use; by default the remembered one.
        profile: the profile folder; by default a separate one for each server.
        patience: how long the page may take to start, in seconds.
        busy: how long a tool may compute without a pause, in seconds; 0 for ever.
        setup: run the server's setup first, in a visible window.
        window: show the page in a window; None: if the server says that a person has to see it.
        progress: called with a line of text about each long step.
        dialect: the dialect that the page speaks; by default the preferred one.
    """

    where: str
    session_id: str | None = None
    profile: Path | None = None
    patience: float = 60.0
    busy: float = 60.0
    setup: bool = False
    window: bool | None = None
    progress: Progress = silent
    dialect: str | None = None


def bridge_stdio(options: BridgeOptions) -> None:
    """Bridge the standard streams until they end. After a setup at a terminal it returns at once.

    Raises:
        KitError: the server could not be opened. A client's requests have been answered with the reason.
    """
    from mcpframe.kit.edges.stdio.edge import serve_stdio

    served = False

    async def fail(_: object) -> LinkedPage:
        raise reason

    async def serve(pages: Pages) -> None:
        nonlocal served
        served = True
        if not (options.setup and sys.stdin.isatty()):
            await serve_stdio(pages.open)

    try:
        run_bridge(options, serve)
    except McpFrameError as error:
        if served:
            raise
        reason = error
        asyncio.run(serve_stdio(fail))


def bridge_http(options: BridgeOptions, port: int, allowed_origins: Sequence[str] = ()) -> None:
    """Serve Streamable HTTP on this machine until it is interrupted.

    Args:
        port: the port; 0 takes a free one.
        allowed_origins: the origins of web pages that may send requests.

    Raises:
        PortTaken: another program listens on the port.
        KitError: the server could not be opened.
    """
    from mcpframe.kit.edges.http.endpoint import serve_http

    run_bridge(options, lambda pages: serve_http(pages.open, port, allowed_origins))


def run_bridge(options: BridgeOptions, serve: Callable[[Pages], Awaitable[None]]) -> None:
    """Open the server and a browser, and run `serve` until it ends.

    Args:
        serve: called with the object that opens pages with the server.

    Raises:
        KitError: the server could not be opened.
    """
    spoken = outer_dialect(options.dialect)
    scripts = sorted(script.stem for script in (static_dir() / "bridge" / "dialects").glob("*.js"))
    if spoken.name not in scripts:
        raise BridgeError(f"The bridge does not speak {spoken.name!r}, only: {', '.join(scripts)}.")
    if options.setup and not spoken.has_setup:
        raise BridgeError(f"The dialect {spoken.name!r} has no setup: leave out --setup.")
    chromium = ensure_chromium()
    with ExitStack() as stack:
        target = stack.enter_context(
            open_target(options.where, patience=options.patience, dialect=options.dialect, progress=options.progress)
        )
        folder = options.profile or default_folder(target.key)
        profile = stack.enter_context(open_profile(folder, alone=options.setup))
        if profile.is_copy:
            print(
                f"mcpframe bridge: Another bridge is using {folder}: this one works on a copy, and what the server "
                "stores now is not kept.",
                file=sys.stderr,
            )
        host = stack.enter_context(serve_folder(static_dir(), headers={"Content-Security-Policy": _POLICY}))
        addresses = {HOST_NAME: host.port, **target.addresses}
        asyncio.run(_main(_Work(options, target, profile, chromium, addresses), serve))


@dataclass(frozen=True)
class _Work:
    options: BridgeOptions
    target: Target
    profile: Profile
    chromium: Path
    addresses: dict[str, int]

    def shows_window(self) -> bool:
        """Return whether the page is shown in a window.

        Raises:
            BridgeError: a window was asked for, and there is no screen.
        """
        chosen = self.options.window
        if chosen is False:
            return False
        known = self.profile.recall(self.target.key, self.options.session_id)
        if chosen is None and known.visibility != "required" and not self.target.is_seen():
            return False
        if has_display():
            return True
        if chosen:
            raise BridgeError("There is no display for a window: run this in a desktop session, or leave out --window.")
        print(
            "mcpframe bridge: The server's page has to be seen, and there is no display: run it in a desktop session.",
            file=sys.stderr,
            flush=True,
        )
        return False

    async def framed(self) -> FramedPage:
        """Return the page to frame."""
        known = self.profile.recall(self.target.key, self.options.session_id)
        if not self.profile.is_copy:
            self.profile.remember(self.target.key, known)
        url = await asyncio.to_thread(self.target.find)
        options = self.options
        return FramedPage(
            url,
            known.session_id,
            known.visibility,
            known.permissions,
            options.patience,
            options.busy,
            options.dialect,
        )


async def _main(work: _Work, serve: Callable[[Pages], Awaitable[None]]) -> None:
    framed = _begun(work)  # while the browser starts
    window = False

    async def what() -> FramedPage:
        nonlocal framed
        if framed.done() and framed.exception():
            framed = _begun(work)
        page = await asyncio.shield(framed)
        return replace(page, visibility="required") if window else page

    with ended_by_signals():
        if work.options.setup:
            await set_up(work.chromium, work.profile, work.addresses, work.target.key, await what())
            framed = _begun(work)
        window = await asyncio.to_thread(work.shows_window)
        browsers = LocalChromium(work.chromium, work.profile.chromium, work.addresses, visible=window)
        try:
            await serve(Pages(browsers, what))
        finally:
            await browsers.close()


def _begun(work: _Work) -> asyncio.Task[FramedPage]:
    framed = asyncio.get_running_loop().create_task(work.framed())
    framed.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may never be awaited
    return framed
