"""The environment of a server that this process cannot import: its packages, locked and installed by uv.

A package's program, and servers of mcp 1.x and of the package fastmcp, need other versions than this process has. The
versions are pinned with their hashes in a lock beside the project; the environment is in the cache, by its lock.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from uv import find_uv_bin

from mcpframe.kit.base.cache import cache_dir, new_folder, write_file
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.progress import Progress
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.author_files import author_files
from mcpframe.kit.bundle.code.console_scripts import with_program
from mcpframe.kit.bundle.code.imports import imports_named
from mcpframe.kit.bundle.code.sdk_choice import EARLIER_SDK, asks_for_later, written_for_earlier
from mcpframe.kit.bundle.packages.indexes import for_uv
from mcpframe.kit.bundle.packages.lock import inputs_hash
from mcpframe.kit.bundle.packages.pins import Pin, parse_pins, resolution_error
from mcpframe.kit.project.project import Project

_HEAD = "# Written by `mcpframe serve --python`, for its environment {}.\n# Delete it to take the newest versions.\n"
_OF_SDKS = ("mcp", "fastmcp", "fastmcp-slim")
_SECONDS = 900.0
"""The longest that an installation may take."""
_QUIET = ("--quiet", "--config-file", "uv.toml")
"""With a file of settings uv reads no other; the indexes of the user's are in its environment."""


@dataclass(frozen=True)
class OwnEnvironment:
    """An installed environment.

    Attributes:
        project: The project, with its entry found: `module:object`, or the function of its `program`.
        python: The path of its Python.
        pins: Its packages.
        code: The code of the server, by path.
    """

    project: Project
    python: Path
    pins: Mapping[str, Pin]
    code: Mapping[str, bytes]

    @property
    def has_later_sdk(self) -> bool:
        """Whether it has mcp 2.x, which knows the revisions without a handshake."""
        return "mcp" in self.pins and Version(self.pins["mcp"].version).major > 1


def needs_own_environment(project: Project) -> bool:
    """Return whether a project's server cannot be served by this process: a program, or one of another SDK.

    Raises:
        McpFrameError: The author's files cannot be read.
    """
    if project.is_program:
        return True
    code = _code(project)
    if imports_named("mcpframe", code):
        return False
    top = project.entry.partition(":")[0].partition(".")[0]
    if not any(path.startswith((f"{top}/", f"{top}.")) for path in code) and find_spec(top) is None:
        return True  # an object of a package that is not installed here
    requested = [Requirement(each) for each in (*project.requirements, *project.lazy)]
    of_fastmcp = any(canonicalize_name(each.name) in _OF_SDKS[1:] for each in requested)
    return of_fastmcp or any(map(_is_earlier, requested)) or written_for_earlier(code) is not None


def _code(project: Project) -> dict[str, bytes]:
    """Return the author's Python files, by path: not what only pages have."""
    bare = project.config.model_copy(update={"assets": [], "styles": []})
    return author_files(replace(project, config=bare), project.root / "dist")


def _is_earlier(requirement: Requirement) -> bool:
    """Return whether a requirement of the SDK excludes 2.x."""
    if canonicalize_name(requirement.name) != "mcp":
        return False
    for each in requirement.specifier:
        version = Version(each.version.removesuffix(".*"))
        if each.operator in ("==", "===", "~=") and version.major < 2:
            return True
        if each.operator in ("<", "<=") and version <= Version("2"):
            return True
    return False


def install(project: Project, progress: Progress, *, earlier: bool = False) -> OwnEnvironment:
    """Install the environment of a project, unless it is there.

    The versions are those of the lock. Without one, or with one of other requirements, they are chosen by the rules of
    a build: with mcp 1.x where the code of its packages needs that.

    Args:
        earlier: Whether the server was found to need mcp 1.x when it started.

    Raises:
        BuildError: The requirements contradict each other, or a package has no wheel.
        ConfigError: The package has no program, or several.
        McpFrameError: The index cannot be reached, or a file cannot be written.
    """
    requested = _requirements(project)
    with locked(project.root):
        lock = _Lock(project, requested)
        text = lock.text
        if text is None or earlier:
            with progress("Resolving the requirements"):
                text = lock.resolve([EARLIER_SDK] if earlier else [])
        environment = _installed(project, text, progress)
        if environment.has_later_sdk and not asks_for_later(requested) and (evidence := _code_for_earlier(environment)):
            with progress(f"Resolving the requirements with mcp 1.x: {evidence}"):
                text = lock.resolve([EARLIER_SDK])
            environment = _installed(project, text, progress)
        lock.write(text)
    return environment


def _requirements(project: Project) -> tuple[str, ...]:
    """Return what a project needs: its own requirements, and the SDK for a server of its own code."""
    requested = (*project.requirements, *project.lazy)
    has_sdk = any(canonicalize_name(Requirement(each).name) in _OF_SDKS for each in requested)
    return requested if has_sdk or project.named_package else (*requested, "mcp")


class _Lock:
    """The lock of an environment: uv's pins, and the hash of what they were chosen for."""

    def __init__(self, project: Project, requested: tuple[str, ...]) -> None:
        self._project = project
        self._requested = requested
        self._path = project.lock_path.with_name(project.lock_path.name.replace(".lock", ".python.lock"))
        python = f"{platform.python_implementation()} {sys.version_info.major}.{sys.version_info.minor}, {sys.platform}"
        config = project.config
        self._head = _HEAD.format(inputs_hash(requested, config.leave_out, [python, str(config.build_sdists)]))

    @property
    def text(self) -> str | None:
        """The pins; None if there are none for these requirements and this Python."""
        known = self._path.read_text("utf-8") if self._path.is_file() else ""
        return known if known.startswith(self._head) else None

    def write(self, text: str) -> None:
        """Write the pins, unless they are there."""
        if self.text != text:
            write_file(self._path, text.encode(), public=True)

    def resolve(self, further: list[str]) -> str:
        """Return the newest versions that fit together."""
        config = self._project.config
        with scratch("resolve") as folder:
            _write(folder / "requirements.in", (*self._requested, *further))
            _write(folder / "excludes.txt", config.leave_out)
            _write(folder / "uv.toml", ())
            command = ["requirements.in", "--generate-hashes", "--no-header", "--annotation-style", "line"]
            command += ["--index-strategy", "unsafe-best-match", "--python", sys.executable]
            command += ["--excludes", "excludes.txt"] if config.leave_out else []
            command += [] if config.build_sdists else ["--only-binary", ":all:"]
            _run_uv(["pip", "compile", *command, "--output-file", "pins.txt"], folder)
            return self._head + (folder / "pins.txt").read_text("utf-8")


def _write(file: Path, lines: tuple[str, ...] | list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")


def _run_uv(arguments: list[str], folder: Path) -> None:
    try:
        run_tool([find_uv_bin(), *arguments, *_QUIET], "uv", cwd=folder, timeout=_SECONDS, environment=for_uv())
    except ToolFailed as error:
        raise resolution_error(error, f"Python {platform.python_version()}") from error


def _installed(project: Project, text: str, progress: Progress) -> OwnEnvironment:
    key = hashlib.sha256(f"{sys.executable}\n{sys.version}\n{text}".encode()).hexdigest()[:32]
    folder = cache_dir() / "environments" / key
    if not folder.is_dir():
        with locked(folder), progress("Installing the server's packages"):
            if not folder.is_dir():  # another process may have made it meanwhile
                with new_folder(folder) as new, scratch("install") as files:
                    _write(files / "uv.toml", ())
                    (files / "pins.txt").write_text(text, "utf-8", newline="\n")
                    _run_uv(["venv", "--allow-existing", "--python", sys.executable, str(new)], files)
                    synced = ["pip", "sync", "--require-hashes", "--index-strategy", "unsafe-best-match", "pins.txt"]
                    _run_uv([*synced, "--python", str(_python(new))], files)
    pins = parse_pins(text)
    if project.named_package:
        code = _files(folder, project.named_package)
        return OwnEnvironment(with_program(project, code), _python(folder), pins, code)
    return OwnEnvironment(project, _python(folder), pins, _code(project))


def _python(folder: Path) -> Path:
    scripts = Path(sysconfig.get_path("scripts", "venv", {"base": str(folder)}))
    return scripts / ("python.exe" if sys.platform == "win32" else "python")


def _code_for_earlier(found: OwnEnvironment) -> str | None:
    """Return the evidence that the server, or a package that requires the SDK, is written for mcp 1.x."""
    folder = found.python.parents[1]
    users = [name for name in found.pins["mcp"].required_by if name in found.pins and name not in _OF_SDKS]
    codes = [found.code, *(_files(folder, name) for name in users)]
    return next(filter(None, map(written_for_earlier, codes)), None)


def _files(folder: Path, package: str) -> dict[str, bytes]:
    """Return the Python files and the entry points of an installed package, by path in site-packages."""
    place = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    distribution = next((each for each in distributions(path=[place]) if _name(each) == package), None)
    listed = (distribution.files or []) if distribution else []
    kept = [each for each in listed if str(each).endswith((".py", "entry_points.txt")) and ".." not in each.parts]
    return {each.as_posix(): path.read_bytes() for each in kept if (path := Path(str(each.locate()))).is_file()}


def _name(found: Distribution) -> str:
    return canonicalize_name(found.metadata["Name"] or "")
