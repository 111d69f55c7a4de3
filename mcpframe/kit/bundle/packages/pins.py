"""Versions of packages that fit together, chosen by uv with the markers of Pyodide's platform."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path

from packaging.utils import canonicalize_name
from uv import find_uv_bin

from mcpframe.kit.base.download import not_trusted
from mcpframe.kit.base.errors import BuildError, DownloadError, ToolFailed
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.special_packages import is_left_out
from mcpframe.kit.bundle.packages.indexes import for_uv
from mcpframe.kit.bundle.packages.inert_python import inert_python
from mcpframe.kit.bundle.packages.lock import OWN, SERVER, requirer
from mcpframe.kit.bundle.pyodide.version import PYTHON_VERSION

INSTALLER = ("micropip",)
"""Packages of every bundle, for authors who install packages at run time; the page fetches them only then."""

PYODIDE = "wasm32-pyodide2025"
"""uv's name of Pyodide's platform."""
LINUX = "x86_64-manylinux_2_28"
"""uv's name of a platform for which nearly all packages have wheels."""

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)")
_NO_NETWORK = re.compile(r"dns error|error sending request|Failed to fetch|Could not connect|timed out", re.IGNORECASE)
_NO_WHEELS = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*?)(?:[=<>!~]\S*)? (?:has|have) no wheels with a matching")
_NOT_BUILT = re.compile(r"Failed to (?:download and )?build `([^`]+)`")
_BUILT_PIN = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+_-]+)")
_MOST_UNKNOWN = 30
"""The number of packages in a resolution whose requirements are not known."""


RequiredBySources = Callable[[str, str], tuple[str, ...]]
"""Returns the requirements of a package that has only sources, by its normalized name and version."""


class Conflict(BuildError):
    """No versions satisfy the requirements.

    Args:
        message: The sentences for the author.
        reason: uv's explanation.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def without_wheels(self) -> str:
        """The package that has wheels for other platforms only, and no sources, normalized; empty if none is named."""
        match = _NO_WHEELS.search(self.reason)
        return canonicalize_name(match[1]) if match else ""


@dataclass(frozen=True)
class Pin:
    """One chosen version.

    Attributes:
        hashes: The SHA-256 of each of its files on the index.
        required_by: The packages that require it, as in a lock.
    """

    version: str
    hashes: tuple[str, ...]
    required_by: tuple[str, ...]


def compile_pins(
    roots: Iterable[str],
    constraints: Mapping[str, str],
    preferred: Mapping[str, str],
    *,
    sdk: str | None,
    excluded: Iterable[str] = (),
    overrides: Iterable[str] = (),
    platform: str = PYODIDE,
    alone: bool = False,
    required_by_sources: RequiredBySources | None = None,
) -> dict[str, Pin]:
    """Choose a version of each package, by normalized name.

    Args:
        roots: The author's requirements.
        constraints: A further requirement for a package, if anything requires it; by name.
        preferred: Versions to take if they fit.
        sdk: The requirement of the official SDK; None for the author's requirements alone.
        excluded: Packages to leave out of all requirements.
        overrides: Requirements that replace all requirements of the same packages.
        platform: uv's name of the platform.
        alone: Whether to leave out everything that the roots require.
        required_by_sources: Builds a package to learn what it requires. uv does not, see `inert_python`: by default a
            package that has only sources, and does not state it there, counts as requiring nothing.

    Raises:
        Conflict: No versions fit.
        DownloadError: The package index cannot be reached.
    """
    files = {
        f"{SERVER}.in": roots,
        f"{OWN}.in": (sdk, *INSTALLER) if sdk else (),
        "constraints.txt": constraints.values(),
        "excludes.txt": (excluded := tuple(excluded)),
        "overrides.txt": overrides,
        # uv keeps the versions in an existing output file.
        "pins.txt": [f"{name}=={version}" for name, version in preferred.items()],
    }
    with scratch("resolve") as folder:
        for name, lines in files.items():
            (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
        command = [f"{SERVER}.in", f"{OWN}.in", "--constraints", "constraints.txt", "--overrides", "overrides.txt"]
        command += ["--excludes", "excludes.txt"] if excluded else []
        command += ["--no-deps"] if alone else []
        command += ["--generate-hashes", "--no-header", "--annotation-style", "line", "--output-file", "pins.txt"]
        run_uv(command, folder, platform, required_by_sources)
        return parse_pins((folder / "pins.txt").read_text("utf-8"))


def run_uv(
    arguments: list[str], folder: Path, platform: str | None, required_by_sources: RequiredBySources | None = None
) -> None:
    """Run `uv pip compile` in a folder.

    It is run again for each package that it would have to build to learn what it requires.

    Args:
        platform: uv's name of the platform; None for all.
        required_by_sources: As for `compile_pins`.

    Raises:
        Conflict: No versions fit.
        DownloadError: The package index cannot be reached.
    """
    environment = for_uv()
    python = inert_python()
    command = [find_uv_bin(), "pip", "compile", *arguments, "--index-strategy", "unsafe-best-match", "--quiet"]
    command += ["--python-platform", platform] if platform else ["--universal"]
    command += ["--python-version", PYTHON_VERSION.rpartition(".")[0]]
    # uv fetches nothing for a build, neither packages nor git repositories, before it calls Python for one.
    command += ["--no-build-isolation", "--no-sources"]
    # Without an interpreter uv looks for one of Pyodide's version, and tries to download it. With a file of settings it
    # reads no other; the indexes of the user's are in the environment.
    command += ["--python", python.program, "--config-file", "uv.toml"]
    environment.update(python.environment)
    required: dict[tuple[str, str], tuple[str, ...]] = {}
    while True:
        (folder / "uv.toml").write_text("".join(starmap(_requiring, required.items())), "utf-8", newline="\n")
        try:
            run_tool(command, "uv", cwd=folder, timeout=600, environment=environment)
            return
        except ToolFailed as error:
            pin = _pin_not_built(error.output)
            if pin is None or pin in required or len(required) == _MOST_UNKNOWN:
                raise resolution_error(error) from error
            required[pin] = required_by_sources(*pin) if required_by_sources else ()


def _pin_not_built(output: str) -> tuple[str, str] | None:
    """Return the name and the version of the package that uv could not build, from its output."""
    built = _NOT_BUILT.search(" ".join(output.split()))
    pin = _BUILT_PIN.fullmatch(built[1]) if built else None
    return (canonicalize_name(pin[1]), pin[2]) if pin else None


def _requiring(pin: tuple[str, str], required: tuple[str, ...]) -> str:
    """Return the setting that tells uv what a version requires."""
    name, version = map(json.dumps, pin)
    listed = json.dumps(list(required))
    return f"[[dependency-metadata]]\nname = {name}\nversion = {version}\nrequires-dist = {listed}\n"


def resolution_error(error: ToolFailed, platform: str = "Pyodide") -> BuildError | DownloadError:
    """Return the error for an author from that of uv.

    Args:
        platform: What the requirements are resolved for, as a name.
    """
    if untrusted := not_trusted(error.output):
        return untrusted
    if _NO_NETWORK.search(error.output):
        return DownloadError(
            "The package index cannot be reached, so the requirements cannot be resolved: check the network, or the "
            "settings of pip (`pip config list`) and uv."
        )
    reason = " ".join(error.output.split())
    if built := _NOT_BUILT.search(reason):
        return Conflict(
            f"{built[1]} has no wheel, and its sources say what it requires only when they are built, which runs their "
            "code and is not done on this machine: require another version, a package that has a wheel, or leave it "
            "out (tool.mcpframe.leave_out).",
            reason,
        )
    _, separator, because = reason.partition("Because ")
    reason = f"because {because}" if separator else reason
    return Conflict(
        f"The requirements cannot be resolved for {platform}: {reason[:600].rstrip('.')}. Change the requirements.",
        reason,
    )


def parse_pins(text: str) -> dict[str, Pin]:
    """Read uv's output: pins with their hashes, and the requiring packages from `# via`."""
    pins: dict[str, Pin] = {}
    for block in re.split(r"\n(?=\S)", text):
        match = _PIN.match(block)
        if match is None:
            continue
        via = block.partition("# via ")[2].replace("\n", " ")
        who = {requiring for part in via.split(",") if (requiring := _requirer(part.strip("# ")))}
        pins[canonicalize_name(match[1])] = Pin(match[2], tuple(sorted(_HASH.findall(block))), tuple(sorted(who)))
    return pins


def _requirer(text: str) -> str:
    """Return a requiring package, as in a lock, from an item of `# via`."""
    if text.startswith("-r "):
        return text.removeprefix("-r ").removesuffix(".in")
    return "" if not text or text.startswith("-c ") else requirer(canonicalize_name(text))


def reachable(pins: Mapping[str, Pin], also: Iterable[str], undeclared: Mapping[str, str]) -> dict[str, Pin]:
    """Return the packages, without those left out and those that only they require.

    Args:
        also: Packages that the author leaves out.
        undeclared: Packages, by name, with another package that requires them without declaring it.
    """
    also = tuple(also)
    direct = {name: {who for who in pin.required_by if not is_left_out(name, who, also)} for name, pin in pins.items()}
    for name, who in undeclared.items():
        if name in direct and not is_left_out(name, who, also):
            direct[name].add(who)
    roots = {SERVER, OWN}
    kept = {name for name, who in direct.items() if who & roots}
    while True:
        kept_as = {requirer(name) for name in kept}
        more = kept | {name for name, who in direct.items() if who & kept_as}
        if more == kept:
            break
        kept = more
    return {
        name: replace(pins[name], required_by=tuple(sorted(direct[name] & (kept_as | roots))))
        for name in pins
        if name in kept
    }


def ancestors(name: str, pins: Mapping[str, Pin]) -> Iterator[str]:
    """Return the packages that require a package, directly or indirectly."""
    seen, names = {name}, [name]
    for current in names:  # the list grows
        for other in pins:
            if other not in seen and current in pins and requirer(other) in pins[current].required_by:
                seen.add(other)
                names.append(other)
                yield other


def chain_of(name: str, wanted_by: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the shortest chain of packages from one of the author's requirements to a package.

    Args:
        wanted_by: For each package, the packages that require it, as in a lock.
    """
    names = {requirer(item): item for item in wanted_by}
    ways: list[tuple[str, ...]] = [(name,)]
    seen = {name}
    for way in ways:  # the list grows, shorter chains first
        wanting = wanted_by.get(way[0], ())
        if SERVER in wanting or OWN in wanting or not wanting:
            return way
        named = [names.get(who, who) for who in wanting]
        ways += [(who, *way) for who in named if who not in seen]
        seen |= set(named)
    return (name,)


def requirers(pin: Pin) -> str:
    """Return the packages that require a pin, in words."""
    return " and ".join("the server itself" if who == SERVER else who for who in pin.required_by)
