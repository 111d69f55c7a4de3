"""Finds the argument or variable that makes a program serve on standard input and output, from its syntax.

A hint, like `code_limits`: the value may be checked elsewhere, and computed names are not found.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcpframe.kit.bundle.code.imports import syntax_tree

_STDIO = "stdio"
_TRANSPORT = re.compile(r"transport|mode|protocol|server.?type", re.IGNORECASE)
_OPTION_MAKERS = frozenset({"add_argument", "option", "argument", "Option", "Argument", "add_option"})
_COMMAND_MAKERS = frozenset({"command", "add_parser", "add_command"})
_READERS = frozenset({"getenv", "get", "setdefault", "pop"})


@dataclass(frozen=True)
class StdioChoice:
    """A way to select standard input and output.

    Attributes:
        setting: A line for `[tool.mcpframe]`, or for `[tool.mcpframe.env]`.
        place: The file and line that read it.
        table: The table that the line belongs to.
    """

    setting: str
    place: str
    table: str = "[tool.mcpframe]"

    @property
    def advice(self) -> str:
        """The remedy, as a sentence."""
        return f"Its code can serve standard input and output: write {self.setting} in {self.table} ({self.place})."


def stdio_choice(files: Mapping[str, bytes], near: str = "") -> StdioChoice | None:
    """Return the setting that makes a program serve on standard input and output; None if it is not found.

    Args:
        files: The Python files of its package, by path in site-packages.
        near: The file of the program's function, which takes precedence.
    """
    choices = [
        ((path != near, rank), choice)
        for path, data in sorted(files.items())
        if path.endswith(".py") and _STDIO.encode() in data and (tree := syntax_tree(data))
        for rank, choice in _choices(tree, path)
    ]
    return min(choices, key=lambda item: item[0])[1] if choices else None


def _choices(tree: ast.Module, path: str) -> Iterator[tuple[int, StdioChoice]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for rank, setting, table in _called(node):
                yield rank, StdioChoice(setting, f"{path}, line {node.lineno}", table)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("environ"):
            for name in _texts([node.slice]):
                if _TRANSPORT.search(name):
                    yield 3, _variable(name, f"{path}, line {node.lineno}")
        elif isinstance(node, ast.Compare) and "argv" in ast.unparse(node):
            for text in _texts([node.left, *node.comparators]):
                if _STDIO in text:
                    yield 2, StdioChoice(_args(text), f"{path}, line {node.lineno}")


def _called(node: ast.Call) -> Iterator[tuple[int, str, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    texts = _texts(node.args)
    keywords = {item.arg: item.value for item in node.keywords}
    values = [text for value in (*node.args, *keywords.values()) for text in _texts(list(ast.walk(value)))]
    if name in _OPTION_MAKERS:
        options = [text for text in texts if text.startswith("-")]
        longest = max(options, key=len, default="")
        if _STDIO in longest.lower():
            yield 0, _args(longest), "[tool.mcpframe]"
        elif longest and (_STDIO in values or _TRANSPORT.search(longest)):
            yield 0, _args(longest, _STDIO), "[tool.mcpframe]"
        elif not options and _STDIO in values and name in ("add_argument", "argument"):
            yield 1, _args(_STDIO), "[tool.mcpframe]"
    elif name in _COMMAND_MAKERS and texts and _STDIO in texts[0]:
        yield 1, _args(texts[0]), "[tool.mcpframe]"
    elif name in _READERS and texts and _TRANSPORT.search(texts[0]) and texts[0].isupper():
        choice = _variable(texts[0], "")
        yield 3, choice.setting, choice.table


def _texts(nodes: list[ast.expr] | list[ast.AST]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _args(*words: str) -> str:
    return f"args = {json.dumps(list(words))}"


def _variable(name: str, place: str) -> StdioChoice:
    return StdioChoice(f'{name} = "{_STDIO}"', place, "[tool.mcpframe.env]")
