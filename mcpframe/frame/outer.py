"""The outer frame: frames a page, sets it up, and talks MCP with it in either role.

    outer = OuterFrame("https://tools.example/pi/")
    async with outer.setup("#dialog") as setup:
        result = await setup.result()
    async with mcp.Client(outer.connect("#tools")) as client:
        ...

`setup` and `connect` put a fresh window into a place, listen before its page can speak, and take it away at the end. A
place is a selector or an element of this page or `POPUP`; outside a browser it is a `PlaywrightPlace`, of
`mcpframe.kit.testing`. A session that is over may be followed by another one with the same id: enter `connect` again,
also where the page was `Unresponsive`.

What a page may do is granted by name, beforehand or when its setup asks; nothing else gets into the `allow` attribute.
"""

from __future__ import annotations

import inspect
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.dialect import SETUP, TRANSPORT
from mcpframe.frame.core.errors import OriginError, PermissionsDenied, StateError
from mcpframe.frame.core.events import Closed, Event
from mcpframe.frame.core.origins import parse_allowed_origins
from mcpframe.frame.dialects.available import dialect
from mcpframe.frame.places import (
    POPUP,
    FramedWindow,
    Framing,
    Place,
    Popup,
    VisibilityChanged,
    allow_attribute,
    parse_address,
    parse_sandbox,
)
from mcpframe.frame.session import Session, WireHook, open_session

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from mcpframe.frame.setup_phase import Permission, SetupRequired, SetupResult, SetupStarted, Visibility

__all__ = ["POPUP", "OuterFrame", "RunningSetup"]

OuterHook = Callable[[Event | VisibilityChanged], None]
Decide = Callable[["tuple[Permission, ...]"], Iterable[str] | Awaitable[Iterable[str]]]

_MOST_DECISIONS = 3
"""How often one setup may ask for further permissions: each time the page is loaded anew."""


class RunningSetup:
    """A setup phase that is under way in a framed page.

    Attributes:
        requires_visible: whether the page needs to be seen; it is shown then.
        permissions: what the page asked for.
        session: the session under it.
    """

    def __init__(self, session: Session, started: SetupStarted) -> None:
        """Made by `OuterFrame.setup`."""
        self.session = session
        self.requires_visible = started.requires_visible
        self.permissions = started.permissions

    async def result(self) -> SetupResult:
        """Wait until the page has completed its setup; leave the `async with` block to give it up.

        Returns:
            What the page reported. A setup that failed or was cancelled in the page has an `error_code`.

        Raises:
            SessionError: where the page is gone, or took longer than `Options.setup_timeout`.
        """
        from mcpframe.frame import setup_phase

        return await setup_phase.result_of(self.session)


class OuterFrame:
    """One framed page of a host: its address, its session id, and what it may do. One phase at a time.

    Attributes:
        url: the page's address.
        origin: the one origin that is heard and posted to; `"null"` for an opaque one.
        session_id: the id that the page keeps its values under. A host that keeps it, too, resumes with it.
        title: what the page calls itself since its setup.
        visibility: whether the page is to be seen in the transport phase, as its setup said.
        permissions: the names of the permissions that are granted, so far.
        setup_required: set where a session asked for its setup again; a setup clears it.
        session: the session of the phase under way; None outside of one.
    """

    def __init__(
        self,
        url: str,
        *,
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
        """Say what to frame; nothing is loaded yet.

        Args:
            url: address of the page, of http or https. In a browser it may be relative to this page.
            session_id: to resume a session; by default a new one that cannot be guessed.
            title: what the frame is called until the setup says better.
            visibility: what the setup said, where it took place earlier.
            sandbox: `"standard"`, `"popups"`, `"strict"`, the text of a `sandbox` attribute, or None for none.
                See `places.SANDBOX`. A popup has no sandbox.
            permissions: names of the Permissions Policy features that are granted.
            on_permissions: asked what to grant where a setup asks for more; gives names, may be async. Without it
                nothing more is granted.
            opaque: the sandbox takes the page its origin. Messages to it can only be posted to `*`, so whatever is in
                that iframe reads them; a known session id is not given to it.
            options: deadlines and limits.
            on_event: called with every event of a connection but `Received`, and with `VisibilityChanged`.
            on_wire: called with every message, in either phase, as it is sent, received or refused (`events.Wire`). It
                costs; for inspecting. Of what other windows post to this one, only the origin is told.

        Raises:
            OriginError: for an address, a sandbox or a permission that cannot work.
        """
        from mcpframe.frame import setup_phase

        if sys.platform == "emscripten":
            from mcpframe.frame.browser.frames import absolute

            url = absolute(url)
        self.url, origin = parse_address(url)
        self.origin = "null" if opaque else origin
        self._allowed = parse_allowed_origins([] if opaque else [origin], opaque=opaque)
        self._sandbox = parse_sandbox(sandbox, opaque=opaque)
        if opaque and session_id is not None:
            raise OriginError("A session id is not given to a page of opaque origin: leave out session_id.")
        self.session_id = session_id or str(uuid.uuid4())
        self.title = title
        self.visibility = setup_phase.Visibility(visibility)
        self.permissions = set(permissions)
        allow_attribute(self.permissions)
        self.options = options or Options()
        self.setup_required: SetupRequired | None = None
        self.session: Session | None = None
        self._opaque = opaque
        self._declined: set[str] = set()
        self._phases: dict[str, tuple[str, ...]] = {}
        self._decide = on_permissions
        self._on_event = on_event
        self._on_wire = on_wire
        self._window: FramedWindow | None = None
        self._visible = False
        self._busy = False

    @property
    def visible(self) -> bool:
        """Whether the framed page is shown now."""
        return self._visible

    def show(self) -> None:
        """Show the framed page; bring a popup to the front. Raises `StateError` where nothing is framed."""
        self._set_visible(True)

    def hide(self) -> None:
        """Hide the framed page; it goes on running. Raises `StateError` where nothing is framed."""
        self._set_visible(False)

    @asynccontextmanager
    async def setup(self, place: Any) -> AsyncIterator[RunningSetup]:
        """Run the page's setup phase for as long as the block lasts.

        A page that needs to be seen is shown. Where it asks for permissions that nobody has decided on, the host is
        asked, and the page is loaded anew with what was granted.

        Args:
            place: where to put the page: see the module.

        Yields:
            The setup under way.

        Raises:
            PermissionsDenied: where the page cannot do without a permission that was not granted.
            PopupBlocked: where the browser opens no popup.
            SessionError: where the handshake fails; see its subclasses.
            StateError: where this page is already framed.
        """
        from mcpframe.frame import setup_phase

        async with AsyncExitStack() as stack:
            session = await self._begin_setup(stack, self._place_of(place))
            started = session.started
            assert isinstance(started, setup_phase.SetupStarted)
            for permission in started.permissions:
                self._phases[permission.name] = permission.phase
            if started.requires_visible:
                self.show()
            yield RunningSetup(session, started)

    @asynccontextmanager
    async def connect(self, place: Any, *, visible: bool | None = None) -> AsyncIterator[TransportStreams]:
        """Open a session with the page, for as long as the block lasts.

        Args:
            place: where to put the page: see the module.
            visible: whether it is shown from the beginning; by default only where its setup requires it.

        Yields:
            `(read, write)` of the SDK: for `mcp.Client(outer.connect(...))`, or for a server in this page to serve.

        Raises:
            PopupBlocked: where the browser opens no popup.
            SessionError: where the handshake fails; see its subclasses.
            StateError: where this page is already framed, or has to be set up first.
        """
        required = self.setup_required
        if required and not required.can_continue:
            raise StateError(f"The page needs its setup first: {required.message}")
        show = self.visibility == "required" if visible is None else visible
        async with self._framed(TRANSPORT, self._place_of(place), show) as session:
            yield session.streams

    async def _begin_setup(self, stack: AsyncExitStack, place: Place) -> Session:
        for _ in range(_MOST_DECISIONS):
            try:
                return await stack.enter_async_context(self._framed(SETUP, place, False))
            except PermissionsDenied as error:
                await self._ask(error)
        raise PermissionsDenied(f"The page of {self.origin} asks for other permissions whenever it is loaded.")

    async def _ask(self, error: PermissionsDenied) -> None:
        if self._decide is None:
            raise error
        for permission in error.permissions:  # now: what is granted is in force as soon as the page is loaded anew
            self._phases[permission.name] = permission.phase
        answer = self._decide(error.permissions)
        granted = set(await answer if inspect.isawaitable(answer) else answer)
        asked = {permission.name for permission in error.permissions}
        if unasked := granted - asked:
            raise StateError(f"Granted, but not asked for: {', '.join(sorted(unasked))}.")
        missing = tuple(p for p in error.permissions if p.required and p.name not in granted)
        if missing:
            names = ", ".join(p.name for p in missing)
            raise PermissionsDenied(f"The page of {self.origin} cannot do without: {names}.", missing) from error
        allow_attribute(granted)
        self.permissions |= granted
        self._declined |= asked - granted

    @asynccontextmanager
    async def _framed(self, phase: str, place: Place, visible: bool) -> AsyncIterator[Session]:
        if self._busy:
            raise StateError("This page is already framed: leave its setup or session first.")
        spoken = dialect()
        framing = Framing(
            url=spoken.address_for(self.url, phase),
            name=f"mcpframe-{uuid.uuid4().hex}",
            title=self.title or self.origin,
            sandbox=self._sandbox,
            allow=allow_attribute(name for name in self.permissions if phase in (self._phases.get(name) or (phase,))),
            visible=visible,
        )
        offer = spoken.host_offer(
            session_id=self.session_id,
            granted=frozenset(self.permissions),
            declined=frozenset(self._declined),
            asks=self._decide is not None,
        )
        connection = Connection([Candidate(spoken.outer[phase], self._allowed, offer)], options=self.options)
        self._busy = True
        try:
            async with place(framing) as window:
                self._window, self._visible = window, visible
                async with open_session(connection, window, on_event=self._note, on_wire=self._on_wire) as session:
                    self.session = session
                    yield session
        finally:
            self._busy = self._visible = False
            self._window = self.session = None

    def _note(self, event: Event) -> None:
        from mcpframe.frame.setup_phase import SetupCompleted, SetupRequired

        if isinstance(event, SetupRequired):
            self.setup_required = event
        elif isinstance(event, SetupCompleted) and event.result.error_code is None:
            self.setup_required = None
            self.title = event.result.title or self.title
            self.visibility = event.result.visibility
        elif isinstance(event, Closed) and isinstance(event.error, PermissionsDenied):
            return  # not an end, but a question: `setup` asks it
        if self._on_event:
            self._on_event(event)

    def _set_visible(self, visible: bool) -> None:
        if self._window is None:
            raise StateError("Nothing is framed now: show and hide it within setup() or connect().")
        self._window.show(visible)
        if visible is not self._visible:
            self._visible = visible
            if self._on_event:
                self._on_event(VisibilityChanged(visible))

    def _place_of(self, place: Any) -> Place:
        if self._opaque and isinstance(place, Popup):
            raise OriginError("A popup has no sandbox, and so an origin of its own: frame an opaque page in an iframe.")
        if sys.platform == "emscripten":
            from mcpframe.frame.browser.frames import place_of

            return place_of(place)
        if callable(place):
            made: Place = place
            return made
        raise StateError(
            f"{place!r} is a place in a browser's page: outside of one pass a PlaywrightPlace (mcpframe.kit.testing)."
        )
