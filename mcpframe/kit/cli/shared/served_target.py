"""Serves a command's target while the command runs: bundles of this machine, each on its own origin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from mcpframe.kit.base.progress import Progress
from mcpframe.kit.servers.named_server import Built, Published, Sources, named_server, server_manifest


@contextmanager
def served(word: str, *, port: int = 0, pages: bool = False, progress: Progress) -> Iterator[list[str]]:
    """Return the addresses of a target; bundles and projects are served as by `served_bundles`."""
    with served_bundles(word, port=port, pages=pages, progress=progress) as targets:
        yield [url for url, _ in targets]


@contextmanager
def served_bundles(
    word: str, *, port: int = 0, pages: bool = False, root: str = "", progress: Progress
) -> Iterator[list[tuple[str, Path | None]]]:
    """Return the addresses of a target and the folders of its bundles, which are served for the duration of the block.

    Each bundle is served alone, on its own origin: it is untrusted code in a browser on this machine, and must not
    reach the files beside it.

    Args:
        word: As for `named_server`; a project is built into the cache.
        port: The port of the first bundle, and the following free ports for the others; 0 for any.
        pages: Whether to accept a page that is not a server.
        root: A project without a public address is built for one below this; empty for none.
        progress: Reports the steps of a build.

    Raises:
        ConfigError: It is not a server.
        ChromiumMissing: There is no Chromium for a server that is built first.
        KitError: The project cannot be built.
    """
    named = named_server(word)
    if isinstance(named, Published):
        yield [(named.url, None)]
        return
    from mcpframe.kit.browser.chromium import ensure_chromium
    from mcpframe.kit.servers.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_at

    if isinstance(named, Sources) and not pages:
        ensure_chromium()  # a server is called in one, once it is built
    with ExitStack() as stack:
        folders = bundles_of(named, pages=pages, root=root, progress=progress)
        sites = [BundleSite.of(folder) for folder in folders]
        ports = [port + index if port else 0 for index in range(len(sites))]
        urls = [
            f"{serve_at(stack, site, its_port).origin}/{quote(site.name)}/"
            for site, its_port in zip(sites, ports, strict=True)
        ]
        yield list(zip(urls, folders, strict=True))


@contextmanager
def addressed(word: str, *, port: int = 0, pages: bool = False, progress: Progress) -> Iterator[str]:
    """Serve like `served`, for commands that use one server; several bundles raise `ConfigError`."""
    named = named_server(word)
    one = str(named.only) if isinstance(named, Built) else word
    with served(one, port=port, pages=pages, progress=progress) as [url]:
        yield url


def bundles_of(named: Built | Sources, *, pages: bool = False, root: str = "", progress: Progress) -> list[Path]:
    """Return the folders of bundles; a project is built into the cache. See `served_bundles`."""
    if isinstance(named, Sources):
        from mcpframe.kit.project.project import find_project
        from mcpframe.kit.testing.shared_browser import build_for_tests

        project = find_project(named.path)
        url = f"{root}{project.name}/" if root and not project.config.url else None
        built, _ = build_for_tests(named.path, pages=pages, url=url, progress=progress)
        return [built.folder]
    folders = [named.root / name for name in named.names]
    if not pages:
        for folder in folders:
            server_manifest(folder)
    return folders
