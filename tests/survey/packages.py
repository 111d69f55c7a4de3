"""The packages of a survey, read from a TOML file.

[[package]]
requirement = "mcp-server-time==2026.10.19"
args = ["--local-timezone", "UTC"]                  # of its program
env = { LOG_LEVEL = "INFO" }
tool = "get_current_time"                           # called with these arguments
arguments = { timezone = "Europe/Berlin" }
expects = "Europe/Berlin"                           # a text in the answer
answers = { "https://api.example/" = "{}" }         # what stands in for hosts: bodies by the start of an address
needs = "subprocesses"                              # what no page has; such a package is expected to fail
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.errors import ConfigError

LIST = Path(__file__).with_name("packages.toml")


@dataclass(frozen=True)
class Package:
    """A package, and one call of its server.

    Attributes:
        requirement: The package and its version.
        tool: The tool to call.
        arguments: The call's arguments.
        expects: A text that the answer has in it.
        args: The arguments of its program.
        env: The environment variables of its program.
        answers: The bodies that stand in for hosts, by the start of their address.
        needs: What it needs that a page does not have; empty if nothing.
    """

    requirement: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    expects: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""

    @property
    def name(self) -> str:
        """The package's name."""
        return canonicalize_name(Requirement(self.requirement).name)

    @property
    def digest(self) -> str:
        """A hash of what is tried: an outcome of something else is not its own."""
        return hashlib.sha256(repr(replace(self, needs="")).encode()).hexdigest()[:16]


def read_packages(path: Path) -> list[Package]:
    """Read the packages of a survey.

    Raises:
        ConfigError: The file is not such a list.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        packages = [_package(item) for item in table["package"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is not a list of packages ({type(error).__name__}: {error}).") from error
    names = [package.name for package in packages]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path} names a package twice: {', '.join(twice)}.")
    return packages


def _package(item: dict[str, Any]) -> Package:
    if unknown := item.keys() - {each.name for each in fields(Package)}:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    return Package(**{**item, "args": tuple(item.get("args", ()))})
