"""The imports of a server's boot: every module costs start time and bytes."""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.bundle.assembly.own_modules import module_paths, own_modules

BUDGET = Path(__file__).parent / "import_budget.txt"

BOOT = """
import json, sys
from importlib.machinery import PathFinder

class OfTheBundle:
    "Finds what the bundle of a plain server has; the whole frame is mounted."
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name in NOT_IN_IT else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = OfTheBundle
before = set(sys.modules)
from mcpframe.frame.boot import boot
from mcpframe.frame.compat import sdk
sdk.prepare()
from mcpframe.frame.serving import server
from mcpframe.frame.session import session
from mcpframe.frame.browser import stack, window
from mcpframe.frame.dialects import available
available.dialects()
sys.path.insert(0, "/repo/templates/pi-calculator")
server.load_entry("server:server")
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
own = {name for name, file in files.items() if file.startswith("/repo/templates")}
json.dumps(sorted(set(sys.modules) - before - own))
"""


def test_boot_imports_exactly_what_is_listed(selenium):
    imported = set(selenium.python(f"NOT_IN_IT = {json.dumps(_not_in_a_plain_bundle())}\n{BOOT}"))
    listed = {line for line in BUDGET.read_text().splitlines() if line and not line.startswith("#")}
    assert sorted(imported - listed) == [], "imported during boot, but not in import_budget.txt"
    assert sorted(listed - imported) == [], "in import_budget.txt, but not imported any more: remove it there"


def _not_in_a_plain_bundle() -> list[str]:
    return sorted(module_paths().keys() - own_modules({}, {"mcp2", "document"}))
