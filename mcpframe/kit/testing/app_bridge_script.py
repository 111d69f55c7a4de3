"""The script of the page that hosts a view under test: the official `AppBridge`, and this page's half of `app_host`.

`static/testing/app-bridge.js` is bundled from npm by `python3 build.py scripts` and is in the repository, so that tests
need neither Node.js nor npm.
"""

from __future__ import annotations

from mcpframe.kit.base.data import static_dir

SCRIPT = "testing/app-bridge.js"
"""The bundled script, in `static`. Its first line is a comment with the versions of the packages in it."""
LICENCES = "testing/app-bridge.licences.txt"
"""The licences of those packages."""
NAME = "appBridge"
"""The variable that the script defines."""
_HOST = "testing/app-host.js"


def host_script() -> str:
    """Return a function of the page's options, as JavaScript, that returns the host."""
    bridge, host = ((static_dir() / name).read_text("utf-8") for name in (SCRIPT, _HOST))
    return f'options => {{\n"use strict";\n{bridge}\nreturn (\n{host.rstrip().rstrip(";")}\n)({NAME}, options);\n}}'
