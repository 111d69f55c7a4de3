"""An outer frame in this process: `Session` and `OuterFrame` of mcpframe, over whatever window a subclass has."""

from __future__ import annotations

import asyncio
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from playwright.async_api import Frame, Page

from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Connection
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import OriginError, SessionError
from mcpframe.frame.core.events import Closed, Event, Opened, Refused, Unresponsive, Wire
from mcpframe.frame.core.places import NoHandshake, Place, VisibilityChanged
from mcpframe.frame.core.roles import Options
from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.session import Session, WireHook
from mcpframe.frame.session.setup_phase import Permission, SetupCompleted, SetupRequired, SetupStarted
from tests.contract.outer import PATIENCE, Bounds, Connecting, Happening, Outer, SettingUp


class PythonOuter(Outer):
    """A connection in CPython, over the window and the place of a subclass."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.frame: OuterFrame | None = None
        self.session: Session = None  # type: ignore[assignment]  # before there is one
        self._stack = AsyncExitStack()
        self._happenings: list[Happening] = []
        self._wires: list[Wire] | None = None
        self._changed = anyio.Event()

    async def _connect(self, url: str, options: Connecting) -> None:
        parts = urlsplit(url)
        origins = [] if options.opaque else [f"{parts.scheme}://{parts.netloc}"]
        allowed = parse_allowed_origins(origins, opaque=options.opaque)
        unresponsive = (
            {"unresponsive_after": options.unresponsive_after} if options.unresponsive_after is not None else {}
        )
        self._window = await self._open_window(url, options.sandbox)
        spoken = outer_dialect(self.dialect)
        offer = spoken.host_offer(session_id="a session of its own")
        connection = Connection(
            [Candidate(spoken.outer[TRANSPORT], allowed, offer)],
            options=_options(options, repeat_interval=0.2, **unresponsive),
        )
        self.session = Session(connection, self._window, self._note, self._on_wire)
        self._stack.callback(self.session.streams[0].close)
        self._stack.callback(self.session.close)
        self.session.start()

    @property
    def _on_wire(self) -> WireHook | None:
        return None if self._wires is None else self._wires.append

    async def watch(self) -> None:
        self._wires = []

    async def wires(self) -> list[dict[str, Any]]:
        return [parsed(asdict(wire)) for wire in self._wires or ()]

    @abstractmethod
    async def _open_window(self, url: str, sandbox: str | None) -> Any:
        """Return the window of the page at an address; it is closed with `_stack`."""

    async def _set_up(self, url: str, options: SettingUp) -> None:
        async def decide(requested: tuple[Permission, ...]) -> Sequence[str]:
            wanted = [{**asdict(permission), "phase": list(permission.phase)} for permission in requested]
            self._add({"kind": "asked", "requested": wanted})
            return options.grants or ()

        self.frame = OuterFrame(
            url,
            permissions=options.permissions,
            on_permissions=None if options.grants is None else decide,
            on_event=self._note,
            options=_options(options),
        )
        self._place = self._make_place(popup=options.popup)
        self._task = asyncio.create_task(self._await_setup())
        self._stack.push_async_callback(_cancelled, self._task)

    @abstractmethod
    def _make_place(self, *, popup: bool) -> Place:
        """Return where the pages of a setup, and of the session after it, are loaded."""

    async def _await_setup(self) -> None:
        try:
            async with self.frame.setup(self._place) as setup:
                result = await setup.result()
        except (SessionError, OriginError) as error:
            self._add({"kind": "setup failed", "error": type(error).__name__, "message": str(error)})
            return
        names = {"visibility_message": "visibilityMessage", "ephemeral_message": "ephemeralMessage"}
        happening = {"kind": "set up", "title": result.title, "visibility": str(result.visibility)}
        happening |= {js: getattr(result, py) for py, js in names.items() if getattr(result, py)}
        if result.error_code:
            happening["error"] = {"code": str(result.error_code), "message": result.error_message}
        self._add({**happening, "sessionId": self.frame.session_id})

    async def give_up(self) -> None:
        await _cancelled(self._task)
        self._add({"kind": "setup failed", "error": "AbortError", "message": "enough"})

    async def go_on(self) -> None:
        self._task = asyncio.create_task(self._go_on())
        self._stack.push_async_callback(_cancelled, self._task)

    async def _go_on(self) -> None:
        try:
            async with self.frame.connect(self._place):
                assert self.frame.session
                self.session = self.frame.session
                self._add({"kind": "opened", "sessionId": self.session.id, "origin": self.session.origin})
                await self.session.ended()
        except SessionError as error:
            self._add({"kind": "failed", "error": type(error).__name__, "message": str(error)})

    async def show(self, visible: bool) -> None:
        (self.frame.show if visible else self.frame.hide)()

    def _note(self, event: Event | VisibilityChanged) -> None:
        if isinstance(event, VisibilityChanged):
            self._add({"kind": "visible", "visible": event.visible})
            return
        if isinstance(event, SetupStarted | SetupCompleted):
            return
        if isinstance(event, Opened):
            if self.frame:
                return  # told when connect() has given the session
            happening: Happening = {"kind": "opened", "sessionId": event.session_id, "origin": event.origin}
        elif isinstance(event, Refused):
            happening = {"kind": "refused", "error": type(event.error).__name__, "message": str(event.error)}
        elif isinstance(event, SetupRequired):
            happening = {
                "kind": "setup required",
                "reason": event.reason,
                "message": event.message,
                "canContinue": event.can_continue,
            }
        elif isinstance(event, Unresponsive):
            happening = {"kind": "unresponsive", "unresponsive": event.unresponsive}
        else:
            if isinstance(event, NoHandshake):
                return
            assert isinstance(event, Closed)
            if self._setting_up:
                return  # setup() itself says how it ended
            happening = {"kind": "closed", "error": type(event.error).__name__ if event.error else None}
            happening["message"] = str(event.error)
        self._add(happening)

    @property
    def _setting_up(self) -> bool:
        session = self.frame.session if self.frame else None
        return self.frame is not None and (session is None or session.connection.role.phase == "setup")

    def _add(self, happening: Happening) -> None:
        self._happenings.append(happening)
        self._changed.set()

    async def next(self, kind: str) -> Happening:
        with anyio.fail_after(PATIENCE):
            if kind == "received":
                item = await self.session.streams[0].receive()
                assert isinstance(item, SessionMessage)
                return {"kind": kind, "payload": item.message.model_dump(by_alias=True, exclude_unset=True)}
            while True:
                for happening in self._happenings:
                    if happening["kind"] == kind:
                        self._happenings.remove(happening)
                        return happening
                self._changed = anyio.Event()
                await self._changed.wait()

    async def rest(self) -> list[str]:
        waiting = len(self.session.streams[0]) if self.session else 0
        return ["received"] * waiting + [happening["kind"] for happening in self._happenings]

    async def send(self, payload: Mapping[str, Any]) -> None:
        self.session.send(SessionMessage(jsonrpc_message_adapter.validate_python(payload, by_name=False)))
        await anyio.wait_all_tasks_blocked()  # the window has handed it to the browser

    async def failure(self, request: Mapping[str, Any]) -> str:
        await self.send(request)
        payload = (await self.next("received"))["payload"]
        assert payload["id"] == request["id"]
        return str(payload["error"]["message"])

    async def inner(self) -> Frame:
        frame: Frame = await self._window.frame()
        return frame

    async def close(self) -> None:
        await self._stack.aclose()


def _options(bounds: Bounds, **more: float) -> Options:
    waits = {f"{name}_timeout": seconds for name, seconds in bounds.deadlines.items()}
    return Options(**waits, **bounds.limits, **more)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def parsed(wire: dict[str, Any]) -> dict[str, Any]:
    """Return what crossed the wire, with its text parsed."""
    return {**wire, "text": None if wire["text"] is None else json.loads(wire["text"])}
