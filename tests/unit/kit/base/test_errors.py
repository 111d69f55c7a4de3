"""The tree of errors in the docstring is the tree of classes."""

from __future__ import annotations

import inspect
import re

import pytest

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.kit.base import errors

CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass) if found.__module__ == errors.__name__]


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_each_is_in_the_tree_and_in_the_docstring(error: type[errors.KitError]) -> None:
    assert issubclass(error, errors.KitError)
    assert issubclass(error, McpFrameError)
    assert re.search(rf"\b{error.__name__}\b", errors.__doc__ or "")
    assert error.__doc__
