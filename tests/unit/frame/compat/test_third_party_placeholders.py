"""Placeholders for packages that are left out: who gets one, and who finds the package absent."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mcpframe.frame.compat.placeholders import PlaceholderError
from mcpframe.frame.compat.third_party_placeholders import ThirdPartyFinder
from mcpframe.kit.bundle.code.guards import handled_imports

Loading = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loading]:
    """Import a module of this source; further ones are beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(source: str, **others: str) -> ModuleType:
        files = {f"{name}.py": text.encode() for name, text in {"user": source, **others}.items()}
        for name, text in files.items():
            (tmp_path / name).write_bytes(text)
        handled = handled_imports(files, {"absent"}, {"user", *others})
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, ThirdPartyFinder({"absent": "Add it."}, handled)])
        importlib.invalidate_caches()
        return importlib.import_module("user")

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


UNGUARDED = {
    "module level": "import absent\nfound = absent",
    "a name of a submodule": "from absent.deep import Thing\nfound = Thing",
    "in a function": "def get():\n    import absent\n    return absent\nfound = get()",
    "by name": "import importlib\nfound = importlib.import_module('absent')",
    "in a try for another error": "try:\n    import absent as found\nexcept ValueError:\n    raise",
    "in a try with finally": "try:\n    import absent as found\nfinally:\n    pass",
    "with a handler that only says what to install": (
        "try:\n    import absent as found\n"
        "except ImportError as error:\n    raise RuntimeError('install it') from error"
    ),
    "in a module of a try for any exception": (
        "try:\n    from part import absent as found\nexcept Exception:\n    found = None"
    ),
    "after a try": "try:\n    pass\nexcept ImportError:\n    pass\nimport absent as found",
}


@pytest.mark.parametrize("how", UNGUARDED)
def test_who_needs_a_package_gets_a_placeholder(load: Loading, how: str) -> None:
    found = load(UNGUARDED[how], part="import absent").found
    with pytest.raises(PlaceholderError, match=r"'absent' is not part of the bundle\. Add it\."):
        found.thing() if isinstance(found, ModuleType) else found()


GUARDED = {
    "try": "try:\n    import absent\n    found = True\nexcept ImportError:\n    found = False",
    "try, with another handler first": (
        "try:\n    import absent\n    found = True\nexcept ValueError:\n    pass\n"
        "except (KeyError, ModuleNotFoundError):\n    found = False"
    ),
    "try, for any exception": "try:\n    import absent\n    found = True\nexcept Exception:\n    found = False",
    "try, for everything": "try:\n    import absent\n    found = True\nexcept:\n    found = False",
    "try around try": (
        "try:\n    try:\n        import absent\n    finally:\n        pass\n    found = True\n"
        "except ImportError as error:\n    found = False"
    ),
    "suppress": (
        "from contextlib import suppress\nfound = False\n"
        "with suppress(ImportError):\n    import absent\n    found = True"
    ),
    "in a function": (
        "def get():\n    try:\n        from absent.deep import thing\n    except ImportError:\n        return False\n"
        "    return True\nfound = get()"
    ),
    "by name": (
        "import importlib\ntry:\n    found = bool(importlib.import_module('absent'))\n"
        "except ImportError:\n    found = False"
    ),
    "find_spec": "from importlib.util import find_spec\nfound = find_spec('absent') is not None",
    "try around a module that imports one that needs it": (
        "try:\n    import further\n    found = True\nexcept ImportError:\n    found = False"
    ),
    "try around a module that needs it": (
        "try:\n    import part\n    found = True\nexcept ImportError:\n    found = False"
    ),
}


@pytest.mark.parametrize("how", GUARDED)
def test_who_can_do_without_finds_it_absent(load: Loading, how: str) -> None:
    assert load(GUARDED[how], part="import absent", further="import part").found is False


def test_another_missing_package_stays_missing(load: Loading) -> None:
    with pytest.raises(ModuleNotFoundError, match="other_absent"):
        load("import other_absent")
