"""The lock of a project: read, or resolved and written; and resolved anew after a start of the server that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcpframe.kit.base.cache import check_writable
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.progress import Progress, remark, silent
from mcpframe.kit.bundle.assembly.author_files import author_files
from mcpframe.kit.bundle.code.sdk_choice import asks_for_later, fails_as_earlier, written_for_earlier
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Lock, inputs_hash, read_lock, write_lock
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.repairs import Repairs
from mcpframe.kit.bundle.packages.resolve import BASE, INSTALLER, resolve
from mcpframe.kit.bundle.pyodide.archive import unpacking
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.pyodide.version import VERSION
from mcpframe.kit.bundle.server_import import ServerFails
from mcpframe.kit.project.project import Project, find_project


@dataclass
class ProjectLock:
    """The lock of a project during a build.

    Attributes:
        given: The author's project, as configured.
        author: The author's files, by path.
        pyodide: Pyodide's own packages.
        upgrade: Whether to resolve the requirements anew.
        tries: Whether the build starts the server, which shows whether it does without a package.
        progress: Called with a description of each step.
        lock: The packages, since `resolve`.
    """

    given: Project
    author: Mapping[str, bytes]
    pyodide: PyodidePackages
    upgrade: bool = False
    tries: bool = False
    progress: Progress = silent
    lock: Lock = field(init=False)
    _repairs: Repairs = field(init=False)
    _earlier_sdk: str = field(init=False, default="")

    def __post_init__(self) -> None:
        tries = self.tries and bool(self.given.named_package) and self.given.config.import_server
        self._repairs = Repairs(tries=tries)
        self._said: set[str] = set()

    def resolve(self) -> None:
        """Read the project's lock; resolve anew if it is missing, to be upgraded, or of other requirements.

        Raises:
            BuildError: It was written with another distribution, has packages that may not be built, or as for
                `resolve` of the packages.
        """
        requested, left_out = self._requirements(), self.given.config.leave_out
        inputs = inputs_hash(requested, (*BASE, *INSTALLER), (VERSION,), *([left_out] if left_out else []))
        known = read_lock(self.given.lock_path)
        if known is not None and known.inputs == inputs and not self.upgrade:
            self._check_sources(known)
            if known.distribution == self.pyodide.lock_sha256:
                self.lock = known
                return
            if known.distribution:
                raise BuildError(
                    f"{self.given.lock_path} was written with another distribution of packages than "
                    f"{self.pyodide.source}, or that has changed since: build with the earlier one "
                    "(tool.mcpframe.distribution), or with --upgrade to take the packages of this one."
                )
        check_writable(self.given.root)
        with self.progress("Resolving the requirements"):
            previous = None if self.upgrade else known
            self.lock = self._resolve(requested, inputs, previous)
            self._say_notes(self.lock)
        write_lock(self.given.lock_path, self.lock)

    def _say_notes(self, lock: Lock) -> None:
        """Say at once what the lock shows: the rest of a build may take minutes, and fail for just that."""
        for note in lock.notes:
            if note not in self._said:
                self._said.add(note)
                remark(note)

    def _check_sources(self, lock: Lock) -> None:
        built = [f"{package.name} {package.version}" for package in lock.packages if package.source == "sources"]
        if built and not self.given.config.build_sdists:
            raise BuildError(
                f"{self.given.lock_path} has packages that are built from their sources ({', '.join(built)}), which is "
                "not allowed here: allow it with --build-sdists, or build_sdists = true in [tool.mcpframe]; or build "
                "with --upgrade to do without."
            )

    def resolve_after(self, error: ServerFails) -> None:
        """Lock other packages for a server that fails: mcp 1.x, one that it turns out to need, or others on trial.

        Raises:
            ServerFails: No other packages would help.
            BuildError: A package that it turns out to need has no wheel.
        """
        evidence = fails_as_earlier(error.error)
        if self.lock.sdk > 1 and evidence and not asks_for_later(self._requirements()):
            self._earlier_sdk = evidence
            what = f"mcp 1.x, as with 2.x the server fails ({evidence})"
        elif self._repairs.tries and (repairs := self._repairs.after(error.error, self.lock)):
            self._repairs = repairs
            what = "other packages, as with these the server does not start"
        else:
            raise error
        with self.progress(f"Resolving the requirements with {what}"):
            try:
                lock = self._resolve(self._requirements(), self.lock.inputs)
            except NoWheelFound:
                raise
            except BuildError as conflict:
                raise error from conflict
            self._say_notes(lock)
        if self._earlier_sdk:
            note = f"mcp 1.x instead of 2.x, with which the server fails: {self._earlier_sdk}"
            lock = replace(lock, notes=(note, *lock.notes))
        self.lock = lock
        write_lock(self.given.lock_path, lock)

    def _resolve(self, requested: Sequence[str], inputs: str, previous: Lock | None = None) -> Lock:
        return resolve(
            requested,
            self.pyodide,
            inputs=inputs,
            previous=previous,
            leave_out=self.given.config.leave_out,
            named=self.given.named_package,
            repairs=self._repairs,
            build_sdists=self.given.config.build_sdists,
        )

    def _requirements(self) -> tuple[str, ...]:
        requested = (*self.given.requirements, *self.given.lazy)
        earlier = self._earlier_sdk or (written_for_earlier(self.author) and not asks_for_later(requested))
        return (*requested, "mcp<2") if earlier else requested


def lock_project(path: Path, *, upgrade: bool = False, progress: Progress = silent) -> Lock:
    """Lock the requirements of a project, and fetch their wheels, without a build.

    Args:
        path: As for `build`.
        upgrade: Whether to resolve the requirements anew.
        progress: Called with a description of each step.

    Raises:
        ConfigError: The project's configuration is invalid.
        BuildError: A package has no wheel, or the requirements contradict each other.
        KitError: Something that it needs is missing or fails.
    """
    project = find_project(path)
    runtime = ensure_runtime(progress=progress)
    pyodide = PyodidePackages(runtime, project.distribution, renewed=upgrade)
    with unpacking(project.config.max_unpacked):
        locking = ProjectLock(
            project, author_files(project, project.root), pyodide, upgrade=upgrade, tries=True, progress=progress
        )
        locking.resolve()
        with progress("Fetching wheels"):
            fetch_wheels(locking.lock.packages, pyodide)
    return locking.lock
