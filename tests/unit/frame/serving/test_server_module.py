"""Which module serves which server object, and that each of the modules is a `ServerModule`."""

from __future__ import annotations

import inspect

import pytest

from mcpframe import FrameServer
from mcpframe.frame.compat import sdk
from mcpframe.frame.serving import console, other_server, server
from mcpframe.frame.serving.interfaces import ServerModule
from mcpframe.frame.serving.server_module import server_module

MODULES: tuple[ServerModule, ...] = (server, other_server, console)
"""Their types are checked here, by the type checker: `server_module` loads them by name."""


@pytest.mark.parametrize("module", MODULES, ids=["server", "other_server", "console"])
def test_each_module_has_the_functions(module: ServerModule) -> None:
    for name, function in inspect.getmembers(ServerModule, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.iscoroutinefunction(getattr(module, name)) == inspect.iscoroutinefunction(function)


def test_the_module_follows_from_the_kind_of_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_module("pi") is console
    assert server_module(target=FrameServer("pi", allowed_origins=["*"])) is server
    monkeypatch.setattr(sdk, "major", lambda: 1)
    assert server_module() is other_server
