"""Every error the tool chain raises. Each message is one sentence with the problem and the remedy.

    KitError
    ├── ToolError               a program mcpframe needs
    │   ├── ToolMissing         is not installed (NodeMissing, ChromiumMissing, ExtraMissing)
    │   └── ToolFailed          ran and failed; `output` has its output
    │       └── ToolTimeout     took too long and was stopped
    ├── DownloadError           something could not be fetched: no network, or no answer
    ├── HashMismatch            a file does not have the pinned hash
    ├── WriteError              a file could not be written: disk full, no permission
    ├── ServeError              a folder or server cannot be served
    │   └── PortTaken           another program listens on the port
    ├── ConfigError             an author's configuration, with file and key
    ├── BuildError              a bundle cannot be built
    ├── PublishError            a built site cannot be published there
    ├── ScaffoldError           `mcpframe new` cannot create the project
    ├── SetupNotDone            a server's setup failed, or no values were given for its fields
    ├── ViewFailed              a view under test did not start, did not answer, or did not ask in time
    ├── NoFramedServer          the page at a URL does not serve MCP to its host
    ├── CallError               a tool cannot be called: no such tool, or wrong arguments
    ├── DemoError               the demo's page did not give the right answer
    ├── BridgeError             a framed server cannot be bridged
    │   ├── BrowserGone         the bridge's or the hub's browser has ended, or does not start
    │   ├── PageFailed          the framed page cannot be opened, or has ended
    │   └── ProfileInUse        another bridge is using the profile folder
    └── InstallError            a client's configuration cannot be changed

No half-written file is left behind when one of them is raised.
"""

from __future__ import annotations

from mcpframe.frame.core.errors import McpFrameError


class KitError(McpFrameError):
    """The base class of the tool chain's errors: catch it, print it, and exit with status 1."""


class ToolError(KitError):
    """A program that mcpframe runs is missing or failed."""


class ToolMissing(ToolError):
    """A program is not installed. The message says how to install it."""


class NodeMissing(ToolMissing):
    """Node.js with npm is missing, or too old."""


class ChromiumMissing(ToolMissing):
    """No Chromium was found, and none could be installed."""


class ExtraMissing(ToolMissing):
    """An extra of mcpframe is not installed. The message has the command that installs it."""


class ToolFailed(ToolError):
    """A program ran and exited with an error.

    Args:
        message: One sentence for the user.
        output: The program's output, for a log.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output

    @property
    def disk_full(self) -> bool:
        """Whether the program had no room to write."""
        output = self.output.lower()
        return "no space left" in output or "quota exceeded" in output

    @property
    def remedy(self) -> str:
        """The remedy after a failed download: free disk space if the disk is full, else check the network."""
        return "free some disk space" if self.disk_full else "check the network"


class ToolTimeout(ToolFailed):
    """A program exceeded its time limit and was stopped."""


class DownloadError(KitError):
    """Something could not be fetched. The message names it, its source, and how to work without network."""


class HashMismatch(KitError):
    """A file's SHA-256 is not the pinned one: it is damaged, of another version, or another file."""


class WriteError(KitError):
    """A file could not be written. Anything written before the failure has been removed."""


class ServeError(KitError):
    """A folder or server cannot be served: it does not exist, or other machines could use it without authorization."""


class PortTaken(ServeError):
    """Another program already listens on the requested port."""


class ConfigError(KitError):
    """A configuration that cannot be used. The message names the file, the key and the allowed values."""


class BuildError(KitError):
    """A bundle cannot be built. The message names the step and the requirement or file at fault."""


class PublishError(KitError):
    """A site cannot be prepared for a static host: a limit, a file of its author's, or no complete bundle."""


class ScaffoldError(KitError):
    """A project cannot be created: an invalid name, an unknown template, or a folder that is not empty."""


class SetupNotDone(KitError):
    """The setup of a framed server failed, or it needs values that were not given."""


class ViewFailed(KitError):
    """A view under test did not start, answered with an error, or did not meet the test's condition in time."""


class NoFramedServer(KitError):
    """The page at a URL does not serve MCP to the page that frames it, or did not answer in time."""


class CallError(KitError):
    """A tool cannot be called: it does not exist, or an argument is missing, unknown or of the wrong type."""


class DemoError(KitError):
    """The demo's page did not answer, or its answer is wrong."""


class BridgeError(KitError):
    """A framed server cannot be bridged."""


class BrowserGone(BridgeError):
    """The bridge's or the hub's browser has ended, does not start, or refuses a command."""


class PageFailed(BridgeError):
    """The framed page cannot be opened: it is missing, is not an MCP server, or does not allow the bridge's origin."""


class ProfileInUse(BridgeError):
    """Another bridge is using the profile folder."""


class InstallError(KitError):
    """A client's configuration cannot be read or changed; it is unchanged."""
