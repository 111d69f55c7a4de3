"""Make the unmodified official SDK importable and correct in Pyodide.

On CPython `prepare` does nothing. In Pyodide it does ten things, each for one reason:

1. The SDK imports an HTTP stack that a frame never uses: placeholders answer those imports (`placeholders.py`).
2. rpds-py has no WebAssembly wheel: `rpds.py` stands in for it.
3. There are no threads: `anyio.to_thread.run_sync`, the SDK's one way to run a synchronous handler, runs it inline.
4. There is no cryptography: the default codec of the request state issues opaque handles instead of encrypted tokens
   (`request_state.py`).
5. Import time is boot time: the models of `mcp_types` are built when first used (pydantic's `defer_build`). So is the
   schema of a type adapter: pydantic-core accepts no mock of it.
6. A page has one event loop: code that creates another gets a front of it (`event_loops.py`).
7. `hashlib` lacks `pbkdf2_hmac`, which many packages import: `key_derivation.py` has it.
8. A page starts without the docstrings that nothing but `help` reads: `docstrings.py` restores them for that.
9. No server needs the client of the SDK, which `import mcp` imports: `later_client.py` does so when it is used.
10. A snapshot leaves out modules of the standard library that no start runs: `later_modules.py` finds them.

It does the same for the SDK of 1.x, except for the fourth, which 1.x does not need; `serving.mcp1_failures` has the
rest for 1.x.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache, partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from mcpframe.frame.compat import docstrings, event_loops, in_pyodide, later_modules
from mcpframe.frame.compat.later_client import LaterClient
from mcpframe.frame.compat.placeholders import PlaceholderFinder, advice
from mcpframe.frame.core.errors import SdkError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from mcp.client.extension import ClientExtension
    from mcp.server.context import ServerRequestContext
    from mcp.shared.message import SessionMessage

_MODULES: Final = {1: ("mcp.types", "mcp.server.fastmcp"), 2: ("mcp_types", "mcp.server.mcpserver")}
"""The modules to import of each major version."""

_prepared: PlaceholderFinder | None = None


@cache  # a restored page has no files at first, and would fetch them all for this
def major() -> int:
    """Return the major version of the installed official SDK, 1 or 2, without importing it."""
    spec = find_spec("mcp")
    folders = (spec.submodule_search_locations if spec else None) or ()
    return 1 if any(os.path.isdir(f"{folder}/server/fastmcp") for folder in folders) else 2  # noqa: PTH112


def server_part(name: str) -> Any:
    """Return a module of the installed SDK's package for servers, by its name in that."""
    return import_module(f"{_MODULES[major()][1]}.{name}")


def model(name: str) -> Any:
    """Return a model of MCP's types from the installed SDK."""
    return getattr(import_module("mcp.types"), name)


@cache  # see `major`
def has_fastmcp() -> bool:
    """Return whether the package fastmcp is in use, without importing it: 2.x and 3.x for mcp 1.x, 4.x for mcp 2.x.

    In a page it may arrive after the SDK, with the server, so this looks for a module that only its bundles contain.
    """
    return find_spec("mcpframe.frame.compat.fastmcp_package" if in_pyodide() else "fastmcp") is not None


def is_of_fastmcp(server: object) -> bool:
    """Return whether an object is a server of the package fastmcp, and not of the official SDK."""
    return any(cls.__name__ == "FastMCP" and cls.__module__.startswith("fastmcp.") for cls in type(server).__mro__)


def prepare() -> None:
    """Make the official SDK importable and correct in Pyodide, and import it. Does nothing on CPython or when repeated.

    Call it before anything imports `mcp`.

    Raises:
        ImportError: if the page lacks a package that the SDK requires.
    """
    global _prepared
    if _prepared is not None or not in_pyodide():
        return
    version = major()
    users = {"mcp"}
    if has_fastmcp():
        from mcpframe.frame.compat import fastmcp_package

        fastmcp_package.set_environment()
        users |= fastmcp_package.USERS
    adapt_http()
    finder = PlaceholderFinder(advice(), users)
    sys.meta_path.extend((finder, _RpdsFinder()))
    _run_sync_handlers_inline()  # before the function is imported by name
    _build_schemas_on_use()
    event_loops.keep_one()
    docstrings.restore_when_read()
    sys.meta_path.insert(0, later_modules.FINDER)
    setattr(hashlib, "pbkdf2_hmac", _derived_key)  # noqa: B010
    client = LaterClient(partial(_imported_later, finder))
    with _models_built_on_use(), _pydantic_of(version), client.postponed() if version == 2 else nullcontext():
        for module in _MODULES[version]:
            import_module(module)
    finder.withdraw()
    if version == 2:
        import_module("mcpframe.frame.compat.request_state").hand_out_handles()
    else:
        _remember_versions()
    _prepared = finder


@contextmanager
def _imported_later(finder: PlaceholderFinder) -> Iterator[None]:
    """Import a module of the SDK in this block as `prepare` does."""
    with _models_built_on_use():
        yield
    finder.withdraw()


def adapt_http() -> None:
    """Adapt HTTP libraries to the page, in bundles that have them. Does nothing when repeated.

    In the layers of a snapshot this part of mcpframe comes after the SDK.
    """
    if find_spec("mcpframe.frame.compat.http"):
        import_module("mcpframe.frame.compat.http.hooks").install()


def _remember_versions() -> None:
    """Read the SDK's version once: servers of mcp 1.x send it to each client, and read it from `importlib.metadata`.

    A page that has just been restored from a snapshot would fetch all its files for that.
    """
    metadata: Any = import_module("importlib.metadata")
    metadata.version = cache(metadata.version)
    with suppress(metadata.PackageNotFoundError):
        metadata.version("mcp")


def load_fastmcp() -> None:
    """Import the package fastmcp, if it is in use, and adapt it to a page. Does nothing on CPython or when repeated.

    Call it after `prepare`, and after setting the variables of its settings.
    """
    if _prepared is None or not has_fastmcp() or "fastmcp.server.server" in sys.modules or find_spec("fastmcp") is None:
        return
    from mcpframe.frame.compat import fastmcp_package

    with _models_built_on_use(), _pydantic_of(major()):
        import_module(fastmcp_package.MODULE)
    fastmcp_package.fit()
    _prepared.withdraw()


def _pydantic_of(version: int) -> AbstractContextManager[None]:
    if version == 2:
        return nullcontext()
    from mcpframe.frame.compat.earlier_pydantic import as_before  # only in bundles with mcp 1.x

    return as_before()


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
    """Make pydantic models and type adapters defined in this block build their validators at first use."""
    from pydantic import BaseModel, TypeAdapter

    if BaseModel.model_config.get("defer_build"):  # in another such block
        yield
        return
    decision = TypeAdapter.__dict__.get("_defer_build")  # private: the adapter of a model accepts no config
    BaseModel.model_config["defer_build"] = True
    if decision is not None:
        setattr(TypeAdapter, "_defer_build", property(lambda adapter: True))  # noqa: B010
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        if decision is not None:
            setattr(TypeAdapter, "_defer_build", decision)  # noqa: B010


def _build_schemas_on_use() -> None:
    """Build the core schema of a deferred type adapter when it is read.

    Pydantic gives it a mock, which builds the schema when a method of it is called. `SchemaSerializer` and
    `SchemaValidator` call none, and raise a TypeError. fastmcp since 4.2 passes them schemas of adapters that it does
    not know to be deferred.
    """
    from pydantic import TypeAdapter
    from pydantic._internal import _mock_val_ser

    adapter_class: Any = TypeAdapter
    set_mocks: Callable[[Any], None] = _mock_val_ser.set_type_adapter_mocks

    class Schema:
        """Found only where an adapter has no attribute of its own."""

        def __get__(self, adapter: Any, owner: type) -> Any:
            set_mocks(adapter)
            return vars(adapter)["core_schema"].rebuild()

    def set_mocks_but_of_schema(adapter: Any) -> None:
        set_mocks(adapter)
        del adapter.core_schema

    _mock_val_ser.set_type_adapter_mocks = set_mocks_but_of_schema
    adapter_class.core_schema = Schema()


def _derived_key(*args: Any, **options: Any) -> bytes:
    return import_module("mcpframe.frame.compat.key_derivation").pbkdf2_hmac(*args, **options)  # type: ignore[no-any-return]


def call_in_worker(func: Callable[..., Any], *args: Any) -> Any:
    """Call a synchronous handler. `mcpframe.frame.world` replaces this: there it has a thread's identity."""
    return func(*args)


def _run_sync_handlers_inline() -> None:
    import anyio.lowlevel
    import anyio.to_thread

    async def run_sync(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call `func` immediately; options for threads and their cancellation do not apply."""
        await anyio.lowlevel.checkpoint()  # as in the original: cancellation and pending messages are handled first
        return call_in_worker(func, *args)

    anyio.to_thread.run_sync = run_sync  # type: ignore[assignment]


class SdkMessages:
    """The form of messages on the streams of mcp 2.x: see `session.interfaces.Messages`."""

    def __init__(self) -> None:
        if major() == 1:
            raise SdkError(
                "A page of mcp 1.x serves its host, and connects to no other frame: require 'mcp>=2' for that."
            )
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        self._item = SessionMessage
        self._validate = jsonrpc_message_adapter.validate_python

    def read(self, body: Mapping[str, Any]) -> SessionMessage:
        """Return a message of the peer. Raises ValueError if it is not one of MCP."""
        return self._item(self._validate(body, by_name=False))

    def text(self, item: SessionMessage) -> str:
        """Return the JSON text of a message to the peer."""
        return item.message.model_dump_json(by_alias=True, exclude_unset=True)

    def members(self, item: SessionMessage) -> Mapping[str, Any]:
        """Return the members of a message to the peer: a large result is not dumped a second time."""
        return {name: getattr(item.message, name) for name in item.message.model_fields_set}


def views_extension(mime_type: str) -> ClientExtension:
    """Return the client extension that announces views to a server (MCP Apps, "Extension Identifier")."""
    from mcp.client.extension import advertise

    return advertise("io.modelcontextprotocol/ui", {"mimeTypes": [mime_type]})


def connection_state(ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    """Return the SDK's state of a request's connection, which handlers have no public access to."""
    return ctx.session._connection.state


def accept_without_handshake(ctx: ServerRequestContext[Any, Any]) -> None:
    """Serve a client of the handshake era that has not initialized, in the newest revision of that era.

    The TypeScript SDK's clients of 1.x treat a transport with a `sessionId` as a resumed session, and never send
    `initialize`. The SDK here then treats them as clients that have sent only `notifications/initialized`: their
    capabilities are None. A later `initialize` is handled as usual. Requests of 2026-07-28 and later carry their
    version and need no handshake.
    """
    connection = ctx.session._connection
    if not connection.initialize_accepted:
        connection.initialized.set()


def limit_log_levels(ctx: ServerRequestContext[Any, Any], levels: frozenset[Any]) -> None:
    """Send only log messages of `levels` during this request.

    In the handshake era the SDK sends every level and leaves `logging/setLevel` to the application.
    """
    ctx.session._allowed_log_levels &= levels
