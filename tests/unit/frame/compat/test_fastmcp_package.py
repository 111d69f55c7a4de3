"""The package fastmcp of versions that lack what later ones have."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from mcpframe.frame.compat import fastmcp_package


class Context:
    """Of fastmcp before 2.10: it cannot ask."""


def test_a_context_that_cannot_ask_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("fastmcp.server.context")
    setattr(module, "Context", Context)  # noqa: B010
    monkeypatch.setitem(sys.modules, "fastmcp.server.context", module)
    fastmcp_package.ask_in_every_revision.__wrapped__()
    assert not hasattr(Context, "elicit")
