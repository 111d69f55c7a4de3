"""The public names, as directives for mkdocstrings."""

from __future__ import annotations

from mcpframe.kit.bundle.code.public_names import public_names

_GIVEN = {
    *("Classes", "Element", "File", "Host", "Page", "PageEvent"),
    *("RunningSetup", "RunningView", "ShownUi", "Storage", "WrappedServer"),
}
"""The classes whose objects authors are given: they do not call the constructor."""
_INHERITED = 'inherited_members: ["session", "setup", "ui", "running_for"]'
_MEMBERS = {
    "FrameServer": _INHERITED,
    "Page": 'filters: ["!^_", "!^browser$", "!^close$", "!^listen$", "!^run$", "!^forget_removed$"]',
    "WrappedServer": _INHERITED,
}


def names(module: str) -> str:
    """Return a directive for each name of a public module."""
    parts = []
    for name in public_names()[module]:
        if name == "errors":  # they have a page of their own
            continue
        options = ["      merge_init_into_class: false"] * (name in _GIVEN)
        options += [f"      {members}" for members in (_MEMBERS.get(name),) if members]
        parts.append("\n".join([f"::: {module}.{name}", *["    options:"] * bool(options), *options]))
    return "\n\n".join(parts)
