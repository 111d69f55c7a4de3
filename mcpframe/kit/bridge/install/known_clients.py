"""The configuration files of common MCP clients, and the form of a server's entry, as each client documents them.

Each file has a JSON object with a named command for each server that runs over stdio.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.base.user_folders import UserFolders


@dataclass(frozen=True)
class KnownClient:
    """An MCP client.

    Attributes:
        name: its name on the command line.
        title: its own name, and the scope of the file.
        place: returns the path of its file.
        key: the name of the object with the servers.
        extra: further members of an entry.
        after: the step that makes the client pick up the change.
    """

    name: str
    title: str
    place: Callable[[UserFolders], Path]
    key: str = "mcpServers"
    extra: tuple[tuple[str, str], ...] = ()
    after: str = "Restart it."


_CLINE = Path("saoudrizwan.claude-dev", "settings")


def _zed(at: UserFolders) -> Path:
    # On macOS, too, it is not where desktop programs keep their settings.
    folder = at.application_data() / "Zed" if at.platform == "win32" else at.home / ".config" / "zed"
    return folder / "settings.json"


CLIENTS = (
    KnownClient(
        "claude-desktop", "Claude Desktop", lambda at: at.application_data() / "Claude" / "claude_desktop_config.json"
    ),
    KnownClient(
        "claude-code",
        "Claude Code, in this project",
        lambda at: at.project / ".mcp.json",
        extra=(("type", "stdio"),),
        after="Start it in the project, and approve the server there.",
    ),
    KnownClient("cursor", "Cursor", lambda at: at.home / ".cursor" / "mcp.json"),
    KnownClient("cursor-project", "Cursor, in this project", lambda at: at.project / ".cursor" / "mcp.json"),
    KnownClient(
        "vscode",
        "VS Code, in this project",
        lambda at: at.project / ".vscode" / "mcp.json",
        key="servers",
        extra=(("type", "stdio"),),
        after="Start the server from the file, or with the command MCP: List Servers.",
    ),
    KnownClient(
        "vscode-user",
        "VS Code, in all projects",
        lambda at: at.application_data() / "Code" / "User" / "mcp.json",
        key="servers",
        extra=(("type", "stdio"),),
        after="Start the server with the command MCP: List Servers.",
    ),
    KnownClient("windsurf", "Windsurf", lambda at: at.home / ".codeium" / "windsurf" / "mcp_config.json"),
    KnownClient("gemini-cli", "Gemini CLI", lambda at: at.home / ".gemini" / "settings.json"),
    KnownClient("lm-studio", "LM Studio", lambda at: at.home / ".lmstudio" / "mcp.json", after="Switch it on there."),
    KnownClient("zed", "Zed", _zed, key="context_servers", after="It starts the server by itself."),
    KnownClient(
        "cline",
        "Cline, in VS Code",
        lambda at: at.application_data() / "Code" / "User" / "globalStorage" / _CLINE / "cline_mcp_settings.json",
        after="Switch it on there.",
    ),
)

BY_NAME = {client.name: client for client in CLIENTS}
