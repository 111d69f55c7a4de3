"""Placeholders for packages that are left out of the bundle of a third-party server.

Many servers import packages at module level that they need only to serve HTTP, or for a command that a page never runs.
These imports are answered in every module. A library with an optional package imports it within `try` and
`except ImportError`, or looks for it with `importlib.util.find_spec`: for it the package is absent, which is correct.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Final

from mcpframe.frame.compat.left_out_modules import MODULES
from mcpframe.frame.compat.placeholders import PlaceholderFinder, PlaceholderModule

_HTTP = (
    "A page serves its host, not HTTP: let the program serve on standard input and output (tool.mcpframe.args, "
    "tool.mcpframe.env)."
)
_OTHERS = "If the server needs it, add {0!r} to the requirements (project.dependencies)."
_CHOSEN = "{0!r} is left out by tool.mcpframe.leave_out, or as it has no wheel for Pyodide: the build prints which."

_HTTP_SERVERS = ("sse_starlette", "starlette", "uvicorn")
_PACKAGES: Final = {
    "authlib": "authlib",
    "cryptography": "cryptography",
    "cyclopts": "cyclopts",
    "httptools": "httptools",
    "httpx": "httpx",
    "httpx2": "httpx2",
    "httpx_sse": "httpx-sse",
    "joserfc": "joserfc",
    "jwt": "pyjwt",
    "keyring": "keyring",
    "pyperclip": "pyperclip",
    "python_multipart": "python-multipart",
    "typer": "typer",
    "uvloop": "uvloop",
    "watchfiles": "watchfiles",
    "websockets": "websockets",
    "yaml": "pyyaml",
}
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
_ALL_ERRORS = _IMPORT_ERRORS | {"Exception", "BaseException"}
_MOST_HANDLERS = 50

_finder: AbsentFinder | None = None


def answer_imports() -> None:
    """Answer imports of packages left out of the bundle, from now on. Does nothing when repeated."""
    global _finder
    if _finder is None:
        hints = dict.fromkeys(_HTTP_SERVERS, _HTTP)
        hints |= {module: _OTHERS.format(package) for module, package in _PACKAGES.items()}
        hints |= {module: _CHOSEN.format(package) for module, package in MODULES.items()}
        _finder = AbsentFinder(hints, ())
        sys.meta_path.append(_finder)


class AbsentFinder(PlaceholderFinder):
    """A `PlaceholderFinder` for all modules that do not expect the package to be absent."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package not in self._hints:
            return None
        present = isinstance(sys.modules.get(package), PlaceholderModule) if rest else not is_expected()
        return ModuleSpec(fullname, self, is_package=True) if present else None


def is_expected() -> bool:
    """Return whether the importer of the package expects that it may be missing.

    So does a module that another imports within `try`, and one that calls `importlib.util.find_spec`.
    """
    names = _ALL_ERRORS
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        module, function = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if module == "importlib.util" and function == "find_spec":
            return True
        if module.startswith(("importlib", "_frozen_importlib")) or module == __name__:
            continue
        if module.startswith("mcpframe."):
            break
        if _catches(frame.f_code, frame.f_lasti, names):
            return True
        if function != "<module>":
            break
        names = _IMPORT_ERRORS
    return False


def _catches(code: CodeType, offset: int, names: frozenset[str]) -> bool:
    """Return whether an exception at an offset of a code object is caught by a handler of one of these names.

    A handler that only raises something else does not count.
    """
    bytecode = dis.Bytecode(code)
    instructions = list(bytecode)
    entries: Any = bytecode.exception_entries  # type: ignore[attr-defined]
    for _ in range(_MOST_HANDLERS):
        entry = next((item for item in entries if item.start <= offset < item.end), None)
        if entry is None:
            return False
        if _handles([item for item in instructions if item.offset >= entry.target], names):
            return True
        offset = entry.target  # next, the handler around it
    return False


def _handles(handler: list[dis.Instruction], names: frozenset[str]) -> bool:
    """Return whether a handler, given from its first instruction, catches one of these exceptions and continues."""
    if len(handler) > 1 and handler[1].opname == "POP_TOP":  # `except:`
        return _goes_on(handler[1:])
    loaded: list[str] = []
    for index, instruction in enumerate(handler):
        if instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_ATTR"):
            loaded.append(str(instruction.argval))
        elif instruction.opname == "CHECK_EXC_MATCH":
            if names & set(loaded):
                return _goes_on(handler[index:])
            loaded.clear()
        elif instruction.opname == "RERAISE":
            return False
        elif instruction.opname not in ("BUILD_TUPLE", "PUSH_EXC_INFO", "NOP", "CACHE"):
            loaded.clear()
    return False


def _goes_on(body: list[dis.Instruction]) -> bool:
    ending = (item.opname for item in body if item.opname in ("POP_EXCEPT", "RAISE_VARARGS", "RERAISE"))
    return next(ending, "") == "POP_EXCEPT"
