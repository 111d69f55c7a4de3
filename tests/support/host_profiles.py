"""The permissions of a host profile's policies, as a browser reads them: all policies have to allow a thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.hosts import HostProfile


def directives(policy: str) -> dict[str, list[str]]:
    """Return the sources of each directive of a policy."""
    return {name: sources for name, *sources in (part.split() for part in policy.split(";") if part.strip())}


def sources(profile: HostProfile, csp: Mapping[str, Any] | None, name: str) -> list[list[str]]:
    """Return the sources of a directive, or of its fallback, in each policy of a profile."""
    found = [directives(policy) for policy in profile.policies(csp) if policy]
    return [each.get(name, each.get("default-src", [])) for each in found]


def allows_frames(profile: HostProfile, csp: Mapping[str, Any] | None, origin: str) -> bool:
    """Return whether a view may frame pages of an origin."""
    return all(origin in each for each in sources(profile, csp, "frame-src"))


def allows_wasm(profile: HostProfile, csp: Mapping[str, Any] | None) -> bool:
    """Return whether a view may compile WebAssembly in its own document."""
    return all({"'unsafe-eval'", "'wasm-unsafe-eval'"} & set(each) for each in sources(profile, csp, "script-src"))


def allows_scripts(profile: HostProfile, csp: Mapping[str, Any] | None, origin: str) -> bool:
    """Return whether a view may load scripts of an origin, and fetch its files."""
    return all(origin in each for name in ("script-src", "connect-src") for each in sources(profile, csp, name))
