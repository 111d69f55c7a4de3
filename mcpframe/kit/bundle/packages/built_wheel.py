"""Validate and repack a wheel from an untrusted build: the same files give the same bytes."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import compat32

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bundle.pyodide.archive import EARLIEST, Files, pack, unpack

_NATIVE = (".so", ".pyd", ".dylib", ".dll", ".a", ".wasm")
_ABOUT = b"Wheel-Version: 1.0\nGenerator: mcpframe\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@dataclass(frozen=True)
class BuiltWheel:
    """A checked wheel of Python alone.

    Attributes:
        filename: Its file name.
        sha256: The SHA-256 of its content.
        data: Its content.
        requires: The requirements in its metadata.
    """

    filename: str
    sha256: str
    data: bytes
    requires: tuple[str, ...]


def normalized(name: str, version: str, filename: str, data: bytes) -> BuiltWheel:
    """Return a wheel with a fixed order, fixed dates, and a record of its own.

    Args:
        name: The package that it has to be of, normalized.
        version: The version that it has to be of.
        filename: Its file name.
        data: Its content.

    Raises:
        BuildError: It is damaged, too large, of another package, or not of Python alone.
    """
    try:
        its_name, found_version, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        raise BuildError(f"its build returns no wheel ({visible(filename[:100])!r}).") from None
    if (its_name, found_version) != (name, Version(version)):
        raise BuildError(f"its build returns a wheel of something else ({visible(filename[:100])}).")
    files = unpack(data)
    native = next((path for path in sorted(files) if path.lower().endswith(_NATIVE)), "")
    if native or any((tag.abi, tag.platform) != ("none", "any") for tag in tags):
        raise BuildError(f"its wheel has native code ({visible((native or filename)[:100])}).")
    folders = {path.partition("/")[0] for path in files if path.partition("/")[0].endswith(".dist-info")}
    folder = folders.pop() if len(folders) == 1 else ""
    if (metadata := f"{folder}/METADATA") not in files or canonicalize_name(folder.partition("-")[0]) != name:
        raise BuildError("its wheel has no metadata of the package, or that of several packages.")
    requires = _requires(name, version, files[metadata])
    stem = f"{name.replace('-', '_')}-{version}"
    kept = {path: content for path, content in files.items() if not path.startswith(f"{folder}/RECORD")}
    kept[f"{folder}/WHEEL"] = _ABOUT
    kept[f"{folder}/RECORD"] = _record(kept, f"{folder}/RECORD")
    packed = pack(kept, date=EARLIEST)  # compression differs between machines
    return BuiltWheel(f"{stem}-py3-none-any.whl", hashlib.sha256(packed).hexdigest(), packed, requires)


def _requires(name: str, version: str, metadata: bytes) -> tuple[str, ...]:
    headers = BytesParser(policy=compat32).parsebytes(metadata, headersonly=True)
    try:
        same = canonicalize_name(str(headers["Name"])) == name and Version(str(headers["Version"])) == Version(version)
    except InvalidVersion:
        same = False
    if not same:
        raise BuildError("the metadata of its wheel is of another package.")
    try:
        return tuple(plain_requirement(str(item)) for item in headers.get_all("Requires-Dist", []))
    except ValueError as error:
        raise BuildError(f"it requires {error}, which is not a requirement of a package on an index.") from None


def plain_requirement(text: str) -> str:
    """Return a requirement in its usual form.

    Raises:
        ValueError: It is none, or has a URL; the error's text shows it.
    """
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        requirement = None
    if requirement is None or requirement.url or not text.isascii() or not text.isprintable():
        raise ValueError(repr(text[:100]))
    return str(requirement)


def _record(files: Files, own: str) -> bytes:
    lines = []
    for path, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        quoted = '"' + path.replace('"', '""') + '"' if {",", '"', "\n", "\r"} & set(path) else path
        lines.append(f"{quoted},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{own},,", ""]).encode()
