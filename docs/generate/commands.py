"""The command line: every command with its arguments, its options and its examples, as `--help` has them."""

from __future__ import annotations

from typing import Any

import typer.main

from docs.generate.docstrings import table as as_table
from mcpframe.kit.cli.main import app
from mcpframe.kit.cli.shared.examples import commands_in


def reference(names: str) -> str:
    """Return a section for each of some commands, whose names are separated by blanks."""
    group: Any = typer.main.get_command(app)
    return "\n\n".join(_section(name, group.commands[name]) for name in names.split())


def _section(name: str, command: Any) -> str:
    if inner := getattr(command, "commands", None):
        return "\n\n".join(_section(f"{name} {each}", inner[each]) for each in sorted(inner))
    shown = [part for part in command.params if not part.hidden]
    arguments = [part for part in shown if part.param_type_name == "argument"]
    usage = " ".join(["mcpframe", name, "[OPTIONS]", *(_name(part) for part in arguments)])
    parts = [f"## {name}", _text(command.help), f"```console\n$ {usage}\n```"]
    rows = [[f"`{_name(part)}`", _text(part.help), _default(part)] for part in shown if part.help]
    if rows:
        parts.append(as_table(["argument or option", "meaning", "by default"], rows))
    if examples := commands_in(command.epilog or ""):
        parts.append("```console\n" + "\n".join(f"$ {line}" for line in examples) + "\n```")
    return "\n\n".join(parts)


def _name(part: Any) -> str:
    value = (part.metavar or part.name).upper()
    if part.param_type_name == "argument":
        value = value.strip("[].") + ("..." if part.nargs != 1 else "")
        return value if part.required else f"[{value}]"
    names = ", ".join([*part.opts, *part.secondary_opts])
    return names if part.is_flag else f"{names} {value}"


def _default(part: Any) -> str:
    if part.default in (None, False, True, [], ()) or callable(part.default):
        return ""
    return f"`{part.default}`"


def _text(text: str | None) -> str:
    return " ".join((text or "").split())
