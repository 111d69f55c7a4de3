"""Reads the parts of docstrings."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"^(Args|Arguments|Attributes|Raises|Returns|Yields):\s*$")
_ENTRY = re.compile(r"^    (\w[\w, *]*): (.*)$")


def summary(of: object) -> str:
    """Return the text before the first section, as one paragraph."""
    lines = []
    for line in _lines(of):
        if _SECTION.match(line):
            break
        lines.append(line.strip())
    return " ".join(" ".join(lines).split())


def attributes(of: object) -> dict[str, str]:
    """Return the entries of the section `Attributes`; if one names several, each has its text."""
    found: dict[str, str] = {}
    inside = False
    names: list[str] = []
    for line in _lines(of):
        if section := _SECTION.match(line):
            inside = section[1] == "Attributes"
        elif inside and (entry := _ENTRY.match(line)):
            names = [name.strip() for name in entry[1].split(",")]
            found |= dict.fromkeys(names, entry[2].strip())
        elif inside and line.strip():
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return found


def cell(text: str) -> str:
    """Return a text escaped for a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def sentence(text: str) -> str:
    """Return a text that begins as a sentence does; npm stays npm."""
    return text if text.startswith("npm") else text[:1].upper() + text[1:]


def fenced(language: str, lines: list[str]) -> str:
    """Return lines as a fenced block."""
    return "\n".join([f"```{language}", *lines, "```"])


def _lines(of: object) -> list[str]:
    return (inspect.getdoc(of) or "").splitlines()
