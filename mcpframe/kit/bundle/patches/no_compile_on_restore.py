"""A start from a snapshot compiles no Python: the objects that Pyodide needs are in memory already.

Pyodide compiles four lines of Python at every start, to look up modules and their dictionaries. In its script, `t` is
the snapshot that it starts from, if any.

Upstream: https://github.com/pyodide/pyodide/pull/1939 is about this part of the start, and
https://github.com/pyodide/pyodide/pull/4652 about snapshots, which still run it.
"""

from __future__ import annotations

from mcpframe.kit.bundle.patches.patch import Patch, replacing

CHANGES = (
    (
        b'let[r,n]=API.rawRun("import _pyodide_core");r&&API.fatal_loading_error(',
        (
            b"let its=t&&API._pyodide._importhook.sys.modules;"
            b'let[r,n]=its?[0]:API.rawRun("import _pyodide_core");r&&API.fatal_loading_error('
        ),
    ),
    (
        (
            b'API.runPythonInternal_dict=API._pyodide._base.eval_code("{}"),'
            b'API.importlib=API.runPythonInternal("import importlib; importlib");'
        ),
        (
            b'API.runPythonInternal_dict=its?its.get("builtins").dict():API._pyodide._base.eval_code("{}"),'
            b'API.importlib=its?its.get("importlib"):API.runPythonInternal("import importlib; importlib");'
        ),
    ),
    (
        (
            b'let i=API.runPythonInternal("import __main__; __main__.__dict__"),'
            b's=API.runPythonInternal("import builtins; builtins.__dict__");'
        ),
        (
            b'let i=its?its.get("__main__").__dict__:API.runPythonInternal("import __main__; __main__.__dict__"),'
            b's=its?its.get("builtins").__dict__:API.runPythonInternal("import builtins; builtins.__dict__");'
        ),
    ),
)

PATCH = Patch(
    "no_compile_on_restore", "Python compiles four lines when it is restored from a snapshot", replacing(*CHANGES)
)
