"""Serves the inspector: its page, which is built once, servers of projects, and a sandbox for views, on three sites."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.inspector_source import inspector_source
from mcpframe.kit.base.progress import Progress, labelled, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.dev.reload_channel import DevChannel, WithChannel
from mcpframe.kit.project.project import find_server
from mcpframe.kit.servers.bundle_site import BundleSite
from mcpframe.kit.servers.named_server import server_manifest
from mcpframe.kit.static_hosts.rules import SANDBOX_HEADERS
from mcpframe.kit.web.serve import FRAMED_HOST, Served, serve_app, serve_at
from mcpframe.kit.web.site import Site

# Used if no port is given and they are free: the data that the inspector and servers store belongs to their origins.
_PAGE_PORT, _SERVERS_PORT, _SANDBOX_PORT = 8710, 8711, 8712
_SANDBOX = "/sandbox.html"
_REBUILDS = "rebuilds"


@dataclass(frozen=True)
class Inspecting:
    """A running inspector.

    Attributes:
        origin: Its origin, to be allowed by servers.
        url: Its address.
        servers: The addresses of the servers built for it, by bundle name.
        named: The servers that a link may add without a question to the user.
        sandbox: The origin of the sandbox for views, to be allowed by servers that are views here.
        samples: The tool calls to show in servers' pages as views, by the servers' addresses.
        hubs: Those of `named` that are hubs, whose tools are of any site: none of the user's own projects.
    """

    origin: str
    url: str
    servers: Mapping[str, str] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)
    sandbox: str = ""
    samples: dict[str, object] = field(default_factory=dict)
    hubs: list[str] = field(default_factory=list)

    def url_with(
        self,
        server: str,
        era: str = "auto",
        sample: Mapping[str, object] | None = None,
        dialect: str | None = None,
        is_hub: bool = False,
    ) -> str:
        """Return the inspector's address for a server, which adds the server if necessary.

        While this inspector runs, it does not ask the user whether to add this server.

        Args:
            server: The address of its page.
            era: The protocol that it speaks first.
            sample: A tool call to show in that page as a view, with `arguments` and `result`; None for none.
            dialect: The dialect to frame it in; None for the one that the inspector knows of it, or the preferred one.
            is_hub: Whether it is a hub.
        """
        if sample:
            self.samples[server] = sample
        if server not in self.named:
            self.named.append(server)
        if is_hub and server not in self.hubs:
            self.hubs.append(server)
        named = {} if dialect is None else {"dialect": dialect}
        return f"{self.url}#{urlencode({'add': server, 'era': era, **named})}"


@contextmanager
def serve_inspector(
    projects: Sequence[Path] = (),
    *,
    bundles: Sequence[Path] = (),
    dialect: str | None = None,
    port: int = 0,
    rebuilds: DevChannel | None = None,
    progress: Progress = silent,
) -> Iterator[Inspecting]:
    """Serve the inspector, and the servers of projects as its examples, for the duration of the block.

    Args:
        projects: The projects, as for `build`. Only the inspector, and its sandbox, may embed them.
        bundles: The folders of built bundles, which it may embed, too, regardless of their allowed origins.
        dialect: The dialect that projects and bundles have to offer; by default the preferred one.
        port: The port of the inspector; 0 for the usual one, or else a free one.
        rebuilds: The channel that reports builds of a server; the inspector then reconnects to it.
        progress: Reports long steps.

    Raises:
        BuildError: A project cannot be built.
        ConfigError: A project's configuration cannot be used, or it is a page, not a server.
        NoFramedServer: A bundle does not offer the dialect.
        KitError: Something the build needs is missing or fails.
        PortTaken: Another program listens on the port.
    """
    for project in projects:
        find_server(project)
    described = {folder: server_manifest(folder, dialect) for folder in bundles}
    source = inspector_source()
    own = _kept("inspector", str(source))  # the page of another installation may be different
    page = build(source, own, progress=labelled("The inspector", progress))
    examples: list[dict[str, str]] = []
    with ExitStack() as stack:
        named: list[str] = []
        hubs: list[str] = []
        samples: dict[str, object] = {}
        sandbox = _serve(stack, Starlette(routes=[Route(_SANDBOX, _sandbox)]), 0, _SANDBOX_PORT, FRAMED_HOST)
        offered: dict[str, object] = {"servers": examples, "named": named, "sandbox": f"{sandbox.origin}{_SANDBOX}"}
        offered |= {"samples": samples, "hubs": hubs}
        app: ASGIApp = _WithExamples(Site(own, readers=()), f"/{page.name}/examples.json", offered)
        if rebuilds is not None:
            offered["rebuilds"] = f"{_REBUILDS}?{rebuilds.query}"
            app = WithChannel(app, f"/{page.name}/{_REBUILDS}", rebuilds)
        served = _serve(stack, app, port, _PAGE_PORT)
        if rebuilds is not None:
            stack.callback(rebuilds.close)
        servers: dict[str, str] = {}
        if projects:
            # Bundles for a random port are of no use to the next run.
            kept = served.port in (port, _PAGE_PORT)
            paths = [str(path.resolve()) for path in projects]
            allowed = [served.origin, sandbox.origin]
            folder = _kept("inspected", served.origin, *paths) if kept else stack.enter_context(scratch("inspected"))
            spoken = [outer_dialect(dialect).name]
            built = [
                build(item, folder, allowed_origins=allowed, dialects=spoken, progress=progress) for item in projects
            ]
            site = _serve(stack, Site(folder, readers=[served.origin]), 0, _SERVERS_PORT, FRAMED_HOST)
            for result in built:
                servers[result.name] = f"{site.origin}/{result.url_path}"
                examples.append({"title": result.manifest["title"], "url": servers[result.name]})
        for folder, manifest in described.items():
            alone = BundleSite.of(folder, readers=[served.origin], guests=[served.origin, sandbox.origin])
            site = _serve(stack, alone, 0, _SERVERS_PORT, FRAMED_HOST)
            servers[folder.name] = f"{site.origin}/{quote(folder.name)}/"
            examples.append({"title": manifest["title"], "url": servers[folder.name]})
        url = f"{served.origin}/{page.url_path}"
        yield Inspecting(served.origin, url, servers, named, sandbox.origin, samples, hubs)


def _sandbox(_: Request) -> Response:
    """Return the sandbox proxy of views, without a policy, which its views would inherit."""
    return FileResponse(static_dir() / "app" / "sandbox.html", headers={**SANDBOX_HEADERS, "cache-control": "no-store"})


def _kept(kind: str, *inputs: str) -> Path:
    """Return the folder for bundles that depend on these inputs, apart from others of the same names."""
    return cache_dir() / kind / hashlib.sha256("\n".join(inputs).encode()).hexdigest()[:16]


def _serve(stack: ExitStack, app: ASGIApp, port: int, usual: int, host: str = "127.0.0.1") -> Served:
    return stack.enter_context(serve_app(app, port, host)) if port else serve_at(stack, app, usual, host)


class _WithExamples:
    """A site with one more file: the examples that the inspector offers, which are different in each run."""

    def __init__(self, site: Site, path: str, offered: dict[str, object]) -> None:
        self._site = site
        self._path = path
        self._offered = offered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._site
        if scope["type"] == "http" and scope["path"] == self._path:
            app = JSONResponse(self._offered, headers={**SANDBOX_HEADERS, "cache-control": "no-store"})
        await app(scope, receive, send)
