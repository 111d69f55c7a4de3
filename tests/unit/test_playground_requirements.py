"""The requirements of a project in the playground, which has mcp 2.3.0 and pydantic-core 2.50.4 here."""

from __future__ import annotations

import pytest

from tests.unit.test_playground_files import results

MET = [
    "mcp",
    " MCP ",
    "mcp>=2,<3",
    "mcp (>=2.0)",
    "mcp[cli] ~= 2.3",
    "mcp==2.3",
    "mcp==2.*",
    "Pydantic_Core>=2.0; python_version >= '3.10'",
    "colorama; sys_platform == 'win32'",
    "tomli>=2; python_version < '3.11'",
    "uvloop; platform_system != 'Emscripten' and os_name == 'posix'",
]
UNMET = {
    "numpy": "numpy is not in the playground",
    "numpy>=2; sys_platform == 'emscripten'": "numpy is not",
    "numpy; python_version < '3' or os_name == 'posix'": "numpy is not",
    "numpy; (sys_platform == 'win32')": "numpy is not",
    "numpy; platform_release == 'x'": "numpy is not",
    "mcp<2": "mcp is in the playground in version 2.3.0, which is not <2",
    "mcp!=2.3.0": "which is not",
    "mcp>=": "no valid version",
    "mcp<img src=x>": "no valid version",
    "toString": "toString is not",
    "__proto__": "not a requirement",
    "mcp @ https://evil.example/mcp.whl": "not a requirement by name",
    "https://evil.example/mcp.whl": "not a requirement by name",
    "./local": "not a requirement by name",
    "a" * 50_000 + ":": "not a requirement by name",
    "": "not a requirement by name",
}


def test_requirements_are_met_by_name_version_and_marker() -> None:
    assert [found["value"] for found in results(*(("unmet", each) for each in MET))] == [None] * len(MET)


@pytest.mark.parametrize("requirement", UNMET, ids=lambda each: each[:40])
def test_what_cannot_be_had_is_named_with_the_reason(requirement: str) -> None:
    [found] = results(("unmet", requirement))
    assert UNMET[requirement] in found["value"]
