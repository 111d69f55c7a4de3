"""The sites and bundles of the scenarios in other engines: at names that every engine resolves, cached between runs.

    localhost:7357       the host pages
    127.0.0.1            the framed pages, which another site frames
    localhost            the framed pages, in the host's site

WebKitGTK takes no subdomain of localhost for a secure context.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.dev.inspector import Inspecting, serve_inspector
from mcpframe.kit.web.host_page import bundle_client, copy_host_modules
from mcpframe.kit.web.serve import Served, serve_folder
from tests.browser.playing_vectors import write_vectors
from tests.support.built import SERVERS, SNAPSHOTS, built
from tests.support.first_calls import project_of
from tests.support.origins import HOST, PORT, port_itself
from tests.support.wheels import use_index, write_unmodified

PAGES = Path(__file__).parent / "pages"
_ALLOWED = [HOST, f"http://localhost:{PORT}"]


class Stage:
    """The served sites.

    Attributes:
        host: The origin of host pages.
        other: An origin of another site with the same pages.
        stranger: An origin that may embed nothing, with the same pages.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Serve from an empty folder until the stack is left."""
        self._folder = folder
        self._stack = stack
        self._served: dict[Path, Served] = {}
        self._templates: dict[str, Path] = {}
        self._site = folder / "site"
        shutil.copytree(PAGES, self._site)
        copy_host_modules(self._site)
        shutil.copy(bundle_client(install_locked(checkout_dir())), self._site / "mcp-client.js")
        write_vectors(self._site)
        stack.enter_context(serve_folder(self._site, stack.enter_context(port_itself())))
        elsewhere = stack.enter_context(serve_folder(self._site))
        self.host = f"http://localhost:{PORT}"
        self.other = f"http://127.0.0.1:{PORT}"
        self.stranger = f"http://localhost:{elsewhere.port}"

    def url(self, project: Path | str, *, at: str = "127.0.0.1") -> str:
        """Build a project, unless it is there, and return the address of its page.

        Args:
            project: As for `built`.
            at: The name of the machine in the address.
        """
        root, result = built(project, allowed_origins=_ALLOWED)
        served = self._served.get(root) or self._served.setdefault(root, self._stack.enter_context(serve_folder(root)))
        return f"http://{at}:{served.port}/{result.url_path}"

    def addressed(self, project: Path) -> str:
        """Build a project with the address of its page in `url`, and return that."""
        folder = self._folder / "addressed"
        folder.mkdir(exist_ok=True)
        served = self._stack.enter_context(serve_folder(folder))
        url = f"http://127.0.0.1:{served.port}/{project.name}/"
        build(project, folder, allowed_origins=_ALLOWED, url=url, snapshot=SNAPSHOTS)
        return url

    def template(self, name: str, *, at: str = "127.0.0.1") -> str:
        """Return the address of a template, or of a package in templates/unmodified, which keeps its list."""
        if name not in self._templates:
            self._templates[name] = project_of(name, self._projects, persist=["~/.shopping-list.json"])
        return self.url(self._templates[name], at=at)

    @cached_property
    def _projects(self) -> Path:
        """The folder of the projects of packages, which an index has from now on."""
        index = self._folder / "index"
        write_unmodified(index)
        use_index(index, self._stack.enter_context(pytest.MonkeyPatch.context()))
        return self._folder / "projects"

    @cached_property
    def inspecting(self) -> Inspecting:
        """The inspector, being served, with two servers."""
        return self._stack.enter_context(serve_inspector([templates_dir() / "pi-calculator", SERVERS / "authored"]))


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """Serve the sites for the duration of the block, from a new folder in this one."""
    with ExitStack() as stack:
        yield Stage(folder / "stage", stack)
