"""Remove the files of a wheel that a page never uses: type stubs, tests, documentation, build files.

Documentation stays if the package's code names files of its kind, as some servers read their prompts from them.

Licence texts are returned separately, for one file beside the archives.
"""

from __future__ import annotations

import re

from mcpframe.kit.bundle.pyodide.archive import Files

RULES = "2"
"""The version of these rules: trimmed wheels are cached."""
_NEVER = re.compile(
    r"(.*/)?tests/.*"  # `test` without an s is a public package of some libraries
    r"|(docs?|examples?|benchmarks?)/.*"
    r"|.*\.(pyi|pyx|pxd|c|h|cpp|hpp|map)$"
    r"|(conftest|setup)\.py$"  # further down these may be modules of a library, as beartype._conf.conftest is
    r"|(.*/)?py\.typed$"
)
_DOCUMENTATION = re.compile(r".*\.(md|rst)$")
_READS_DOCUMENTATION = re.compile(rb"\.(md|rst)[\"']")
"""Matches code that reads such files: it has their ending in a text."""
_METADATA = re.compile(r"[^/]+\.dist-info/(METADATA|entry_points\.txt|WHEEL)$")
_LICENCE = re.compile(r"[^/]+\.dist-info/(licen[cs]es/.+|(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*)$", re.IGNORECASE)
_RELOCATED = re.compile(r"[^/]+\.data/(?P<kind>[^/]+)/(?P<path>.+)$")


def trim_wheel(files: Files) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the files of a wheel that a page needs, and the licence texts.

    The files of `NAME.data/purelib` and `platlib` get the paths that an installer gives them; other data folders are
    left out.
    """
    kept, licences = {}, {}
    needs_documentation = any(
        path.endswith(".py") and _READS_DOCUMENTATION.search(data) for path, data in files.items()
    )
    for path, data in files.items():
        if relocated := _RELOCATED.match(path):
            if relocated["kind"] not in ("purelib", "platlib"):
                continue
            path = relocated["path"]
        if ".dist-info/" in path:
            if _LICENCE.match(path):
                licences[path] = data
            elif _METADATA.match(path):
                kept[path] = _headers(data) if path.endswith("/METADATA") else data
        elif not _NEVER.match(path) and (needs_documentation or not _DOCUMENTATION.match(path)):
            kept[path] = data
    return kept, licences


def _headers(data: bytes) -> bytes:
    """Return the headers of a METADATA file, without the long description."""
    head, _, _ = data.replace(b"\r\n", b"\n").partition(b"\n\n")
    return head + b"\n"
