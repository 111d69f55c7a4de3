"""The one place that makes the unmodified official SDK importable and correct in Pyodide.

On CPython `prepare` does nothing. In Pyodide it does five things, each because of one fact:

1. The SDK imports an HTTP stack that a frame never uses: placeholders answer those imports (`placeholders.py`).
2. rpds-py has no WebAssembly wheel: `rpds.py` stands in for it.
3. There are no threads: `anyio.to_thread.run_sync`, the SDK's one way to run a synchronous handler, runs it inline.
4. There is no cryptography: the default codec of the request state (`RequestStateSecurity.ephemeral`, which
   `MCPServer(...)` uses when it is given none) hands out handles instead of encrypted tokens.
5. Import time is boot time: the models of `mcp_types` are built when first used (pydantic's `defer_build`).
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, Final

from mcpframe.frame.compat.placeholders import PlaceholderFinder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from mcp.server.context import ServerRequestContext
    from mcp.server.request_state import RequestStateSecurity

_HTTP = (
    "MCP's HTTP transports do not work in a browser frame, and serving the frame does not need them; "
    "if the server uses the package itself, add {0!r} to its requirements."
)
_HINTS: Final = {
    "cryptography": "Leave out request_state_security, or give it a codec= instead of keys=: a key in a page is no "
    "secret; if the server uses the package itself, add 'cryptography' to its requirements.",
    "httpx2": _HTTP.format("httpx2"),
    "jwt": _HTTP.format("pyjwt"),
    "python_multipart": _HTTP.format("python-multipart"),
    "sse_starlette": _HTTP.format("sse-starlette"),
    "starlette": _HTTP.format("starlette"),
    "uvicorn": _HTTP.format("uvicorn"),
}

_prepared = False


def in_pyodide() -> bool:
    """Whether this Python is Pyodide. (`pyodide.ffi` has renamed its own marker between versions.)"""
    return sys.platform == "emscripten"


def prepare() -> None:
    """Make the official SDK importable and correct in Pyodide, and import it. On CPython, and when repeated: nothing.

    To be called before anything imports `mcp`.

    Raises:
        ImportError: A package the SDK cannot do without is not in the page.
    """
    global _prepared
    if _prepared or not in_pyodide():
        return
    finder = PlaceholderFinder(_HINTS, users={"mcp"})
    sys.meta_path.extend((finder, _RpdsFinder()))
    with _models_built_on_use():
        import_module("mcp_types")
        import_module("mcp.server.mcpserver")
    finder.withdraw()
    _run_sync_handlers_inline()
    _hand_out_handles()
    _prepared = True


class _RpdsFinder(MetaPathFinder, Loader):
    """Answers `import rpds` with `mcpframe.frame.compat.rpds`, unless the real package is there (it is found first)."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname == "rpds" else None

    def exec_module(self, module: ModuleType) -> None:
        stand_in = import_module("mcpframe.frame.compat.rpds")
        module.__dict__.update({name: getattr(stand_in, name) for name in stand_in.__all__})


@contextmanager
def _models_built_on_use() -> Iterator[None]:
    """Let pydantic models and type adapters that are made in here build their validators when they are first used."""
    from pydantic import BaseModel, TypeAdapter

    decision = TypeAdapter.__dict__.get("_defer_build")  # private: an adapter of a model can be given no config
    BaseModel.model_config["defer_build"] = True
    if decision is not None:
        setattr(TypeAdapter, "_defer_build", property(lambda adapter: True))  # noqa: B010
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        if decision is not None:
            setattr(TypeAdapter, "_defer_build", decision)  # noqa: B010


def _run_sync_handlers_inline() -> None:
    import anyio.lowlevel
    import anyio.to_thread

    async def run_sync(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call `func` here and now: options about threads and their cancellation have nothing to apply to."""
        await anyio.lowlevel.checkpoint()  # as the original: cancellation and waiting messages come first
        return func(*args)

    anyio.to_thread.run_sync = run_sync  # type: ignore[assignment]


def _hand_out_handles() -> None:
    from mcp.server.request_state import RequestStateSecurity

    def ephemeral(
        cls: type[RequestStateSecurity], *, ttl: float = 600.0, audience: str | None = None
    ) -> RequestStateSecurity:
        return handle_security(ttl=ttl, audience=audience)

    RequestStateSecurity.ephemeral = classmethod(ephemeral)  # type: ignore[method-assign, assignment]


def handle_security(*, ttl: float = 600.0, audience: str | None = None) -> RequestStateSecurity:
    """The policy for the request state of a framed server: `HandleCodec`, everything else as the SDK has it.

    Args:
        ttl: Seconds a state stays valid.
        audience: As in `RequestStateSecurity`; None leaves it to the server's name.
    """
    from mcp.server.request_state import RequestStateSecurity

    return RequestStateSecurity(codec=HandleCodec(lifetime=ttl), ttl=ttl, audience=audience)


class HandleCodec:
    """A codec of the SDK's `RequestStateCodec` protocol that keeps the state here and gives out a handle to it.

    A handle is 256 random bits and says nothing. What it stands for never leaves the frame, so there is no key to keep
    and nothing to decrypt; a handle that was not given out, has expired or was pushed out by newer ones is refused.

    Args:
        max_entries: How many states are kept; the oldest go first.
        max_bytes: How many bytes of state are kept together; the oldest go first, the newest always stays.
        lifetime: Seconds after which a state is forgotten.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        *,
        max_entries: int = 1000,
        max_bytes: int = 16 * 1024 * 1024,
        lifetime: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._lifetime = lifetime
        self._clock = clock
        self._bytes = 0
        self._states: dict[bytes, tuple[float, bytes]] = {}  # oldest first

    def seal(self, payload: bytes) -> str:
        """Keep `payload` and return a new handle for it."""
        handle = secrets.token_urlsafe(32)
        self._states[_digest(handle)] = (self._clock() + self._lifetime, payload)
        self._bytes += len(payload)
        self._forget()
        return handle

    def unseal(self, token: str) -> bytes:
        """Return what `seal` was given for this handle. A handle may be used again until it expires.

        Raises:
            InvalidRequestState: There is no such handle, or no longer.
        """
        from mcp.server.request_state import InvalidRequestState

        self._forget()
        kept = self._states.get(_digest(token))
        if kept is None:
            raise InvalidRequestState("unknown or expired handle")
        return kept[1]

    def _forget(self) -> None:
        now = self._clock()
        while self._states:
            digest, (expires, payload) = next(iter(self._states.items()))
            crowded = len(self._states) > self._max_entries or (self._bytes > self._max_bytes and len(self._states) > 1)
            if expires > now and not crowded:
                return
            del self._states[digest]
            self._bytes -= len(payload)


def _digest(handle: str) -> bytes:
    """The table's key: looking up a digest takes time that says nothing about the handles in it."""
    return hashlib.sha256(handle.encode("utf-8", "surrogatepass")).digest()


def connection_state(ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    """The SDK's scratch state of the connection a request came by; the SDK offers handlers no public way to it."""
    return ctx.session._connection.state


def accept_without_handshake(ctx: ServerRequestContext[Any, Any]) -> None:
    """Serve a client of the handshake era that has not initialized, in the newest revision of that era.

    The TypeScript SDK's clients of 1.x take a transport that has a `sessionId` for a resumed session, and never send
    `initialize`. For the SDK here they now count as clients that have sent `notifications/initialized` alone: whoever
    asks for their capabilities gets None. A later `initialize` is a handshake as any other. Requests of 2026-07-28 and
    later carry their version and need no handshake.
    """
    connection = ctx.session._connection
    if not connection.initialize_accepted:
        connection.initialized.set()


def limit_log_levels(ctx: ServerRequestContext[Any, Any], levels: frozenset[Any]) -> None:
    """Let only log messages of `levels` out of this request.

    In the handshake era the SDK sends every level and leaves `logging/setLevel` to the application.
    """
    ctx.session._allowed_log_levels &= levels
