"""Patches of Pyodide's script, by the SHA-256 of the script; one module per reason.

Pyodide's script `pyodide.asm.mjs` is written by Emscripten for every program and every page. In a bundle, the script is
called at once, most of its variables are never read, few of Python's functions are used by native libraries. The
patches make a start faster and change nothing else, so a script without them works as well.

Matching text does not prove that a patch is right for a script: only scripts that it was tested with are patched. For
a new Pyodide (`pyodide/version.py`), add the hash of its script to `SCRIPTS`, and run the tests of this package, which
report the patches that apply. A patch that was not applied is a line among the warnings of a build.

Replacements at run time are in the scripts of static/page (loader.js, background-files.js, deferred-modules.js,
ending.js), such as those of Pyodide's fetches and parts of its file system, and in `mcpframe.frame.compat`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from mcpframe.kit.bundle.patches import (
    exports_list,
    functions_on_demand,
    no_compile_on_restore,
    one_module_for_trampolines,
    parse_once,
    quiet_file_system,
    trampoline_entry,
)
from mcpframe.kit.bundle.patches.patch import DoesNotApply, Patch

SCRIPT = "pyodide.asm.mjs"


@dataclass(frozen=True)
class KnownScript:
    """A script with tested patches.

    Attributes:
        version: Its version of Pyodide.
        patches: The patches, in the order of application.
    """

    version: str
    patches: tuple[Patch, ...]


SCRIPTS: Mapping[str, KnownScript] = {
    "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635": KnownScript(
        "314.0.7",
        (
            functions_on_demand.PATCH,
            one_module_for_trampolines.PATCH,
            quiet_file_system.PATCH,
            no_compile_on_restore.PATCH,
            trampoline_entry.PATCH,
            exports_list.PATCH,
            parse_once.PATCH,
        ),
    ),
}
"""The known scripts, by SHA-256."""


@dataclass(frozen=True)
class Patched:
    """A script after patching.

    Attributes:
        script: Its text.
        applied: The names of the patches that were applied, in this order.
        notes: One line for each patch that was not applied, or one for all: its name, its file, and its cost.
    """

    script: bytes
    applied: tuple[str, ...]
    notes: tuple[str, ...]


def patch_script(script: bytes, scripts: Mapping[str, KnownScript] | None = None) -> Patched:
    """Apply the patches of a script; an unknown script is unchanged.

    Args:
        scripts: The known scripts, by SHA-256; by default `SCRIPTS`.
    """
    scripts = SCRIPTS if scripts is None else scripts
    digest = hashlib.sha256(script).hexdigest()
    known = scripts.get(digest)
    if known is None:
        versions = ", ".join(sorted({item.version for item in scripts.values()}))
        note = (
            f"Pages start slower: mcpframe's patches are for {SCRIPT} of Pyodide {versions}, and none was applied to "
            f"this one (SHA-256 {digest})."
        )
        return Patched(script, (), (note,))
    applied, notes = [], []
    for patch in known.patches:
        try:
            script = patch.apply(script)
        except DoesNotApply:
            notes.append(
                f"Pages start slower: the patch {patch.name} does not apply to {SCRIPT} of Pyodide {known.version} "
                f"(SHA-256 {digest}), so {patch.cost}."
            )
        else:
            applied.append(patch.name)
    return Patched(script, tuple(applied), tuple(notes))
