"""The `AppBridge` in the wheel is what the locked packages make, and has their licences beside it."""

from __future__ import annotations

import json

import pytest

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.publish.app_bridge import bundled_app_bridge
from mcpframe.kit.testing.app_bridge_script import LICENCES, SCRIPT


@pytest.fixture(scope="module")
def bundled() -> tuple[str, str]:
    return bundled_app_bridge(install_locked(checkout_dir()))


def test_the_script_in_the_repository_is_what_its_packages_make(bundled: tuple[str, str]) -> None:
    assert (static_dir() / SCRIPT).read_text("utf-8") == bundled[0]


def test_every_package_in_it_has_its_licence_beside_it(bundled: tuple[str, str]) -> None:
    licences = (static_dir() / LICENCES).read_text("utf-8")
    assert licences == bundled[1]
    versions = json.loads(bundled[0].partition("\n")[0].removeprefix("//"))
    assert versions["@modelcontextprotocol/ext-apps"] == "2.0.4"
    assert [name for name, version in versions.items() if f"{name} {version}" not in licences] == []
