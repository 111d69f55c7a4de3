"""The folders of a user in which programs keep their configuration, on each system."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class UserFolders:
    """The folders and variables that decide where a configuration file is.

    Attributes:
        home: the user's folder.
        project: the project's folder, for project-wide files.
        platform: as `sys.platform`.
        variables: environment variables.
    """

    home: Path
    project: Path
    platform: str
    variables: dict[str, str]

    @classmethod
    def here(cls, project: Path) -> UserFolders:
        """Return the places of this machine and user."""
        return cls(Path.home(), project.absolute(), sys.platform, dict(os.environ))

    def application_data(self) -> Path:
        """The folder where desktop programs keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.variables.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.variables.get("XDG_CONFIG_HOME") or self.home / ".config")
