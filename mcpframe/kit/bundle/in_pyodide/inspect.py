"""Imports the author's server as a page would, and writes what it is to /job/found.json.

Its environment: MCPFRAME_ENTRY, MCPFRAME_SERVER (the folder of the author's files), MCPFRAME_KIND. What the author's
code raises is a result, too: {"error": traceback}.
"""

import json
import os
import sys
from typing import Any

from mcpframe.frame import load, sdk

folder = os.environ.pop("MCPFRAME_SERVER")
entry = os.environ.pop("MCPFRAME_ENTRY")
kind = os.environ.pop("MCPFRAME_KIND")
sys.path.insert(0, folder)
os.chdir(folder)
sdk.prepare()
load.configure({})

from mcpframe.frame import entries  # noqa: E402 the SDK can be imported only now
from mcpframe.frame import server as servers  # noqa: E402
from mcpframe.frame.errors import EntryError  # noqa: E402


async def tools_of(found):
    """The tools as a client gets them; None for a lowlevel server, which answers only within a session."""
    list_tools = getattr(found, "list_tools", None)
    if not callable(list_tools):
        return None
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in await list_tools()]


async def inspected():
    """What the entry is, or why it is nothing."""
    try:
        load_entry: Any = servers.load_entry if kind == "server" else entries.load_main
        found = load_entry(entry)
        used = sorted(sys.modules)
        tools = await tools_of(found)
    except EntryError as error:
        import traceback

        cause = traceback.format_exception(error.__cause__) if error.__cause__ else []
        return {"error": str(error), "traceback": "".join(cause)}
    except BaseException as error:
        import traceback

        # The frames of the build's own program say nothing to the author.
        frames = traceback.extract_tb(error.__traceback__)
        shown = [frame for frame in frames if frame.filename.startswith(folder)]
        text = "".join(["Traceback (most recent call last):\n", *traceback.format_list(shown or frames)])
        return {
            "error": f"{type(error).__name__}: {error}".rstrip(": "),
            "traceback": text + "".join(traceback.format_exception_only(error)),
        }
    return {
        "kind": type(found).__name__,
        "name": found.name if kind == "server" else found.__module__,
        "title": getattr(found, "title", None),
        "version": getattr(found, "version", None),
        "instructions": getattr(found, "instructions", None),
        "allowed_origins": list(getattr(found, "allowed_origins", None) or []),
        "tools": tools,
        "modules": used,
    }


result = await inspected()  # noqa: F704, PLE1142 run as a coroutine
with open("/job/found.json", "w") as file:
    json.dump(result, file, sort_keys=True)
