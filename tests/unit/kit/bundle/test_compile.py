"""Compilation of mcpframe's own modules and of libraries, without docstrings."""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from mcpframe.frame.compat.docstrings import Restorer
from mcpframe.frame.session import session
from mcpframe.kit.bundle.in_pyodide.compile import bytecode, offered, without_docstrings

SOURCE = b'''"""A module."""
from __future__ import annotations

@decorated
class Kept:
    """A decorated class.

    The rest of its docstring.
    """

    def method(self):
        """A method."""

    async def later(self):
        """A coroutine."""
        return 1

def first():
    "A function."
    raise ValueError("line 20")

class Other(Exception):
    """A class."""

class Plain:
    """A class."""
'''


def test_docstrings_go_but_for_the_first_line_of_a_decorated_class() -> None:
    names: dict[str, object] = {"decorated": lambda cls: cls}
    exec(compile(without_docstrings(SOURCE, lambda _: ()), "a.py", "exec"), names)
    kept = names["Kept"]
    assert isinstance(kept, type)
    texts = [names.get("__doc__"), kept.__doc__, vars(kept)["method"].__doc__, vars(kept)["later"].__doc__]
    assert texts == [None, "A decorated class.", None, None]
    assert [getattr(names[name], "__doc__", "") for name in ("Other", "Plain")] == [None, None]
    assert vars(kept)["method"](None) is None
    first = names["first"]
    assert callable(first)
    with pytest.raises(ValueError, match="line 20") as caught:
        first()
    assert caught.traceback[-1].lineno == 19, "counted from 0"


def test_it_keeps_the_code_of_a_real_module() -> None:
    path = Path(session.__file__)
    smaller = compile(without_docstrings(path.read_bytes(), lambda _: ()), path, "exec")
    assert set(smaller.co_names) >= {"Session", "Writer", "open_session", "transport"}


LIBRARY = b'''"""A module."""

class Model(Base):
    """In schemas."""

    def method(self):
        """In no schema."""

    @computed_field
    @property
    def area(self):
        """In schemas."""

    @property
    def size(self):
        """In no schema."""

class Plain:
    """In no schema."""

    def exported(self):
        """A tool of an author."""

class Meta(metaclass=Model):
    """In schemas."""

class Base(typing.Generic[T], metaclass=ABCMeta):
    """In no schema."""

class Failure(ValueError):
    """In no schema."""

def public():
    """A tool of an author."""

    def inner():
        """A tool of a library."""

    return inner

def _private():
    """No tool."""

if True:
    def twice():
        """One of two."""
else:
    def twice():
        """The other."""

exported = Plain().exported
'''
NOWHERE = {"": "A module.", "Plain": "In no schema.", "_private": "No tool."}
NOWHERE |= dict.fromkeys(("Base", "Failure", "Model.method", "Model.size"), "In no schema.")


@pytest.mark.parametrize(
    ("shown", "also"),
    [
        ("/lib/python3.14/std/a.py", {}),
        (
            "/lib/python3.14/site-packages/a.py",
            {"public": "A tool of an author.", "Plain.exported": "A tool of an author."},
        ),
    ],
)
def test_docstrings_of_which_tools_and_schemas_are_made_stay(shown: str, also: dict[str, str]) -> None:
    removed = bytecode(LIBRARY, shown, docstrings="removed")
    assert isinstance(removed, bytes)
    assert json.loads(removed) == {**NOWHERE, **also}
    compiled = bytecode(LIBRARY, shown, docstrings="offered")
    assert isinstance(compiled, bytes)
    texts = {"In schemas.", "A tool of a library.", "One of two.", "The other."}
    if not also:
        texts.add("A tool of an author.")
    assert {text for text in (*texts, *NOWHERE.values(), *also.values()) if text.encode() in compiled} == texts


@pytest.mark.parametrize(
    "name", ["contextlib", "inspect", "json.encoder", "pathlib", "random", "textwrap", "threading"]
)
def test_every_docstring_of_a_module_comes_back(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin
    source = Path(spec.origin).read_bytes()
    original = _module("as_it_is", compile(source, spec.origin, "exec"), monkeypatch)
    removed: dict[str, str] = {}
    code = compile(without_docstrings(source, lambda module: offered(module, is_stdlib=True), removed), "a.py", "exec")
    smaller = _module("smaller", code, monkeypatch)
    file = tmp_path / "docstrings.json"
    file.write_text(json.dumps({"smaller": removed, "not_imported": {"": "A module."}}))
    assert _documentation(smaller) != _documentation(original)
    Restorer(str(file)).restore()
    assert _documentation(smaller) == _documentation(original)


def test_what_is_imported_later_gets_its_docstrings_and_what_is_read_brings_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "docstrings.json"
    file.write_text(json.dumps({"later": {"": "A module.", "f": "A function."}}))
    (tmp_path / "later.py").write_text("def f(): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("mcpframe.frame.compat.docstrings.LIBRARY", f"{Path(json.__file__).parents[1]}/")
    monkeypatch.delitem(sys.modules, "later", raising=False)
    restorer = Restorer(str(file))
    monkeypatch.setattr(sys, "meta_path", [restorer, *sys.meta_path])

    def without() -> None: ...

    assert restorer.getdoc(without) is None, "not of a library: nothing is read"
    assert restorer.find_spec("later", None) is None
    without.__module__ = "json"
    assert restorer.getdoc(without) is None
    later: Any = importlib.import_module("later")
    monkeypatch.delitem(sys.modules, "later")
    assert (later.__doc__, later.f.__doc__) == ("A module.", "A function.")


def test_without_the_file_nothing_is_restored(tmp_path: Path) -> None:
    restorer = Restorer(str(tmp_path / "docstrings.json"))
    restorer.restore()
    assert restorer.find_spec("json", None) is None
    assert restorer.getdoc(without_docstrings) == inspect.getdoc(without_docstrings)


def _module(name: str, code: Any, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(code, vars(module))
    return module


def _documentation(owner: Any, prefix: str = "") -> dict[str, str | None]:
    """Return the docstrings of a module and everything in it, by name."""
    return {prefix: owner.__doc__, **dict(_members(owner, prefix))}


def _members(owner: Any, prefix: str) -> Iterator[tuple[str, str | None]]:
    module = getattr(owner, "__module__", owner.__name__)
    for name, value in vars(owner).items():
        if isinstance(value, type) and value.__module__ == module and value is not owner:
            yield from _documentation(value, f"{prefix}.{name}").items()
        elif isinstance(value, FunctionType | property | classmethod | staticmethod):
            yield f"{prefix}.{name}", value.__doc__
