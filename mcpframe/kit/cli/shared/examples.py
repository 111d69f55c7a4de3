"""The examples in the help of a command: each on its own line, to be copied whole."""

from __future__ import annotations

import re

_WIDTH = 76  # of a help that is 80 columns wide
_PART = re.compile(r"""(?:--[a-z-]+ (?!-))?(?:'[^']*'|"[^"]*"|[^\s'"])+""")
"""A word, or an option with its value; quotes may hold spaces."""


def examples(*commands: str) -> str:
    """Return the epilog of a command's help. A long example goes on behind a backslash, as shells read it."""
    return "\n".join(["Examples:", "", *(f"  {line}" for command in commands for line in _lines(command))])


def commands_in(epilog: str) -> list[str]:
    """Return the commands of `examples` again."""
    listed = epilog.partition("Examples:")[2].replace(" \\\n", " ").splitlines()
    return [" ".join(line.split()) for line in listed if line.strip()]


def _lines(command: str) -> list[str]:
    lines = [""]
    for part in _PART.findall(command):
        if lines[-1] and len(lines[-1]) + len(part) > _WIDTH - 5:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    return lines
