"""Puts the projects that nobody imports, the templates and the inspector, into the wheel as one archive.

As files they take 2.8 MB more on disk, with the bytecode that installers compile of them.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from pathspec import GitIgnoreSpec

ARCHIVE = "mcpframe/_data/projects.zip"
PROJECTS = {"templates": "templates", "static/inspector": "inspector"}
"""Their folders in the repository, and in the archive."""


class ProjectsArchive(BuildHookInterface):  # type: ignore[type-arg]
    """The hook of hatchling for the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the archive. An editable installation uses the folders."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        archive = Path(self._folder.name, "projects.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as into:
            for name, path in sorted(self._files().items()):
                info = zipfile.ZipInfo(name)  # of one date, so that the same files make the same bytes
                info.external_attr = 0o644 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                into.writestr(info, path.read_bytes(), compresslevel=9)
        build_data["force_include"][str(archive)] = ARCHIVE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary file."""
        if version != "editable":
            self._folder.cleanup()

    def _files(self) -> dict[str, Path]:
        """Return the files, by their names in the archive, without those that git ignores."""
        root = Path(self.root)
        ignored = GitIgnoreSpec.from_lines(self.build_config.load_vcs_exclusion_patterns())
        found = {}
        for folder, name in PROJECTS.items():
            for path in (root / folder).rglob("*"):
                inner = path.relative_to(root).as_posix()
                if path.is_file() and not ignored.match_file(inner):
                    found[f"{name}/{path.relative_to(root / folder).as_posix()}"] = path
        return found
