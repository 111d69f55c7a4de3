"""From requirements to exact wheels that run in Pyodide.

Two programs are needed: uv chooses the versions with the markers of Pyodide's platform (pip would evaluate those of
this machine), and pip fetches the wheels with Pyodide's tags (uv cannot download). If uv chooses a version without such
a wheel, the versions that pip finds become constraints of the next round. A package with a wheel in Pyodide's own
distribution only is constrained to that version.

The official SDK is 2.x, or 1.x if the requirements or their code need it (`sdk_choice`). Packages that only a process
with sockets can use are left out (`left_out`): `mcpframe.frame.compat` answers their imports.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from uv import find_uv_bin

from mcpframe.kit.base.errors import BuildError, DownloadError, ToolFailed
from mcpframe.kit.base.programs import run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.archive import unpack
from mcpframe.kit.bundle.imports import imports_named
from mcpframe.kit.bundle.left_out import LEFT_OUT, is_left_out
from mcpframe.kit.bundle.lock import Lock, Locked
from mcpframe.kit.bundle.pyodide_packages import PyodidePackage, PyodidePackages
from mcpframe.kit.bundle.runtime import PYTHON_VERSION
from mcpframe.kit.bundle.sdk_choice import EARLIER_SDK, SDK, written_for_earlier
from mcpframe.kit.bundle.wheels import NoWheel, download, wheel_path

#: The requirements of every bundle: the official SDK.
BASE = (SDK,)
#: In every bundle, for authors who install packages at run time; the page fetches it only then.
INSTALLER = ("micropip",)

SERVER = "server"
"""Stands in a lock for the author's own requirements, as what requires a package."""
OWN = "mcpframe"
"""Stands in a lock for the requirements of every bundle, as what requires a package."""

_PLATFORM = "wasm32-pyodide2025"
_OF_THE_SDK = {"httpx": "httpx", "httpx2": "httpx2", "httpx_sse": "httpx-sse", "starlette": "starlette", "jwt": "pyjwt"}
"""Modules of the SDK's own requirements that servers import without requiring them, and their packages."""
_MAX_ROUNDS = 30
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)")
_NO_NETWORK = re.compile(r"dns error|error sending request|Failed to fetch|Could not connect|timed out", re.IGNORECASE)


@dataclass(frozen=True)
class _Pin:
    version: str
    hashes: tuple[str, ...]
    required_by: tuple[str, ...]


def resolve(
    requirements: Iterable[str],
    pyodide: PyodidePackages,
    *,
    inputs: str,
    previous: Lock | None = None,
    leave_out: Iterable[str] = (),
) -> Lock:
    """Choose the wheels for `requirements`, and fetch them into the cache.

    Args:
        requirements: The author's requirements.
        pyodide: Pyodide's own packages.
        inputs: The hash of the inputs, for the lock.
        previous: A lock whose versions are kept if they still fit.
        leave_out: Packages to leave out, whatever requires them.

    Raises:
        BuildError: A package has no wheel that runs in Pyodide, or the requirements contradict each other.
        DownloadError: The package index cannot be reached.
    """
    roots = sorted(requirements, key=str.lower)
    preferred = {package.name: package.version for package in previous.packages} if previous else {}
    left_out = tuple(leave_out)
    resolving = partial(_resolved, roots, pyodide=pyodide, inputs=inputs, left_out=left_out)
    pins = _compile_for_later(roots, preferred)
    if pins is not None:
        lock = resolving(SDK, preferred=preferred, pins=pins)
        if not _code_for_earlier(lock):
            undeclared = _undeclared(lock)
            return resolving(SDK, preferred=preferred, pins=pins, undeclared=undeclared) if undeclared else lock
        preferred = {}
    lock = resolving(EARLIER_SDK, preferred=preferred)
    undeclared = _undeclared(lock)
    return resolving(EARLIER_SDK, preferred=preferred, undeclared=undeclared) if undeclared else lock


def _compile_for_later(roots: list[str], preferred: Mapping[str, str]) -> dict[str, _Pin] | None:
    """Return the versions with mcp 2.x; None if the requirements on their own lead to 1.x.

    A package that excludes 2.x now may have older versions that do not; they would fit, but are not intended.
    """
    try:
        pins = _compile(roots, {}, preferred, sdk=SDK)
    except BuildError:
        if roots and _leads_to_earlier(roots, preferred):
            return None
        raise
    wanting = set(pins["mcp"].required_by) - {OWN, SERVER} if "mcp" in pins else set()
    return None if wanting and _leads_to_earlier(roots, preferred) else pins


def _leads_to_earlier(roots: list[str], preferred: Mapping[str, str]) -> bool:
    pins = _compile(roots, {}, preferred, sdk=None)
    return "mcp" in pins and Version(pins["mcp"].version) < Version("2")


def _code_for_earlier(lock: Lock) -> str | None:
    """Return the evidence that a package which requires the SDK is written for mcp 1.x, although it allows 2.x."""
    files = {package.name: package for package in lock.packages}
    users = set(files["mcp"].required_by) & files.keys() if "mcp" in files else set()
    wheels = (unpack(wheel_path(files[name])) for name in sorted(users))
    return next((found for wheel in wheels if (found := written_for_earlier(wheel))), None)


def _undeclared(lock: Lock) -> dict[str, str]:
    """Return what servers import of the SDK's requirements that it is served without, though they do not require it."""
    files = {package.name: package for package in lock.packages}
    sdks = [files[name] for name in ("mcp", "fastmcp", "fastmcp-slim") if name in files]
    users = {who for sdk in sdks for who in sdk.required_by} & files.keys()
    found: dict[str, str] = {}
    for name in sorted(users - {who for entry in LEFT_OUT for who in entry.of}):
        wheel = unpack(wheel_path(files[name]))
        for module, package in _OF_THE_SDK.items():
            if package not in files and imports_named(module, wheel):
                found.setdefault(package, name)
    return found


def _resolved(
    roots: list[str],
    sdk: str,
    *,
    pyodide: PyodidePackages,
    inputs: str,
    preferred: Mapping[str, str],
    left_out: tuple[str, ...],
    pins: dict[str, _Pin] | None = None,
    undeclared: Mapping[str, str] | None = None,
) -> Lock:
    preferred = dict(preferred)
    constraints: dict[str, str] = {}
    tried: dict[str, set[str]] = {}
    from_pyodide: dict[str, PyodidePackage] = {}
    for _ in range(_MAX_ROUNDS):
        pins = _reachable(pins or _compile(roots, constraints, preferred, sdk=sdk), left_out, undeclared or {})
        _take_what_pyodide_needs(pins, from_pyodide, pyodide)
        on_index = {name: (pin.version, pin.hashes) for name, pin in pins.items() if name not in from_pyodide}
        try:
            found = download(on_index)
        except NoWheel as missing:
            name = missing.name
            before = tried.setdefault(name, set())
            before.add(pins[name].version)
            stable = [item for item in missing.versions if _is_as_stable(item, pins[name].version)]
            version = next((item for item in reversed(stable) if item not in before), None)
            if version is not None and _fits(version, name, roots):
                constraints[name] = f"{name}=={version}"
                before.add(version)
            elif own := pyodide.find(name):
                from_pyodide[name] = own
                constraints[name] = f"{name}=={own.version}"
            else:
                raise BuildError(_no_wheel(name, pins, missing.versions)) from missing
            preferred.pop(name, None)
            pins = None
            continue
        packages = []
        for name, pin in sorted(pins.items()):
            if name in from_pyodide:
                own = from_pyodide[name]
                packages.append(Locked(name, own.version, own.filename, own.sha256, "pyodide", pin.required_by))
            elif name in found:
                packages.append(Locked(name, *found[name], "index", pin.required_by))
            else:
                raise BuildError(f"pip fetched no wheel of {name} {pin.version}; run the build again.")
        return Lock(inputs, tuple(packages))
    raise BuildError(
        f"No set of wheels for Pyodide was found in {_MAX_ROUNDS} attempts "
        f"(tried several versions of {', '.join(sorted(constraints))}): pin versions in the requirements."
    )


def _is_as_stable(version: str, pinned: str) -> bool:
    """Return whether a version is no pre-release; if the pinned one is, any version is as stable."""
    return Version(pinned).is_prerelease or not Version(version).is_prerelease


def _fits(version: str, name: str, roots: list[str]) -> bool:
    for root in roots:
        requirement = Requirement(root)
        if canonicalize_name(requirement.name) == name and not requirement.specifier.contains(version):
            return False
    return True


def _take_what_pyodide_needs(
    pins: dict[str, _Pin], chosen: dict[str, PyodidePackage], pyodide: PyodidePackages
) -> None:
    """Add the requirements of packages from Pyodide's distribution that are in it, too, and not on the index."""
    for name in list(chosen):
        if name not in pins:
            del chosen[name]  # no longer required, because of another constraint
            continue
        for needed in chosen[name].depends:
            if needed in pins:
                continue
            own = pyodide.find(needed)
            if own is None:
                raise BuildError(
                    f"{name} {chosen[name].version} needs {needed} of Pyodide's distribution, a shared library that "
                    f"a bundle cannot contain yet; {_who(pins[name])} requires {name}: leave it out."
                )
            chosen[needed] = own
            pins[needed] = _Pin(own.version, (own.sha256,), (name,))


def _compile(
    roots: list[str], constraints: Mapping[str, str], preferred: Mapping[str, str], *, sdk: str | None
) -> dict[str, _Pin]:
    with scratch("resolve") as folder:
        (folder / f"{SERVER}.in").write_text("\n".join(roots) + "\n")
        (folder / f"{OWN}.in").write_text("\n".join((sdk, *INSTALLER) if sdk else ()) + "\n")
        (folder / "constraints.txt").write_text("\n".join(constraints.values()) + "\n")
        # uv keeps the versions in an existing output file.
        (folder / "pins.txt").write_text("".join(f"{name}=={version}\n" for name, version in preferred.items()))
        command = [find_uv_bin(), "pip", "compile", f"{SERVER}.in", f"{OWN}.in", "--constraints", "constraints.txt"]
        command += ["--python-platform", _PLATFORM, "--python-version", PYTHON_VERSION.rpartition(".")[0]]
        command += ["--generate-hashes", "--no-header", "--annotation-style", "line", "--quiet", "--no-config"]
        # Without an interpreter uv looks for one of Pyodide's version, and tries to download it.
        command += ["--python", sys.executable]
        command += ["--index-strategy", "unsafe-best-match", "--output-file", "pins.txt"]
        try:
            run_tool(command, "uv", cwd=folder, timeout=600)
        except ToolFailed as error:
            raise _explain(error) from error
        return _parse((folder / "pins.txt").read_text("utf-8"))


def _explain(error: ToolFailed) -> BuildError | DownloadError:
    if _NO_NETWORK.search(error.output):
        return DownloadError(
            "The package index cannot be reached, so the requirements cannot be resolved: check the network."
        )
    reason = " ".join(error.output.split())
    _, found, because = reason.partition("Because ")
    reason = f"because {because}" if found else reason
    return BuildError(
        f"The requirements cannot be resolved for Pyodide: {reason[:600].rstrip('.')}. Change the requirements."
    )


def _parse(text: str) -> dict[str, _Pin]:
    """Read uv's output: pins with their hashes, and `# via` with what requires them."""
    pins: dict[str, _Pin] = {}
    for block in re.split(r"\n(?=\S)", text):
        match = _PIN.match(block)
        if match is None:
            continue
        via = block.partition("# via ")[2].replace("\n", " ")
        wanted = {part.strip() for part in via.split(",") if part.strip() and not part.strip().startswith("-c ")}
        who = {canonicalize_name(part.removeprefix("-r ").removesuffix(".in")) for part in wanted}
        name = canonicalize_name(match[1])
        pins[name] = _Pin(match[2], tuple(sorted(_HASH.findall(block))), tuple(sorted(who)))
    return pins


def _reachable(pins: dict[str, _Pin], also: tuple[str, ...], undeclared: Mapping[str, str]) -> dict[str, _Pin]:
    """Drop the packages that are left out, and those that only such packages require."""
    wanted = {name: {who for who in pin.required_by if not is_left_out(name, who, also)} for name, pin in pins.items()}
    for name, who in undeclared.items():
        if name in wanted and not is_left_out(name, who, also):
            wanted[name].add(who)
    roots = {SERVER, OWN}
    kept = {name for name, who in wanted.items() if who & roots}
    while True:
        more = kept | {name for name, who in wanted.items() if who & kept}
        if more == kept:
            return {
                name: replace(pins[name], required_by=tuple(sorted(wanted[name] & (kept | roots)))) for name in kept
            }
        kept = more


def _who(pin: _Pin) -> str:
    return " and ".join("the server itself" if who == SERVER else who for who in pin.required_by)


def chain_of(name: str, wanted_by: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the shortest chain of packages from one of the author's requirements to a package.

    Args:
        name: The package.
        wanted_by: For each package, the packages that require it.
    """
    ways: list[tuple[str, ...]] = [(name,)]
    seen = {name}
    for way in ways:  # the list grows, shorter chains first
        wanting = wanted_by.get(way[0], ())
        if SERVER in wanting or OWN in wanting or not wanting:
            return way
        ways += [(who, *way) for who in wanting if who not in seen]
        seen |= set(wanting)
    return (name,)


def _no_wheel(name: str, pins: Mapping[str, _Pin], versions: tuple[str, ...]) -> str:
    pin = pins[name]
    chain = chain_of(name, {item: found.required_by for item, found in pins.items()})
    through = f" (through {' → '.join(chain)})" if len(chain) > 2 else ""
    there = f"only of {', '.join(sorted(versions, key=Version))}" if versions else "of no version"
    return (
        f"{name} {pin.version} has no wheel that runs in Pyodide: neither pure Python nor WebAssembly (the package "
        f"index has one {there}, Pyodide's distribution none). {_who(pin)} requires it{through}: leave it out "
        f'(tool.mcpframe.leave_out = ["{name}"], if the server works without it), require another version, or use a '
        "library without native code."
    )
