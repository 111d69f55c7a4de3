"""The fitting of the SDK to Pyodide, as far as CPython can prove it: placeholders, the codec, doing nothing here."""

from __future__ import annotations

import importlib
import sys
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.request_state import InvalidRequestState, RequestStateSecurity

from mcpframe.frame.compat import sdk
from mcpframe.frame.compat.placeholders import PlaceholderError, PlaceholderFinder
from mcpframe.frame.compat.request_state import HandleCodec

HINT = "Add 'absent' to the requirements."


def test_on_cpython_prepare_does_nothing():
    before = (list(sys.meta_path), set(sys.modules), anyio.to_thread.run_sync, RequestStateSecurity.ephemeral)
    sdk.prepare()
    assert (list(sys.meta_path), set(sys.modules), anyio.to_thread.run_sync, RequestStateSecurity.ephemeral) == before


# --- placeholders


@dataclass(frozen=True)
class User:
    """Adds a module to a package that placeholders are for, or to another one, and imports it."""

    finder: PlaceholderFinder
    folder: Path

    def __call__(self, source: str, package: str = "user") -> ModuleType:
        (self.folder / package).mkdir(exist_ok=True)
        (self.folder / package / "__init__.py").write_text("")
        (self.folder / package / "code.py").write_text(source)
        importlib.invalidate_caches()
        return importlib.import_module(f"{package}.code")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    finder = PlaceholderFinder({"absent": HINT, "present": HINT}, users={"user"})
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield User(finder, tmp_path)
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    "statement",
    ["import absent", "import absent.deep.down", "from absent.deep import Thing, other", "import absent.deep as short"],
)
def test_every_form_of_import_works(user, statement):
    user(statement)


USES: dict[str, Callable[[ModuleType], object]] = {
    "call": lambda code: code.Thing(),
    "call with arguments": lambda code: code.Thing(1, key=2),
    "attribute": lambda code: code.Thing.attribute,
    "make a subclass's instance": lambda code: code.Sub(),
    "call a function": lambda code: code.absent.function(),
    "attribute of a submodule's": lambda code: code.deep.CONSTANT.value,
}


@pytest.mark.parametrize("use", USES)
def test_every_use_raises_and_says_what_to_do(user, use):
    code = user("import absent\nfrom absent import Thing\nimport absent.deep as deep\nclass Sub(Thing): ...")
    with pytest.raises(PlaceholderError, match=rf"'absent' is not part of the bundle\. {HINT}") as caught:
        USES[use](code)
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "absent"


def test_what_is_taken_from_a_placeholder_can_stand_wherever_a_class_can(user):
    code = user(
        "from abc import ABC, abstractmethod\n"
        "from typing import Annotated, Optional\n"
        "from absent import Base, Error, Request, T\n"
        "class Both(Base, ABC):\n"
        "    @abstractmethod\n"
        "    def method(self): ...\n"
        "class Plain(Base[T]): ...\n"
        "def function(a: Request | None, b: Optional[Request[int]], c: Annotated[Request, 1]) -> list[Request]: ...\n"
        "def caught():\n"
        "    try: raise KeyError('k')\n"
        "    except Error: return 'wrong'\n"
        "    except (Error, KeyError): return 'right'\n"
    )
    assert issubclass(code.Both, ABC)
    assert issubclass(code.Plain, code.Base)
    assert code.caught() == "right"
    assert not isinstance(3, code.Base)
    assert code.function.__annotations__["a"] == code.Request | None
    assert not hasattr(code.Base, "_private")


def test_two_imports_give_the_same_class(user):
    code = user("from absent import A\nfrom absent import A as again\nimport absent")
    assert code.A is code.again is code.absent.A


def test_a_real_package_wins_and_its_missing_parts_stay_missing(user):
    (user.folder / "present").mkdir()
    (user.folder / "present" / "__init__.py").write_text("value = 3")
    assert user("import present").present.value == 3
    with pytest.raises(ModuleNotFoundError, match=r"present\.part"):
        importlib.import_module("present.part")


def test_others_see_that_the_package_is_absent(user):
    probe = "try:\n    import absent\n    found = True\nexcept ImportError:\n    found = False\n"
    assert user(probe, package="other").found is False


def test_a_withdrawn_placeholder_leaves_its_users_what_they_have(user):
    code = user("from absent.deep import Thing")
    user.finder.withdraw()
    assert not [name for name in sys.modules if name.partition(".")[0] == "absent"]
    with pytest.raises(PlaceholderError):
        code.Thing()


# --- the request state


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_every_handle_gives_back_its_own_state(payloads):
    codec = HandleCodec()
    handles = [codec.seal(payload) for payload in payloads]
    assert len(set(handles)) == len(handles)
    assert [codec.unseal(handle) for handle in handles] == payloads
    assert [codec.unseal(handle) for handle in handles] == payloads, "a client may repeat a request"


def test_a_handle_says_nothing_and_is_safe_in_a_url():
    handle = HandleCodec().seal(b"secret state")
    assert len(handle) == 43
    assert handle.replace("-", "").replace("_", "").isalnum()
    assert "secret" not in handle


@pytest.mark.parametrize(
    "change", [lambda h: h[:-1], lambda h: h + "A", lambda h: "", lambda h: "\ud800", str.swapcase]
)
def test_a_handle_that_was_not_given_out_is_refused(change):
    codec = HandleCodec()
    handle = codec.seal(b"state")
    with pytest.raises(InvalidRequestState):
        codec.unseal(change(handle))
    with pytest.raises(InvalidRequestState):
        HandleCodec().unseal(handle)


def test_a_handle_expires():
    clock = Clock()
    codec = HandleCodec(lifetime=10, clock=clock)
    handle = codec.seal(b"state")
    clock.now = 9.9
    assert codec.unseal(handle) == b"state"
    clock.now = 10.0
    with pytest.raises(InvalidRequestState):
        codec.unseal(handle)


def test_the_table_is_bounded_in_entries():
    codec = HandleCodec(max_entries=3)
    handles = [codec.seal(bytes([n])) for n in range(5)]
    for old in handles[:2]:
        with pytest.raises(InvalidRequestState):
            codec.unseal(old)
    assert [codec.unseal(handle) for handle in handles[2:]] == [b"\x02", b"\x03", b"\x04"]


def test_the_table_is_bounded_in_bytes_and_keeps_the_newest():
    codec = HandleCodec(max_bytes=100)
    first, second = codec.seal(b"a" * 60), codec.seal(b"b" * 60)
    with pytest.raises(InvalidRequestState):
        codec.unseal(first)
    assert codec.unseal(second) == b"b" * 60
    large = codec.seal(b"c" * 500)
    assert codec.unseal(large) == b"c" * 500
