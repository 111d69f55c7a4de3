"""The places where a build imports the author's server: its page in Chromium, as for visitors, or else Node.js."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.layers import SITE_PACKAGES, Layer, Layers
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.bundle.pyodide.job import ALONE, JobFailed, JobTimeout, Mounted, Outcome, run_in_pyodide
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.snapshot.boot import PATIENCE
from mcpframe.kit.bundle.snapshot.build_browser import NoBrowser
from mcpframe.kit.bundle.snapshot.build_site import NoOutcome
from mcpframe.kit.bundle.snapshot.camera import Camera
from mcpframe.kit.bundle.snapshot.snapshot_page import PageTimeout, PythonEnded


class NoPlace(Exception):
    """The jobs cannot run here; the message has the reason, as half a sentence."""


class Place(Protocol):
    """A place for jobs of `in_pyodide`."""

    @property
    def identity(self) -> str:
        """A string that differs between places with different results."""

    def run(
        self,
        jobs: Sequence[str],
        layers: Layers,
        *,
        folders: Mapping[str, Path],
        env: Mapping[str, str],
        timeout: float,
    ) -> list[Outcome]:
        """Run jobs, one after another, and return the outcome of each.

        Args:
            jobs: Their names, without `.py`; those that get the folders come first, and run before anything of the
                author's is there.
            layers: The archives of the page.
            folders: Readable folders of this machine, by their path in Python's file system.
            env: Environment variables of the others.
            timeout: The time limit of each of the others, in seconds.

        Raises:
            NoPlace: They cannot run here.
            JobTimeout: One took too long.
            JobFailed: One ended Python, or returned something invalid.
        """


class InPage:
    """The bundle's own page."""

    def __init__(self, camera: Camera, name: str, assemble: Callable[[Layers], Iterable[Asset]]) -> None:
        """Create it.

        Args:
            camera: The build's browser.
            name: The bundle's folder.
            assemble: Returns the bundle with these layers.
        """
        self._camera = camera
        self._name = name
        self._assemble = assemble

    @property
    def identity(self) -> str:
        """See `Place`."""
        try:
            return self._browser()
        except NoPlace:
            return "none"

    def _browser(self) -> str:
        try:
            return self._camera.identity
        except NoBrowser as error:
            raise NoPlace(str(error)) from error

    def run(
        self,
        jobs: Sequence[str],
        layers: Layers,
        *,
        folders: Mapping[str, Path],
        env: Mapping[str, str],
        timeout: float,
    ) -> list[Outcome]:
        """See `Place`."""
        self._browser()  # before the bundle is assembled for it
        files = {path.name: path.read_bytes() for folder in folders.values() for path in folder.iterdir()}
        assets = list(self._assemble(layers))
        # One page takes less time than two, but the author's native libraries run code when it links them.
        apart = any(layer.libraries for layer in layers.author)
        outcomes: list[Outcome] = []
        for group in [[job] for job in jobs] if apart else [list(jobs)]:
            alone = group[-1] in ALONE
            given: dict[str, Any] = {} if alone else {"env": env, "patience": timeout}
            if group[0] in ALONE:
                given["files"] = files
            try:
                outcomes += self._camera.run(group, self._name, assets, own=not alone, **given)
            except PageTimeout as error:
                late = group[-1] if error.begun else group[0]
                raise JobTimeout(late, PATIENCE if late in ALONE else timeout) from error
            except PythonEnded as error:
                ended = group[-1] if error.begun else group[0]
                raise JobFailed(ended, ToolFailed(str(error).partition("\n")[0], str(error))) from error
            except (NoBrowser, NoOutcome) as error:
                raise NoPlace(str(error)) from error
        return outcomes


class InNode:
    """A confined Node.js. One Pyodide runs all jobs, as its start takes longer than they do."""

    identity = "node"

    def __init__(self, runtime: Runtime, *, evaluates: bool) -> None:
        """Create it.

        Args:
            evaluates: Whether JavaScript may be run from text.
        """
        self._runtime = runtime
        self._evaluates = evaluates

    def run(
        self,
        jobs: Sequence[str],
        layers: Layers,
        *,
        folders: Mapping[str, Path],
        env: Mapping[str, str],
        timeout: float,
    ) -> list[Outcome]:
        """See `Place`."""
        with scratch("import") as folder:
            (folder / "stdlib.zip").write_bytes(pack(layers.stdlib))
            archives = []
            for layer in (Layer("base", SITE_PACKAGES, layers.base), *layers.author):
                file = folder / f"{layer.name}.zip"
                file.write_bytes(pack(layer.files))
                archives.append(Mounted(file, layer.to, layer.libraries))
            return run_in_pyodide(
                jobs,
                self._runtime,
                folders=folders,
                archives=archives,
                stdlib=folder / "stdlib.zip",
                env=env,
                timeouts={job: timeout for job in jobs if job not in ALONE},
                evaluates=self._evaluates,
            )
