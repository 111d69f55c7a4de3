"""The meaning of each state, which is the text below it in the enumeration."""

from __future__ import annotations

import inspect
import re

from mcpframe.frame.core.roles import State


def meanings() -> dict[State, str]:
    """Return the texts below the members of `State`, which Python does not keep."""
    source = inspect.getsource(State)
    found = dict(re.findall(r'(?m)^    ([A-Z_]+) = "[^"]*"\n    """(.*)"""$', source))
    return {state: found[state.name] for state in State}
