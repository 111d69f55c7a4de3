"""Make the generated files of the vectors.

What is expected of each case follows from a short description of the dialect, such as `sep_rules.py`, which is written
down here a second time on purpose: it imports nothing of mcpframe, so that it cannot repeat a fault of it.
"""

from __future__ import annotations

from pathlib import Path

from tests.vectors.cases import VECTORS
from tests.vectors.generate import (
    apps_states,
    mcpb_states,
    plain_mcp_states,
    sep_clones,
    sep_fields,
    sep_limits,
    sep_payload,
    sep_states,
    ui_states,
)
from tests.vectors.generate.writing import text_of


def generated() -> dict[Path, str]:
    """Return the text of every generated file."""
    parts = {
        "sep": [sep_states, sep_fields, sep_payload, sep_limits, sep_clones],
        "mcp_apps": [apps_states],
        "mcp_ui": [ui_states],
        "mcp_b": [mcpb_states],
        "plain_mcp": [plain_mcp_states],
    }
    return {
        VECTORS / dialect / f"{name}.json": text_of(table)
        for dialect, modules in parts.items()
        for module in modules
        for name, table in module.tables()
    }
