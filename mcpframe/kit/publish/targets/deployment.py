"""A publication and its target: the files to write for a static host, and the steps left to the author."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcpframe.kit.base.errors import PublishError
from mcpframe.kit.bundle.earlier_deploys import RECORD
from mcpframe.kit.static_hosts.known import CONFIGURATION
from mcpframe.kit.static_hosts.static_host import StaticHost

BUILD_LOCK = "build-requirements.txt"
"""The lock file of a project for the hosts that build or test it: what mcpframe needs there, with hashes."""
BUILDS, TESTS = ("author", "node"), ("node", "test")
"""The extras of mcpframe with which a host builds a site, and those with which it runs a project's tests, too."""
_LOCKED_KIT = re.compile(r"(?m)^mcpframe(?:\[([^\]]*)\])?==(\S+)(?: ;[^\\\n]*)? \\\n +--hash=")


@dataclass(frozen=True)
class BuildLock:
    """The mcpframe of a project's `BUILD_LOCK`.

    Attributes:
        version: Its version.
        extras: Its extras, with those that they include.
    """

    version: str
    extras: frozenset[str]


@dataclass(frozen=True)
class Deployment:
    """A built site of a project.

    Attributes:
        project: The project's folder.
        base: The folder of the configuration: the project's, or the output root's if that is elsewhere.
        name: The project's name.
        out: The output root that was built into.
        manifests: The manifest of each bundle in it, by folder.
        sizes: The size of each of its files in bytes, by path.
        keep: The hours for which builds at the host keep the files that they replace.
    """

    project: Path
    base: Path
    name: str
    out: Path
    manifests: Mapping[str, Mapping[str, Any]]
    sizes: Mapping[str, int]
    keep: int = 0

    @property
    def folder(self) -> str:
        """The path of the output root from `base`, with `/`."""
        return self.out.relative_to(self.base).as_posix()

    @property
    def lock(self) -> BuildLock | None:
        """What the project's `BUILD_LOCK` has; None without such a file.

        Raises:
            PublishError: The file has no version of mcpframe with its hashes.
        """
        path = self.project / BUILD_LOCK
        if not path.is_file():
            return None
        match = _LOCKED_KIT.search(path.read_text("utf-8"))
        if match is None:
            raise PublishError(f"{path} has no mcpframe with hashes. Write it anew: {_lock_command(BUILDS)}")
        extras = {each.strip() for each in (match[1] or "").split(",")}
        return BuildLock(match[2], frozenset(extras | {"author"} if "test" in extras else extras))

    def install_command(self, root: Path, extras: Sequence[str] = BUILDS) -> str:
        """Return the command that installs mcpframe where a host builds, for a shell in a folder above the project.

        Args:
            extras: The extras that are needed there.

        Raises:
            PublishError: As for `lock`.
        """
        lock = self.lock
        if lock is None or not lock.extras.issuperset(extras):
            return f'pip install "{_kit(extras, lock.version if lock else version("mcpframe"))}"'
        path = (self.project / BUILD_LOCK).relative_to(root).as_posix()
        return shlex.join(["pip", "install", "--require-hashes", "-r", path])

    def install_remarks(self, target: str, extras: Sequence[str] = BUILDS) -> tuple[str, ...]:
        """Return what its author should know of the version that a host builds with.

        Args:
            target: The target's name on the command line.
            extras: The extras that are needed there.
        """
        own, lock = version("mcpframe"), self.lock
        if lock is None:
            unlocked = f"for hashes of all that is installed there, write {BUILD_LOCK}, and run this again"
            return (
                f"it builds with mcpframe {own}, as you do: after an upgrade, run mcpframe publish {target} again",
                f"{unlocked}: {_lock_command(extras)}",
            )
        if missing := [each for each in extras if each not in lock.extras]:
            text = f"{BUILD_LOCK} lacks mcpframe[{','.join(missing)}], so not all that is installed there has hashes"
            return (f"{text}: {_lock_command(extras)}",)
        if lock.version == own:
            return (f"it builds with mcpframe {own} of {BUILD_LOCK}: after an upgrade, write that file anew",)
        return (f"it builds with mcpframe {lock.version} of {BUILD_LOCK}, and you with {own}: {_lock_command(extras)}",)

    def build_command(self, root: Path) -> str:
        """Return the command that builds the site, for a shell in a folder.

        Raises:
            PublishError: The project or the output root is not below that folder.
        """
        project, folder = self.project, self.out
        for path in (project, folder):
            if not path.is_relative_to(root):
                raise PublishError(
                    f"{path} is not below {root}, where the host builds: build into a folder there (--out)."
                )
        words = [project.relative_to(root).as_posix(), "--out", folder.relative_to(root).as_posix()]
        options = ["--pwa"] if self.manifests.get(self.name, {}).get("installable") else []
        options += ["--keep-deploys", str(self.keep)] if self.keep else []
        return shlex.join(["mcpframe", "build", *(() if words == [".", "--out", "dist"] else words), *options])

    @property
    def listed(self) -> dict[str, int]:
        """The size of each file that a bundle has, by path: what the site needs."""
        return {entry["path"]: entry["bytes"] for each in self.manifests.values() for entry in each["files"]}

    @property
    def copies(self) -> frozenset[str]:
        """The files that a build has compressed beside others. An asset of the author may end with `.gz`, too."""
        return frozenset(path for path in self.sizes if path.endswith(".gz") and path.removesuffix(".gz") in self.sizes)

    @property
    def start_folder(self) -> str:
        """The path of the page to begin with where a folder's address stands for its `index.html`."""
        return self.start.removesuffix("index.html")

    @property
    def start(self) -> str:
        """The path of the page to begin with: of a gallery, or of the only or first bundle."""
        return "index.html" if "index.html" in self.sizes else f"{next(iter(self.manifests))}/index.html"


NOT_SERVED = CONFIGURATION | {RECORD}
"""The files in the root of a site that no page asks for."""

FRAMED_BY_ANY = (
    "no header says who may frame it: any page may, though messages of pages that are not allowed are dropped"
)
"""The loss of a site that cannot set headers."""


def _kit(extras: Sequence[str], of: str) -> str:
    return f"mcpframe[{','.join(extras)}]=={of}"


def _lock_command(extras: Sequence[str]) -> str:
    compiled = f"uv pip compile --universal --generate-hashes --output-file {BUILD_LOCK} -"
    return f"echo '{_kit(extras, version('mcpframe'))}' | {compiled}"


def without_copies(site: Deployment) -> str:
    """Return lines of an ignore file, in the format of `.gitignore`, for the copies that a build has compressed."""
    copies = site.copies
    assets = sorted(path for path in site.sizes if path.endswith(".gz") and path not in copies)
    return "*.gz\n" + "".join(f"!/{ignored(path)}\n" for path in assets)


def ignored(path: str) -> str:
    """Return a path as a pattern of `.gitignore`."""
    return re.sub(r"([\\*?\[\]! #])", r"\\\1", path)


def _no_files(_: Deployment) -> dict[Path, str]:
    return {}


def _no_lines(_: Deployment) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class PublishTarget:
    """A static host to publish on.

    Attributes:
        name: Its name on the command line.
        host: The host.
        steps: Returns what its author does there, a line each.
        files: Returns the texts of the files to write, by path. Each has the mark `UNSIGNED`; see `own_files`.
        remarks: Returns what its visitors do not have there, besides what its headers and limits say.
        left_out: Whether files that no bundle has are left out there if they are too large.
    """

    name: str
    host: StaticHost
    steps: Callable[[Deployment], tuple[str, ...]]
    files: Callable[[Deployment], Mapping[Path, str]] = field(default=_no_files)
    remarks: Callable[[Deployment], tuple[str, ...]] = field(default=_no_lines)
    left_out: bool = False
