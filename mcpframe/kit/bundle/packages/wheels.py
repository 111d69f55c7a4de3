"""Wheels for Pyodide from the package index, fetched with pip into the cache.

pip chooses among the wheels of a version by their tags: `_TAGS` has those of Pyodide.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from mcpframe.kit.base.cache import cache_dir, move_file, sha256_of, write_file, writing
from mcpframe.kit.base.download import not_trusted
from mcpframe.kit.base.errors import BuildError, DownloadError, HashMismatch, ToolFailed
from mcpframe.kit.base.processes import python, run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.packages.indexes import for_pip
from mcpframe.kit.bundle.packages.lock import Locked
from mcpframe.kit.bundle.pyodide.version import ABI, PYTHON_VERSION

_TAGS = (
    "--only-binary=:all:",
    *("--platform", f"pyemscripten_{ABI}_wasm32"),
    *("--platform", "any"),
    *("--python-version", PYTHON_VERSION.rpartition(".")[0]),
    *("--implementation", "cp"),
    *("--abi", "cp" + "".join(PYTHON_VERSION.split(".")[:2])),
    *("--abi", "abi3"),
    *("--abi", "none"),
)
_ELSEWHERE = (
    *_TAGS[:1],
    *(
        item
        for platform in ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
        for item in ("--platform", f"{platform}_x86_64")
    ),
    *_TAGS[_TAGS.index("--python-version") :],
)
"""Like `_TAGS`, for wheels of another platform whose native part gets removed."""
_NO_WHEEL = re.compile(
    r"Could not find a version that satisfies the requirement ([A-Za-z0-9._-]+)==(\S+) \(from versions: ([^)]*)\)"
)
_OTHER_PYTHON = re.compile(r"Package '([A-Za-z0-9._-]+)' requires a different Python: \S+ not in '([^']+)'")
_IGNORED = re.compile(r"Ignored the following versions that require a different python version: (.*)")
_OTHER_FILE = re.compile(r"^ +([A-Za-z0-9._-]+)==(\S+) from ", re.MULTILINE)
_NO_NETWORK = re.compile(r"NewConnectionError|Name or service not known|Connection refused|Max retries|timed out")


class NoWheel(Exception):
    """The package index has no wheel of the requested version that runs in Pyodide.

    Args:
        name: The package, normalized.
        versions: The versions with such a wheel, oldest first.
        requires_python: The Pythons of the requested version, as its wheel declares them, if Pyodide's is none of them.
    """

    def __init__(self, name: str, versions: tuple[str, ...], requires_python: str = "") -> None:
        super().__init__(name, versions, requires_python)
        self.name = name
        self.versions = versions
        self.requires_python = requires_python


class _OtherFile(HashMismatch):
    """pip found another file of a version than the ones whose hashes it was given.

    Args:
        message: The sentences for the author.
        name: The package, normalized; empty if pip does not name it.
    """

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def wheel_path(package: Locked) -> Path:
    """Return the path of a wheel in the cache; it need not exist."""
    return cache_dir() / "wheels" / package.sha256 / package.filename


def is_good(path: Path, sha256: str) -> bool:
    """Return whether a file has a hash."""
    return path.is_file() and sha256_of(path) == sha256


def download(
    pins: Mapping[str, tuple[str, tuple[str, ...]]], *, foreign: Collection[str] = (), locked: bool = False
) -> dict[str, tuple[str, str, str]]:
    """Fetch wheels for Pyodide into the cache, with pip and its configured package index.

    pip is not asked again for a version whose files on the index are the same as before, if the cache has its wheel.

    Args:
        pins: The version of each package, and the allowed hashes.
        foreign: The packages that are fetched for another platform; see `optional_native`.
        locked: Whether the hashes are those of a lock, for errors.

    Returns:
        The version of each package, the wheel's file name and its SHA-256.

    Raises:
        NoWheel: A version has no wheel.
        HashMismatch: A wheel has none of the allowed hashes.
        DownloadError: The package index cannot be reached.
        ToolFailed: pip failed for another reason.
    """
    chosen_wheels: dict[str, tuple[str, str, str]] = {}
    absent: list[NoWheel] = []
    for tags, names in ((_TAGS, pins.keys() - set(foreign)), (_ELSEWHERE, pins.keys() & set(foreign))):
        missing = {}
        for name in names:
            known = _chosen_before(name, *pins[name], tags)
            if known is None:
                missing[name] = pins[name]
            else:
                chosen_wheels[name] = known
        while missing:
            try:
                fetched = _download(missing, tags, locked=locked)
            except NoWheel as error:
                if error.name not in missing:
                    raise
                absent.append(error)
                del missing[error.name]  # pip keeps none of the others: fetch them now, for the next attempt
                continue
            for name, chosen in fetched.items():
                write_file(_choice(name, *pins[name], tags), json.dumps(chosen).encode())
                chosen_wheels[name] = chosen
            break
    if absent:
        raise absent[0]
    return chosen_wheels


def _download(
    pins: Mapping[str, tuple[str, tuple[str, ...]]], tags: tuple[str, ...], *, locked: bool
) -> dict[str, tuple[str, str, str]]:
    store = cache_dir() / "wheels"
    with writing(store):
        store.mkdir(parents=True, exist_ok=True)
        try:
            return _fetch(pins, tags, store, for_pip(), locked=locked)
        except _OtherFile as error:
            if error.name not in pins:
                raise
            # Of two files of one version uv takes that in a folder of wheels, and pip that of the index.
            try:
                environment = {**for_pip(), "PIP_NO_INDEX": "true"}
                fetched = _fetch({error.name: pins[error.name]}, tags, store, environment, locked=locked)
            except (NoWheel, HashMismatch, ToolFailed):
                raise error from None
        others = {name: pin for name, pin in pins.items() if name not in fetched}
        return {**fetched, **(_download(others, tags, locked=locked) if others else {})}


def _fetch(
    pins: Mapping[str, tuple[str, tuple[str, ...]]],
    tags: tuple[str, ...],
    store: Path,
    environment: Mapping[str, str],
    *,
    locked: bool,
) -> dict[str, tuple[str, str, str]]:
    with scratch("download") as folder:
        requirements = folder / "requirements.txt"
        lines = [
            f"{name}=={version} " + " ".join(f"--hash=sha256:{digest}" for digest in hashes)
            for name, (version, hashes) in sorted(pins.items())
        ]
        requirements.write_text("\n".join(lines), "utf-8", newline="\n")
        into = folder / "wheels"
        command = python("-m", "pip", "download", "--progress-bar=off", "--disable-pip-version-check", "--no-input")
        command += ["--no-deps", "--require-hashes", *tags, "--dest", str(into), "--requirement", str(requirements)]
        try:
            run_tool(command, "pip", timeout=900, environment=environment)
        except ToolFailed as error:
            _explain(error, locked=locked)
        return dict(_keep(wheel, store) for wheel in sorted(into.iterdir()))


def _chosen_before(
    name: str, version: str, hashes: tuple[str, ...], tags: tuple[str, ...]
) -> tuple[str, str, str] | None:
    """Return pip's earlier choice among these files, if it is in the cache."""
    try:
        its_version, filename, digest = json.loads(_choice(name, version, hashes, tags).read_text("utf-8"))
        wheel = cache_dir() / "wheels" / digest / filename
        return (its_version, filename, digest) if digest in hashes and is_good(wheel, digest) else None
    except (OSError, ValueError, TypeError):
        return None


def _choice(name: str, version: str, hashes: tuple[str, ...], tags: tuple[str, ...]) -> Path:
    key = hashlib.sha256(json.dumps([tags, name, version, sorted(hashes)]).encode()).hexdigest()
    return cache_dir() / "wheel-choices" / f"{key}.json"


def _required_python(output: str, version: str) -> str:
    """Return which Pythons pip says a version requires, where it has left that out for them."""
    ignored = _IGNORED.search(output)
    for entry in ignored[1].split(";") if ignored else ():
        its_version, _, required = entry.strip().partition(" Requires-Python ")
        if its_version == version:
            return required.strip()
    return ""


def _explain(error: ToolFailed, *, locked: bool) -> None:
    if other := _OTHER_PYTHON.search(error.output):  # of a wheel in a folder
        raise NoWheel(canonicalize_name(other[1]), (), other[2]) from error
    match = _NO_WHEEL.search(error.output)
    requires_python = _required_python(error.output, match[2]) if match else ""
    versions = tuple(part.strip() for part in match[3].split(",") if part.strip() not in ("", "none")) if match else ()
    if match and (versions or requires_python):
        raise NoWheel(canonicalize_name(match[1]), versions, requires_python) from error
    # pip has no versions of an index that it cannot reach either
    if untrusted := not_trusted(error.output):
        raise untrusted from error
    if _NO_NETWORK.search(error.output):
        raise DownloadError(
            "The package index cannot be reached: check the network, or pip's settings (`pip config list`)."
        ) from error
    if match:
        raise NoWheel(canonicalize_name(match[1]), ()) from error
    if "DO NOT MATCH THE HASHES" in error.output:
        match = _OTHER_FILE.search(error.output)
        which = f" of {match[1]} {match[2]}" if match else ""
        same = f"{match[1]} {match[2]}" if match else "the same version"
        message = f"Two of your sources (indexes or folders of wheels) have different files for {same}"
        remedy = f"give yours a version of its own{f', such as {match[2]}+local' if match else ''}"
        if locked:
            message = f"The wheel{which} on the package index does not have its locked hash"
            remedy = "if it was replaced there intentionally, run the build with --upgrade"
        raise _OtherFile(f"{message}; {remedy}.", canonicalize_name(match[1]) if match else "") from error
    raise error


def _keep(wheel: Path, store: Path) -> tuple[str, tuple[str, str, str]]:
    name, version = wheel_name(wheel.name)
    digest = sha256_of(wheel)
    target = store / digest / wheel.name
    move_file(wheel, target)
    return name, (version, wheel.name, digest)


def wheel_name(filename: str) -> tuple[str, str]:
    """Return the normalized name and the version in a wheel's file name.

    Raises:
        BuildError: It is not the name of a wheel.
    """
    try:
        name, version, _, _ = parse_wheel_filename(filename)
    except InvalidWheelFilename as error:
        raise BuildError(f"{filename} is not the file name of a wheel: {error}.") from error
    return name, str(version)
