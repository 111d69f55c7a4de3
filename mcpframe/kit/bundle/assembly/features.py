"""The features of a bundle; each adds optional parts of mcpframe to it: see `own_modules`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mcpframe.frame.dialects.available import offered_dialects, offers
from mcpframe.kit.bundle.assembly.packages import Packages
from mcpframe.kit.bundle.assembly.special_packages import THIRD_PARTY, advice, modules_of, with_feature
from mcpframe.kit.bundle.code.guards import handled_imports
from mcpframe.kit.bundle.code.imports import imports_named, imports_of
from mcpframe.kit.bundle.pyodide.archive import unpack
from mcpframe.kit.project.project import Project

FEATURES = {
    "document": "It is a server that offers its tools at the document.",
    "fastmcp": "The package fastmcp is among its wheels.",
    "http": "It has an HTTP library.",
    "mcp1": "Its SDK is mcp 1.x.",
    "mcp2": "Its SDK is mcp 2.x.",
    "page": "It is a page with a main function, and no server.",
    "persist": "It has files that are kept.",
    "processes": "Its code starts processes.",
    "program": "Its entry is a console script.",
    "tool_forms": "Its code puts forms for tools into its page.",
    "values": "It has a library whose objects tools return, such as pandas.",
    "visitor_env": "It is a console script whose visitor enters environment variables.",
    "worker": "It is a server that runs in a worker.",
    "world": "Its code was written for a process.",
}
"""All features of bundles, with their meanings."""
HTTP_PACKAGES = with_feature("http")
VALUE_PACKAGES = with_feature("values")
_HTTP_MODULES = ("http.client", "urllib.request")
"""The HTTP libraries of the standard library."""
_TOOL_FORM = b"tool_form"
"""In code that uses `Page.tool_form`."""
_OF_PROCESSES = frozenset({"_thread", "concurrent", "multiprocessing", "queue", "resource", "threading"})
"""Modules whose import by an author means that a server of mcp 2.x needs the feature, too: without it they fail."""


def code_of(packages: Packages, wheels: Mapping[str, Path], author: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the Python files in a bundle besides those of the SDK: the author's, and those of wheels.

    Args:
        wheels: Their files, by package.

    Returns:
        The files by path; those of a wheel in a folder of its name.
    """
    code = {path: data for path, data in author.items() if path.endswith(".py")}
    for name in sorted(packages.further):
        files = unpack(wheels[name])
        code |= {f"{wheels[name].name}/{path}": data for path, data in files.items() if path.endswith(".py")}
    return code


def absent_packages(
    chosen: Iterable[str], packages: Packages, wheels: Mapping[str, Path], code: Mapping[str, bytes]
) -> dict[str, Any]:
    """Return the arguments of `mcpframe.frame.compat.third_party_placeholders.answer_imports` for a bundle.

    Args:
        chosen: The packages that its author leaves out, or that have no wheel.
        wheels: The files of its packages, by name.
        code: See `code_of`.
    """
    left_out = modules_of(chosen)
    files = {path.rpartition(".whl/")[2]: data for path, data in code.items()}
    for name in packages.versions.keys() - packages.further:
        files |= {path: data for path, data in unpack(wheels[name]).items() if path.endswith(".py")}
    there = {path.partition("/")[0].removesuffix(".py") for path in files}
    absent = {*left_out, *advice(THIRD_PARTY)} - there
    return {"left_out": left_out, "handled": handled_imports(files, absent, there)}


def features_of(
    project: Project, packages: Packages, author: Mapping[str, bytes], code: Mapping[str, bytes]
) -> frozenset[str]:
    """Return those of `FEATURES` that a bundle has."""
    config = project.config
    documents = [each for each in offered_dialects() if each.document_module and offers(config.dialects, each.name)]
    there = {
        "document": config.kind == "server" and bool(documents),
        "fastmcp": packages.has_fastmcp,
        "http": has_http_library(packages, code),
        "mcp1": packages.sdk == 1,
        "mcp2": packages.sdk > 1,
        "page": config.kind == "page",
        "persist": bool(config.persist),
        "processes": project.processes,
        "program": project.is_program,
        "tool_forms": any(_TOOL_FORM in data for data in code.values()),
        "values": not VALUE_PACKAGES.isdisjoint(packages.further),
        "visitor_env": bool(config.visitor_env),
        "worker": config.runs_in == "worker",
        "world": written_for_a_process(project, packages, author),
    }
    return frozenset(name for name, is_there in there.items() if is_there)


def written_for_a_process(project: Project, packages: Packages, author: Mapping[str, bytes]) -> bool:
    """Return whether a server was written for a process: a program, of another SDK, or with pools of threads.

    It gets `mcpframe.frame.world`, the environment of a process.
    """
    if project.is_program or packages.sdk == 1 or packages.has_fastmcp:
        return True
    return any(item.module.partition(".")[0] in _OF_PROCESSES for item in imports_of(author))


def has_http_library(packages: Packages, code: Mapping[str, bytes]) -> bool:
    """Return whether a bundle has an HTTP library that `mcpframe.frame.compat.http` adapts to the page."""
    return not HTTP_PACKAGES.isdisjoint(packages.further) or _imports_http(code)


def uses_http(files: Mapping[str, bytes]) -> bool:
    """Return whether Python files import an HTTP library."""
    modules = (*HTTP_PACKAGES, "requests", *_HTTP_MODULES)
    return any(item.module in modules or item.module.partition(".")[0] in modules for item in imports_of(files))


def _imports_http(files: Mapping[str, bytes]) -> bool:
    return any(imports_named(module, files) for module in _HTTP_MODULES)
