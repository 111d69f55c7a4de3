"""The outer frame: frames a page, sets it up, and talks MCP with it in either role.

    outer = OuterFrame("https://tools.example/pi/")
    async with outer.setup("#dialog") as setup:
        result = await setup.result()
    async with mcp.Client(outer.connect("#tools")) as client:
        ...

A page that is a client, such as an assistant, gets the streams of `connect` served: `await serve(server, *streams)`.

`setup` and `connect` put a new window into a place, listen before its page can send anything, and remove it at the end.
`prepare` does so ahead of `connect`, for a server that is likely to be used.
A place is a selector, an element of this page, or `POPUP`; outside a browser it is a `PlaywrightPlace` of
`mcpframe.kit.testing`. To open another session with the same id, also after an `Unresponsive` page, enter `connect`
again.

Permissions are granted by name, in advance or when the setup asks; the `allow` attribute contains nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Options
from mcpframe.frame.core.dialect import SETUP, TRANSPORT
from mcpframe.frame.core.errors import OriginError, PermissionsDenied, SessionError, StateError
from mcpframe.frame.core.events import Closed, Event, Unresponsive
from mcpframe.frame.core.places import (
    HINT_AFTER,
    POPUP,
    Framing,
    NoHandshake,
    Place,
    Popup,
    VisibilityChanged,
    parse_address,
    parse_sandbox,
)
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.frame.hosting.permissions import Decide, Permissions
from mcpframe.frame.hosting.shown_frame import ShownFrame, find_place
from mcpframe.frame.session.session import Session, WireHook

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from mcpframe.frame.session.setup_phase import SetupRequired, SetupResult, SetupStarted, Visibility

log = logging.getLogger(__name__)

__all__ = ["POPUP", "OuterFrame", "RunningSetup"]

OuterHook = Callable[[Event | NoHandshake | VisibilityChanged], None]

_MOST_DECISIONS = 3
"""The most times that one setup may ask for further permissions: the page is reloaded each time."""


class RunningSetup:
    """A setup phase in progress in a framed page.

    Attributes:
        requires_visible: whether the page must be visible; if so, it is shown.
        permissions: the permissions that the page asked for.
        session: the session under it.
    """

    def __init__(self, session: Session, started: SetupStarted) -> None:
        """Created by `OuterFrame.setup`."""
        self.session = session
        self.requires_visible = started.requires_visible
        self.permissions = started.permissions

    async def result(self) -> SetupResult:
        """Wait until the page has completed its setup; leave the `async with` block to cancel it.

        Returns:
            The page's report. A setup that failed or was cancelled in the page has an `error_code`.

        Raises:
            SessionError: if the page is gone, or took longer than `Options.setup_timeout`.
        """
        from mcpframe.frame.session import setup_phase

        return await setup_phase.result_of(self.session)


class OuterFrame:
    """One framed page of a host: its address, its session id, and its permissions. One phase at a time.

    Attributes:
        url: the page's address.
        origin: the only origin that messages are accepted from and posted to; `"null"` for an opaque one.
        session_id: the id under which the page stores its values. A host that stores the id can resume the session.
            It stays with the host in a dialect without session ids.
        title: the title reported by the setup.
        visibility: whether the page is to be visible in the transport phase, as reported by the setup.
        permissions: the names of the permissions granted so far.
        setup_required: set when a session asks for its setup again; a setup clears it.
        session: the session of the phase under way; None outside of one.
    """

    def __init__(
        self,
        url: str,
        *,
        dialect: str | None = None,
        session_id: str | None = None,
        title: str = "",
        visibility: Visibility | Literal["required", "optional", "hidden"] = "hidden",
        sandbox: str | None = "standard",
        permissions: Iterable[str] = (),
        on_permissions: Decide | None = None,
        opaque: bool = False,
        options: Options | None = None,
        on_event: OuterHook | None = None,
        on_wire: WireHook | None = None,
    ) -> None:
        """Describe the page to frame; it is loaded by `setup` or `connect`.

        Args:
            url: address of the page, of http or https. In a browser it may be relative to this page.
            dialect: the dialect that the page speaks, such as `"plain_mcp"`; by default the preferred one, that of
                mcpframe's own hosts.
            session_id: the id of a session to resume; by default a new, unguessable one.
            title: the frame's accessible name until the setup reports a title.
            visibility: the visibility that an earlier setup reported.
            sandbox: `"standard"`, `"popups"`, `"strict"`, the text of a `sandbox` attribute, or None for none.
                See `places.SANDBOX`. A popup has no sandbox.
            permissions: names of the Permissions Policy features that are granted.
            on_permissions: called when a setup asks for more; returns the names to grant, may be async. Without it
                nothing more is granted.
            opaque: the sandbox makes the page's origin opaque. Messages to it can only be posted to `*`, so any page in
                that iframe can read them; it never gets a known session id.
            options: deadlines and limits.
            on_event: called with every event of a connection but `Received`, with `VisibilityChanged`, and with
                `NoHandshake`.
            on_wire: called with every message, in either phase, that is sent, received or rejected (`events.Wire`).
                This has a cost; it is for inspection. For messages of other windows only the origin is reported.

        Raises:
            OriginError: for an address, a sandbox, a session id or a permission that cannot work.
            StateError: for a dialect that this cannot speak, or a session id in a dialect without.
        """
        from mcpframe.frame.session import setup_phase

        self._dialect = outer_dialect(dialect)
        if in_pyodide():
            from mcpframe.frame.browser.frame_places import absolute

            url = absolute(url)
        self.url, origin = parse_address(url)
        self.origin = "null" if opaque else origin
        self._allowed = parse_allowed_origins([] if opaque else [origin], opaque=opaque)
        self._sandbox = parse_sandbox(sandbox, opaque=opaque)
        if opaque and session_id is not None:
            raise OriginError("A session id is not given to a page of opaque origin: leave out session_id.")
        self.session_id = session_id or str(uuid.uuid4())
        if session_id is not None and not self._dialect.has_session_ids:
            raise StateError(f"The dialect {self._dialect.name!r} has no session ids: leave out session_id.")
        self._dialect.host_offer(session_id=self.session_id)  # checks it
        self.title = title
        self.visibility = setup_phase.Visibility(visibility)
        self._permissions = Permissions(permissions)
        self.permissions = self._permissions.granted
        self.options = options or Options()
        self.setup_required: SetupRequired | None = None
        self.session: Session | None = None
        self._opaque = opaque
        self._decide = on_permissions
        self._on_event = on_event
        self._on_wire = on_wire
        self._frame = ShownFrame()
        self._prepared: tuple[Session, AsyncExitStack] | None = None
        self._busy = False

    @property
    def visible(self) -> bool:
        """Whether the framed page is visible now."""
        return self._frame.visible

    def show(self) -> None:
        """Show the framed page; bring a popup to the front. Raises `StateError` if nothing is framed."""
        self._set_visible(True)

    def hide(self) -> None:
        """Hide the framed page; it keeps running. Raises `StateError` if nothing is framed."""
        self._set_visible(False)

    def stop(self, reason: str = "The host's user has stopped it.") -> None:
        """Stop the page's tools: their calls fail at once with -32000 and the reason `stopped`, and the page is told.

        The session continues. A server in a worker ends what computes; see docs/how-to/long-tools.md. Without a
        session nothing happens.

        Args:
            reason: a sentence for the caller and for the server.
        """
        if self.session:
            self.session.stop_calls(reason)

    @asynccontextmanager
    async def setup(self, place: Any) -> AsyncIterator[RunningSetup]:
        """Run the page's setup phase for the duration of the block.

        A page that must be visible is shown. If it asks for permissions that are undecided, `on_permissions` is called,
        and the page is reloaded with the granted ones.

        Args:
            place: where to put the page: see the module.

        Yields:
            The setup in progress.

        Raises:
            PermissionsDenied: if the page requires a permission that was not granted.
            PopupBlocked: if the browser blocks the popup.
            SessionError: if the handshake fails; see its subclasses.
            StateError: if this page is already framed, or its dialect has no setup.
        """
        from mcpframe.frame.session import setup_phase

        if not self._dialect.has_setup:
            raise StateError(f"The dialect {self._dialect.name!r} has no setup: use connect alone.")
        async with AsyncExitStack() as stack:
            session = await self._begin_setup(stack, self._place_of(place))
            started = session.started
            assert isinstance(started, setup_phase.SetupStarted)
            self._permissions.note(started.permissions)
            if started.requires_visible:
                self.show()
            yield RunningSetup(session, started)

    @asynccontextmanager
    async def connect(self, place: Any, *, visible: bool | None = None) -> AsyncIterator[TransportStreams]:
        """Open a session with the page, for as long as the block lasts.

        Args:
            place: where to put the page: see the module. Within `prepare` it is there already.
            visible: whether it is initially shown; by default only if its setup requires it.

        Yields:
            `(read, write)` of the SDK: for `mcp.Client(outer.connect(...))`, or for a server in this page to serve.

        Raises:
            PopupBlocked: if the browser blocks the popup.
            SessionError: if the handshake fails; see its subclasses.
            StateError: if this page is already framed, or has to be set up first.
        """
        self._check_setup()
        show = self.visibility == "required" if visible is None else visible
        if self._prepared is None:
            async with self._framed(TRANSPORT, self._place_of(place), show) as session:
                yield session.streams
            return
        (session, stack), self._prepared = self._prepared, None
        async with stack.pop_all():
            if show:
                self.show()
            await session.begun()
            if session.closed:
                raise session.closed.error or SessionError("The prepared page has ended its session.")
            self.session = session
            yield session.streams

    @asynccontextmanager
    async def prepare(self, place: Any) -> AsyncIterator[None]:
        """Load the page, hidden, and shake hands with it: for a server that is likely to be used within the block.

        It is loaded in the background; `connect` in the block waits for the rest, and then takes milliseconds. A page
        costs what an open one does. At the end of the block, or of `connect`, it is removed. If it fails, `connect`
        raises that.

        Args:
            place: where to put the page: see the module. A popup cannot be prepared.

        Raises:
            StateError: if this page is already framed, has to be set up first, or would be in a popup.
        """
        self._check_setup()
        if place is POPUP:
            raise StateError("A popup cannot be prepared: it would be seen. Prepare a page in an element.")
        async with AsyncExitStack() as stack:
            framed = self._framed(TRANSPORT, self._place_of(place), False, waits=False)
            self._prepared = await stack.enter_async_context(framed), stack
            try:
                yield
            finally:
                self._prepared = None

    def _check_setup(self) -> None:
        required = self.setup_required
        if required and not required.can_continue:
            raise StateError(f"The page needs its setup first: {required.message}")

    async def _begin_setup(self, stack: AsyncExitStack, place: Place) -> Session:
        for _ in range(_MOST_DECISIONS):
            try:
                return await stack.enter_async_context(self._framed(SETUP, place, False))
            except PermissionsDenied as error:
                await self._permissions.ask(error, self._decide, self.origin)
        raise PermissionsDenied(f"The page of {self.origin} asks for other permissions whenever it is loaded.")

    @asynccontextmanager
    async def _framed(self, phase: str, place: Place, visible: bool, *, waits: bool = True) -> AsyncIterator[Session]:
        if self._busy:
            raise StateError("This page is already framed: leave its setup or session first.")
        spoken = self._dialect
        hinting: asyncio.Handle | None = None

        def loaded() -> None:
            nonlocal hinting
            hinting = asyncio.get_running_loop().call_later(HINT_AFTER, self._hint)

        framing = Framing(
            url=spoken.address_for(self.url, phase),
            title=self.title or self.origin,
            sandbox=self._sandbox,
            allow=self._permissions.allowed(phase),
            visible=visible,
            on_load=loaded,
        )
        offer = spoken.host_offer(
            session_id=self.session_id,
            granted=frozenset(self.permissions),
            declined=frozenset(self._permissions.declined),
            asks=self._decide is not None,
        )
        candidate = Candidate(spoken.outer[phase], self._allowed, offer)
        hooks: dict[str, Any] = {"on_event": self._note, "on_wire": self._on_wire}
        self._busy = True
        try:
            async with self._frame.open(place, framing, candidate, options=self.options, **hooks) as session:
                if waits:
                    await session.begun()
                    self.session = session
                yield session
        finally:
            if hinting is not None:
                hinting.cancel()
            self._busy, self.session = False, None

    def _note(self, event: Event) -> None:
        from mcpframe.frame.session.setup_phase import SetupCompleted, SetupRequired

        if isinstance(event, SetupRequired):
            self.setup_required = event
        elif isinstance(event, SetupCompleted) and event.result.error_code is None:
            self.setup_required = None
            self.title = event.result.title or self.title
            self.visibility = event.result.visibility
        elif isinstance(event, Closed) and isinstance(event.error, PermissionsDenied):
            return  # not the end: `setup` asks the host
        if self._on_event:
            self._on_event(event)
        elif event == Unresponsive(True):
            log.warning("%s does not answer: end the session, and connect again to reload the page.", self.url)

    def _hint(self) -> None:
        if self._frame.session.connection.state is not State.AWAITING:
            return
        hint = (
            f"{self.url} has loaded, but does not call: is the address right, does the page serve MCP, and may "
            "this page's origin embed it?"
        )
        if self._on_event:
            self._on_event(NoHandshake(hint))
        else:
            log.warning(hint)

    def _set_visible(self, visible: bool) -> None:
        if self._frame.show(visible) and self._on_event:
            self._on_event(VisibilityChanged(visible))

    def _place_of(self, place: Any) -> Place:
        if self._opaque and isinstance(place, Popup):
            raise OriginError("A popup has no sandbox, and so an origin of its own: frame an opaque page in an iframe.")
        return find_place(place, popup=True)
