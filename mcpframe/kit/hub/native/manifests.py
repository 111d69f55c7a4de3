"""The registration of `mcpframe hub --native` with the browsers of this user, so that the extension can start it.

A browser reads a manifest in its own folder, which names the program and the extension that may start it. It cannot
have arguments, so it names a script of one line with them. Source: Chrome's documentation, "Native messaging", "Native
messaging host location".
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpframe.hub.serving.native_clients import NATIVE_HOST
from mcpframe.kit.base.cache import write_file, writing
from mcpframe.kit.base.errors import InstallError
from mcpframe.kit.base.own_command import own_command
from mcpframe.kit.base.user_folders import UserFolders
from mcpframe.kit.hub.native.meeting_place import made_folder

_FOLDER = "NativeMessagingHosts"
_BROWSERS = (
    ("Chrome", "google-chrome", "Google/Chrome"),
    ("Chrome Beta", "google-chrome-beta", "Google/Chrome Beta"),
    ("Chrome for Testing", "google-chrome-for-testing", "Google/Chrome for Testing"),
    ("Chromium", "chromium", "Chromium"),
    ("Edge", "microsoft-edge", "Microsoft Edge"),
    ("Brave", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser"),
)
"""The folders of the browsers' profiles below `UserFolders.application_data`: on Linux, and on macOS."""


@dataclass(frozen=True)
class NativeManifest:
    """The manifest for one browser.

    Attributes:
        title: The browser.
        text: Its content; None to remove it.
    """

    title: str
    path: Path
    text: str | None

    @property
    def is_there(self) -> bool:
        """Whether the file has this content."""
        try:
            return self.path.read_text("utf-8") == self.text
        except (OSError, ValueError):
            return self.text is None and not self.path.exists()

    def write(self) -> None:
        """Write or remove the file.

        Raises:
            WriteError: It cannot be written or removed.
        """
        with writing(self.path):
            if self.text is None:
                self.path.unlink(missing_ok=True)
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.path, self.text.encode("utf-8"))


def plan_native(places: UserFolders, extension: str, profile: Path | None = None) -> list[NativeManifest]:
    """Return the manifests for the installed browsers.

    Args:
        places: The browsers' folders.
        extension: The id of the extension that may start the program.
        profile: The folder of a browser's profile (its `--user-data-dir`), instead of the usual ones.

    Raises:
        InstallError: No browser is found.
    """
    manifest = {
        "name": NATIVE_HOST,
        "description": "The tools of the pages in this browser, for MCP clients on this machine (mcpframe hub).",
        "path": str(script()),
        "type": "stdio",
        "allowed_origins": [f"chrome-extension://{extension}/"],
    }
    text = json.dumps(manifest, indent=2) + "\n"
    manifests = _manifests(places, profile)
    if not manifests:
        raise InstallError("No Chrome or Chromium was found here: name its folder (--user-data-dir) with --profile.")
    return [NativeManifest(title, path, text) for title, path in manifests]


def plan_native_removal(places: UserFolders, profile: Path | None = None) -> list[NativeManifest]:
    """Return the changes that remove the manifests of the browsers that have one."""
    return [NativeManifest(title, path, None) for title, path in _manifests(places, profile) if path.is_file()]


def script() -> Path:
    """Return the path of the script for the browsers."""
    return made_folder() / "mcpframe-hub"


def write_script(options: Sequence[str] = ()) -> None:
    """Write the script for the browsers.

    Args:
        options: More options of the command.

    Raises:
        WriteError: It cannot be written.
    """
    path = script()
    command = shlex.join(own_command("hub", "--native", *options))
    write_file(path, f"#!/bin/sh\nexec {command}\n".encode())
    with writing(path):
        path.chmod(0o700)


def _manifests(places: UserFolders, profile: Path | None) -> list[tuple[str, Path]]:
    file = Path(_FOLDER) / f"{NATIVE_HOST}.json"
    if profile is not None:
        return [("the browser of this profile", profile.expanduser().absolute() / file)]
    base = places.application_data()
    folders = ((title, base / (mac if places.platform == "darwin" else linux)) for title, linux, mac in _BROWSERS)
    return [(title, folder / file) for title, folder in folders if folder.is_dir()]
