"""The suites of `inside`, each with the SDK that it is about."""

from __future__ import annotations

import pytest

from tests.support.other_sdks import run_inside
from tests.support.suites import extended, newest_first

OF_ALL = ("test_author.py", "test_dialects.py", "test_views.py", "test_ui_resource.py", "test_webmcp.py")


@pytest.mark.parametrize("suite", ["test_mcp1.py", *map(extended, OF_ALL)])
def test_with_mcp_1(suite: str) -> None:
    run_inside("mcp1", suite)


@pytest.mark.parametrize("sdk", newest_first(["fastmcp4", "fastmcp3", "fastmcp2"]))
@pytest.mark.parametrize("suite", ["test_fastmcp.py", *map(extended, OF_ALL)])
def test_with_the_package_fastmcp(sdk: str, suite: str) -> None:
    run_inside(sdk, suite)


@pytest.mark.parametrize("sdk", newest_first(["mcp1", "fastmcp4", "fastmcp3", "fastmcp2"]))
def test_results_of_scientific_libraries(sdk: str) -> None:
    run_inside(sdk, "test_results.py", "science")
