"""A project with a built site."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.publish.targets.deployment import Deployment
from mcpframe.kit.publish.targets.prepare import deployment_of
from tests.support.small_site import write_site


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a site in `dist`."""
    write_site(tmp_path)
    return tmp_path


@pytest.fixture
def site(project: Path) -> Deployment:
    """The built site of that project."""
    return deployment_of(project, project / "dist")
