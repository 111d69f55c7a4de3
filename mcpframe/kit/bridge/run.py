"""The whole bridge: a server, a profile, a browser, and the edge that a client speaks to."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import BridgeError
from mcpframe.kit.base.extras import need
from mcpframe.kit.base.limits import MOST_SESSIONS
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.bridge.chromium.bridge_page import HOST_NAME, FramedPage
from mcpframe.kit.bridge.chromium.carried_storage import CarriedStorage
from mcpframe.kit.bridge.chromium.pages import Pages
from mcpframe.kit.bridge.chromium.setup_window import check_screen, set_up
from mcpframe.kit.bridge.target import Target, open_target
from mcpframe.kit.browser.chromium import ensure_chromium, has_display
from mcpframe.kit.browser.devtools.browsers import LocalChromium
from mcpframe.kit.browser.profile import Profile, Remembered, default_folder, open_profile
from mcpframe.kit.edges.link.early_answers import recorded_answers
from mcpframe.kit.edges.link.reopening_link import LinkedPage
from mcpframe.kit.web.serve import serve_folder

if TYPE_CHECKING:
    from mcpframe.kit.edges.http.access import Access

# The host page may frame any server, and loads only its own files.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; frame-src http: https:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)

_FURTHER_PAGES = 2
"""Pages besides those of sessions: the one that clients from 2026-07-28 on share, and one opened in advance."""


@dataclass(frozen=True)
class BridgeOptions:
    """The options of the command.

    Attributes:
        where: the server's address or folder.
        session_id: the session to use; by default the remembered one.
        profile: the profile folder; by default a separate one for each server. Of browsers elsewhere it is that of the
            setup.
        patience: how long the page may take to start, in seconds.
        busy: how long a tool may compute without a pause, in seconds; 0 for ever.
        page_memory: how much memory a page may have, in MB; 0 for any amount.
        setup: run the server's setup first, in a visible window of this machine.
        window: show the page in a window; None: if the server says that a person has to see it.
        progress: called with a line of text about each long step.
        dialect: the dialect that the page speaks; by default the preferred one.
        browsers: addresses of DevTools of browsers to use, elsewhere; empty for a Chromium of this machine.
        sessions: the most sessions over HTTP until 2025-11-25, for each browser.
        sessions_per_user: the most of those of one user; None for any number.
        drain: how long clients over HTTP may go on after a signal that ends the bridge, in seconds.
        name: the bridge's name in what clients over HTTP return to it (`edges.http.names`); empty for none.
        card: the file of the server card that is served over HTTP.
    """

    where: str
    session_id: str | None = None
    profile: Path | None = None
    patience: float = 60.0
    busy: float = 60.0
    page_memory: int = 0
    setup: bool = False
    window: bool | None = None
    progress: Progress = silent
    dialect: str | None = None
    browsers: Sequence[str] = ()
    sessions: int = MOST_SESSIONS
    sessions_per_user: int | None = None
    drain: float = 0
    name: str = ""
    card: Path | None = None


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
            await serve_stdio(pages.open, early=pages.early())

    try:
        run_bridge(options, serve)
    except McpFrameError as error:
        if served:
            raise
        reason = error
        asyncio.run(serve_stdio(fail))


def bridge_http(options: BridgeOptions, port: int, access: Access, metrics: tuple[str, int] | None = None) -> None:
    """Serve Streamable HTTP until it is interrupted.

    Args:
        port: the port; 0 takes a free one.
        access: where it listens, and who is answered.
        metrics: the host and the port at which metrics are served; None for none.

    Raises:
        ExtraMissing: metrics need an extra that is not installed.
        PortTaken: another program listens on the port.
        ConfigError: the card is none.
        McpFrameError: the server could not be opened, or as by `Access.check`.
    """
    from mcpframe.kit.edges.http.endpoint import EdgeOptions, serve_http
    from mcpframe.kit.edges.http.metrics import BridgeMetrics
    from mcpframe.kit.edges.http.server_card import read_card

    access.check()
    if metrics is not None:
        need("metrics", "--metrics")
    card = None if options.card is None else read_card(options.card)
    most = options.sessions * max(1, len(options.browsers))

    async def serve(pages: Pages) -> None:
        ready = partial(getattr, pages.browsers, "is_ready")
        counts = BridgeMetrics(*metrics, lambda: pages.browsers.states) if metrics is not None else None
        edge = EdgeOptions(
            most_sessions=most,
            most_of_user=options.sessions_per_user,
            ready=ready,
            early=pages.early,
            drain_seconds=options.drain,
            name=options.name,
            card=card,
            metrics=counts,
        )
        await serve_http(pages.open, port, access, edge)

    run_bridge(options, serve)


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
    if options.setup:
        check_screen()
    chromium = ensure_chromium() if options.setup or not options.browsers else None
    with ExitStack() as stack:
        target = stack.enter_context(
            open_target(options.where, patience=options.patience, dialect=options.dialect, progress=options.progress)
        )
        host = stack.enter_context(serve_folder(static_dir(), headers={"Content-Security-Policy": _POLICY}))
        addresses = {HOST_NAME: host.port, **target.addresses}
        folder = options.profile or default_folder(target.key)
        if options.browsers:
            known = Remembered(options.session_id or str(uuid.uuid4()))
            values: list[Any] = []
            if chromium is not None:
                with open_profile(folder, alone=True) as profile:
                    known, values = asyncio.run(_set_up_here(_Work(options, target, profile, chromium, addresses)))
            asyncio.run(_serve_elsewhere(options, target, addresses, known, values, serve))
            return
        assert chromium is not None
        profile = stack.enter_context(open_profile(folder, alone=options.setup))
        if profile.is_copy:
            print(
                f"mcpframe bridge: Another bridge is using {folder}: this one works on a copy, and what the server "
                "stores now is not kept.",
                file=sys.stderr,
            )
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
        return await _framed(self.options, self.target, known)


async def _framed(options: BridgeOptions, target: Target, known: Remembered) -> FramedPage:
    return FramedPage(
        await asyncio.to_thread(target.find),
        known.session_id,
        known.visibility,
        known.permissions,
        options.patience,
        options.busy,
        options.dialect,
        options.page_memory,
    )


class _Begun:
    """A page to frame, which is built or checked while the browser starts, and again if that has failed."""

    def __init__(self, framed: Callable[[], Coroutine[Any, Any, FramedPage]]) -> None:
        self._framed = framed
        self.again()

    def again(self) -> None:
        """Begin again."""
        self._task = asyncio.get_running_loop().create_task(self._framed())
        self._task.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may never be awaited

    async def __call__(self) -> FramedPage:
        if self._task.done() and self._task.exception():
            self.again()
        return await asyncio.shield(self._task)


async def _main(work: _Work, serve: Callable[[Pages], Awaitable[None]]) -> None:
    framed = _Begun(work.framed)
    window = False

    async def what() -> FramedPage:
        page = await framed()
        return replace(page, visibility="required") if window else page

    with ended_by_signals():
        if work.options.setup:
            await set_up(work.chromium, work.profile, work.addresses, work.target.key, await what())
            framed.again()
        window = await asyncio.to_thread(work.shows_window)
        answers = recorded_answers(await asyncio.to_thread(work.target.manifest))
        browsers = LocalChromium(work.chromium, work.profile.chromium, work.addresses, visible=window)
        try:
            await serve(Pages(browsers, what, answers))
        finally:
            await browsers.close()


async def _set_up_here(work: _Work) -> tuple[Remembered, list[Any]]:
    """Run the setup in a window of this machine; return its result, and the values that it has stored."""
    with ended_by_signals():
        carried, framed = CarriedStorage(), await work.framed()
        known = await set_up(work.chromium, work.profile, work.addresses, work.target.key, framed, carried)
        return known, carried.values


async def _serve_elsewhere(
    options: BridgeOptions,
    target: Target,
    addresses: Mapping[str, int],
    known: Remembered,
    values: Sequence[Any],
    serve: Callable[[Pages], Awaitable[None]],
) -> None:
    from mcpframe.kit.browser.devtools.remote import RemoteBrowsers

    with ended_by_signals():
        framed = _Begun(lambda: _framed(options, target, known))
        if await asyncio.to_thread(target.is_seen):
            print("mcpframe bridge: The server's page has to be seen: leave out --browsers.", file=sys.stderr)
        answers = recorded_answers(await asyncio.to_thread(target.manifest))
        browsers = RemoteBrowsers(options.browsers, addresses, options.sessions + _FURTHER_PAGES)
        try:
            await serve(Pages(browsers, framed, answers, values))
        finally:
            await browsers.close()
