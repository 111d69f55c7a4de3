"""Write a file of cases: one case a line, so that a difference shows which."""

from __future__ import annotations

import json
from typing import Any

Table = dict[str, Any]


def text_of(table: Table) -> str:
    """Return the text of a file of cases."""
    head = {key: value for key, value in table.items() if key != "cases"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    cases = ",\n".join(f"    {json.dumps(case)}" for case in table["cases"])
    return "\n".join(["{", *lines, '  "cases": [', cases, "  ]", "}", ""])
