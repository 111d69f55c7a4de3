"""What the playground installs from: package indexes, and Pyodide's distribution, which the site names or has itself.

Its page reads `installing.json`: see `static/playground/packages.js`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from packaging.tags import Tag, compatible_tags, cpython_tags

from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.pyodide.packages import CDN, PyodidePackage, PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.pyodide.version import ABI, PLATFORM, PYTHON_VERSION

INDEXES = ("https://pypi.org/simple/",)
WHEEL_HOSTS = ("https://files.pythonhosted.org",)
_CARRIED = "packages/"


@dataclass(frozen=True)
class Installing:
    """What the playground installs from.

    Attributes:
        indexes: The addresses of package indexes with a JSON API (PEP 691), asked in this order.
        hosts: The origins of their wheels.
        distribution: A distribution of Pyodide: an address, or a folder, whose wheels the site gets. Empty for none.
    """

    indexes: tuple[str, ...] = INDEXES
    hosts: tuple[str, ...] = WHEEL_HOSTS
    distribution: str = CDN

    @property
    def sources(self) -> list[str]:
        """The origins of which the page fetches, for its policy."""
        addresses = [*self.indexes, *self.hosts, *([self.distribution] if _is_address(self.distribution) else [])]
        return list(dict.fromkeys(map(_origin, addresses)))


USUAL = Installing()


def installing_from(indexes: Sequence[str], hosts: Sequence[str], distribution: str) -> Installing:
    """Return what a site installs from, by the options of `build.py site`.

    Args:
        indexes: The addresses of indexes, whose wheels may be at their own origins; none for the usual one.
        hosts: Further origins of wheels.
        distribution: As of `Installing`.

    Raises:
        ValueError: Some are no addresses.
    """
    addresses = tuple(f"{each.removesuffix('/')}/" for each in indexes) or INDEXES
    own = [parse_origin(_origin(each)) for each in addresses] if indexes else WHEEL_HOSTS
    return Installing(addresses, (*own, *map(parse_origin, hosts)), distribution)


def write_installing(target: Path, installing: Installing) -> None:
    """Write `installing.json` into the playground's folder, and the wheels of a distribution that is a folder.

    Raises:
        BuildError: The distribution has no valid lock.
        DownloadError: Its lock cannot be fetched.
    """
    place = installing.distribution
    wheels = _wheels(place) if place else {}
    carried = {} if _is_address(place) else {name: Path(place, wheel.filename) for name, wheel in wheels.items()}
    if carried:
        (target / _CARRIED).mkdir(exist_ok=True)
    for file in carried.values():
        shutil.copy(file, target / _CARRIED)
    entries = {
        name: (
            wheel.version,
            wheel.filename,
            wheel.sha256,
            carried[name].stat().st_size if name in carried else None,
            wheel.depends,
        )
        for name, wheel in sorted(wheels.items())
    }
    found = {
        "indexes": installing.indexes,
        "hosts": installing.hosts,
        "tags": list(map(str, tags())),
        "distribution": {"base": place if _is_address(place) else _CARRIED, "packages": entries},
    }
    (target / "installing.json").write_text(json.dumps(found), "utf-8")


def tags() -> Iterator[Tag]:
    """Yield the tags of wheels that run in a page, the best first."""
    major, minor, _ = PYTHON_VERSION.split(".")
    version, interpreter = (int(major), int(minor)), f"cp{major}{minor}"
    platforms = [f"pyemscripten_{ABI}_wasm32", f"pyodide_{ABI}_wasm32", f"{PLATFORM}_wasm32"]
    yield from cpython_tags(version, [interpreter], platforms)
    yield from compatible_tags(version, interpreter, platforms)


def _wheels(place: str) -> dict[str, PyodidePackage]:
    """Return the wheels of a distribution whose requirements are wheels of it, too, by the names of their packages.

    An index is never asked for the others by these names, as it may have somebody else's packages of them.
    """
    distribution = PyodidePackages(ensure_runtime(), place)
    if not _is_address(place) and not Path(place).is_dir():
        raise BuildError(f"{place} is not a folder: name another distribution of packages.")
    found = {
        wheel.name: wheel
        for wheel in distribution.wheels()
        if _is_address(place) or Path(place, wheel.filename).is_file()
    }
    while lacking := [name for name, wheel in found.items() if not found.keys() >= set(wheel.depends)]:
        for name in lacking:
            del found[name]
    return found


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _is_address(place: str) -> bool:
    return place.startswith(("https://", "http://"))
