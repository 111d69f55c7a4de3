"""Parts of tools that clients are known to refuse or to lose: one table, for warnings and for the documentation.

Each report was read in a public issue, by its date; clients change, so a row says what was seen, not what is. Rules of
the specification itself are in `kit.publish.bundle_checks.tools`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Tool = Mapping[str, Any]

NAME_CHARACTERS = 64
"""The longest name of a tool for Claude, OpenAI and Gemini."""
PAIR_CHARACTERS = 59
"""The longest name of a server and a tool together, which Cursor shows ("60 exceeds 60")."""
DESCRIPTION_CHARACTERS = 2048
"""The longest description of a tool that Claude Code gives to its model."""
_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")
_COMBINED = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True)
class ClientReport:
    """One public report of a client.

    Attributes:
        client: The client, with its version where the report has one.
        effect: What it does, as the end of a sentence that begins with its name.
        source: `owner/repository#number` at GitHub.
        date: The day of the report, or of the comment in it that is meant.
    """

    client: str
    effect: str
    source: str
    date: str

    @property
    def url(self) -> str:
        """The address of the report."""
        repository, _, number = self.source.partition("#")
        return f"https://github.com/{repository}/issues/{number}"


@dataclass(frozen=True)
class ClientRule:
    """A property of tools that some clients fail on.

    Attributes:
        name: Its key, and its heading in the documentation.
        broken_by: Returns what a tool has of it, as a verb phrase; None if it has nothing. It gets the tool, all
            tools, and the server's name.
        effect: What happens at the clients of the reports, in a sentence.
        remedy: What the author can do, in a sentence.
        reports: The reports, the most recent first.
    """

    name: str
    broken_by: Callable[[Tool, Sequence[Tool], str], str | None]
    effect: str
    remedy: str
    reports: tuple[ClientReport, ...]


@dataclass(frozen=True)
class Breach:
    """A tool that breaks a rule.

    Attributes:
        tool: The tool's name.
        what: What it has, as a verb phrase.
    """

    tool: str
    rule: ClientRule
    what: str


def breaches(tools: Sequence[Tool], server: str = "") -> Iterator[Breach]:
    """Return each rule that each tool breaks.

    Args:
        tools: As `tools/list` returns them.
        server: The name under which clients know the server; empty if it is unknown.
    """
    for tool in tools:
        for rule in CLIENT_RULES:
            if what := rule.broken_by(tool, tools, server):
                yield Breach(tool["name"], rule, what)


def client_warnings(tools: Sequence[Tool], server: str = "") -> list[str]:
    """Return a warning for each rule that tools break, with the names of these."""
    by_rule: dict[str, list[Breach]] = {}
    for breach in breaches(tools, server):
        by_rule.setdefault(breach.rule.name, []).append(breach)
    warnings = []
    for each in by_rule.values():
        names = ", ".join(repr(breach.tool) for breach in each[:5])
        further = f" and {len(each) - 5} more" if len(each) > 5 else ""
        subject = "The tool" if len(each) == 1 else "The tools"
        what = each[0].what if len(each) == 1 else f"break the rule {each[0].rule.name!r} of some clients"
        warnings.append(f"{subject} {names}{further} {what}. {each[0].rule.effect} {each[0].rule.remedy}")
    return warnings


def _name(tool: Tool, _tools: Sequence[Tool], _server: str) -> str | None:
    name = tool["name"]
    if len(name) > NAME_CHARACTERS:
        return f"has a name of {len(name)} characters, more than {NAME_CHARACTERS}"
    return None if _NAME.match(name) else "has a name with other characters than letters, digits, '_' and '-'"


def _pair(tool: Tool, _tools: Sequence[Tool], server: str) -> str | None:
    both = len(server) + len(tool["name"])
    if not server or both <= PAIR_CHARACTERS or len(tool["name"]) > NAME_CHARACTERS:
        return None
    return f"has {both} characters together with the server's name {server!r}, more than {PAIR_CHARACTERS}"


def _description(tool: Tool, _tools: Sequence[Tool], _server: str) -> str | None:
    length = len((tool.get("description") or "").strip())
    return f"has a description of {length:,} characters" if length > DESCRIPTION_CHARACTERS else None


def _references(tool: Tool, _tools: Sequence[Tool], _server: str) -> str | None:
    kinds = {"arguments": "inputSchema", "result": "outputSchema"}
    parts = [word for word, kind in kinds.items() if _has_reference(tool.get(kind))]
    return f"has references ($ref) in the schema of its {' and its '.join(parts)}" if parts else None


def _input_root(tool: Tool, _tools: Sequence[Tool], _server: str) -> str | None:
    keywords = [word for word in _COMBINED if word in (tool.get("inputSchema") or {})]
    return f"has {keywords[0]} at the root of the schema of its arguments" if keywords else None


def _output_root(tool: Tool, _tools: Sequence[Tool], _server: str) -> str | None:
    schema = tool.get("outputSchema")
    if not isinstance(schema, Mapping) or schema.get("type") == "object":
        return None
    reason = "a reference" if "$ref" in schema else "not of type object"
    return f"has a schema of its result whose root is {reason}"


def _view_and_any_of(tool: Tool, tools: Sequence[Tool], _server: str) -> str | None:
    if "anyOf" not in (tool.get("outputSchema") or {}) or not any(map(_has_view, tools)):
        return None
    return "has anyOf at the root of the schema of its result, in a server with a view"


def _own_text(tool: Tool, _tools: Sequence[Tool], _server: str) -> str | None:
    return None  # not visible in a list of tools: `beside_note` sees it in a result


def beside_note(tool: str, result: Mapping[str, Any]) -> str:
    """Return a warning if a tool's result has content beside its structured content; empty if it has none.

    Text that repeats the structured content does not count.

    Args:
        tool: The tool's name.
        result: As on the wire.
    """
    data = result.get("structuredContent")
    if not isinstance(data, Mapping):
        return ""
    kinds = sorted({str(item.get("type")) for item in result.get("content") or () if not _repeats(item, data)})
    if not kinds:
        return ""
    rule = next(rule for rule in CLIENT_RULES if rule.broken_by is _own_text)
    return f"{tool} has content ({', '.join(kinds)}) beside its structuredContent. {rule.effect} {rule.remedy}"


def _repeats(item: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """Return whether a block of content is the structured content, or one value of it, as text."""
    if item.get("type") != "text":
        return False
    text = item.get("text", "")
    values = [data, *data.values()]
    values += [entry for value in data.values() if isinstance(value, list) for entry in value]
    try:
        return json.loads(text) in values
    except (ValueError, RecursionError):
        return text in values


def _has_view(tool: Tool) -> bool:
    ui = (tool.get("_meta") or {}).get("ui")
    return isinstance(ui, Mapping) and bool(ui.get("resourceUri"))


def _has_reference(value: Any) -> bool:
    todo = [value]
    while todo:  # without recursion: a schema may be anybody's, and nested at will
        item = todo.pop()
        if isinstance(item, Mapping):
            if isinstance(item.get("$ref"), str):
                return True
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return False


CLIENT_RULES: tuple[ClientRule, ...] = (
    ClientRule(
        "name",
        _name,
        "Claude Desktop then loads none of the server's tools, and requests to OpenAI fail.",
        "Rename it, or set a name of 1 to 64 letters, digits, '_' and '-' with @server.tool(name=...).",
        (
            ClientReport("Claude Desktop", "loads none of the server's tools", "jamiepine/voicebox#590", "2026-04-30"),
            ClientReport(
                "Claude Desktop", "loads none of the server's tools", "NetApp/netapp-dataops-toolkit#38", "2026-03-18"
            ),
            ClientReport("Codex 0.73", "sends a request that OpenAI refuses", "openai/codex#8174", "2025-12-17"),
            ClientReport(
                "Claude Code",
                "sends a request that is refused, for a space",
                "modelcontextprotocol/modelcontextprotocol#1345",
                "2025-08-14",
            ),
            ClientReport(
                "Claude Code",
                "counts its prefix `mcp__SERVER__` in the 64 characters",
                "anthropics/claude-code#2412",
                "2025-06-21",
            ),
            ClientReport(
                "VS Code", "counts its own prefix in the 64 characters", "microsoft/vscode#243602", "2025-03-14"
            ),
        ),
    ),
    ClientRule(
        "name with the server's",
        _pair,
        "Cursor leaves such tools out.",
        "Shorten the tool's name, or the server's (tool.mcpframe.name, mcpframe install --name).",
        (
            ClientReport("Cursor", "leaves the tool out at 60 characters", "ComposioHQ/composio#2788", "2026-02-27"),
            ClientReport("Cursor 1.6.14", "leaves the tool out above 60 characters", "awslabs/mcp#1283", "2025-09-15"),
        ),
    ),
    ClientRule(
        "description",
        _description,
        f"Claude Code gives its model the first {DESCRIPTION_CHARACTERS:,} characters, and says so nowhere.",
        "Shorten it; move the rest into the arguments' descriptions or a resource.",
        (
            ClientReport(
                "Claude Code 2.1.234",
                "cuts descriptions at 2,048 characters",
                "anthropics/claude-code#87650",
                "2026-08-18",
            ),
            ClientReport(
                "Claude Code",
                "cuts descriptions and a server's instructions at 2 KB",
                "RedHatInsights/insights-mcp#340",
                "2026-04-03",
            ),
        ),
    ),
    ClientRule(
        "references",
        _references,
        "Some clients drop what they refer to ($defs): the model gets no type, or the client lists no tools.",
        "Pass inline_schemas=True to FrameServer.",
        (
            ClientReport(
                "Claude Cowork, local connectors",
                "removes `$ref` and `$defs`; the properties have no type",
                "anthropics/claude-ai-mcp#591",
                "2026-07-10",
            ),
            ClientReport("Kiro", "lists no tools", "kirodotdev/Kiro#10040", "2026-07-08"),
            ClientReport("Cursor 3.4.17", "lists no tools", "davideast/stitch-mcp#184", "2026-05-14"),
            ClientReport("opencode 1.14.41", "lists no tools", "davideast/stitch-mcp#184", "2026-05-09"),
            ClientReport("Copilot CLI 0.0.423", "cannot build the arguments", "github/copilot-cli#1876", "2026-03-06"),
            ClientReport(
                "VS Code Copilot", "strips `$defs`, so that calls fail", "PrefectHQ/fastmcp#2808", "2026-01-07"
            ),
            ClientReport(
                "Gemini CLI", "skips the tools, or its requests fail", "google-gemini/gemini-cli#13326", "2025-11-18"
            ),
        ),
    ),
    ClientRule(
        "combined arguments",
        _input_root,
        "Claude Code leaves such a tool out, and requests to Claude and OpenAI with it fail.",
        "Nest the alternatives in one argument, or check them in the tool.",
        (
            ClientReport(
                "Claude Code", "leaves the tool out, and says so nowhere", "anthropics/claude-code#95504", "2026-09-19"
            ),
            ClientReport(
                "Claude Code",
                "lists no tools if the root has no type either",
                "anthropics/claude-code#88049",
                "2026-08-19",
            ),
            ClientReport(
                "Anthropic Managed Agents",
                "sends a request that is refused",
                "makenotion/notion-mcp-server#341",
                "2026-08-05",
            ),
            ClientReport("opencode, Kiro", "sends a request that is refused", "zereight/gitlab-mcp#550", "2026-06-22"),
            ClientReport(
                "clients of OpenAI", "send a request that is refused", "nspady/google-calendar-mcp#39", "2025-06-01"
            ),
        ),
    ),
    ClientRule(
        "root of the result",
        _output_root,
        "Many clients refuse all tools for it; therefore mcpframe leaves the schema, and structuredContent that is not "
        "an object, out for clients before MCP 2026-07-28.",
        "Return a dataclass or a model of pydantic; inline_schemas=True of FrameServer resolves a reference.",
        (
            ClientReport(
                "Claude Code", "lists no tools, and calls the server connected", "githubnext/chopin#154", "2026-09-12"
            ),
            ClientReport("MetaMCP, the TypeScript SDK", "lists no tools", "kenn-io/msgvault#626", "2026-08-15"),
            ClientReport("cursor-agent", "lists no tools", "Anil-matcha/awesome-gpt-6-astra#11", "2026-06-12"),
            ClientReport("Claude Code", "does not load the tool", "Wynelson94/longhand#10", "2026-05-22"),
        ),
    ),
    ClientRule(
        "anyOf beside a view",
        _view_and_any_of,
        "Claude shows no tool of such a server, and no view.",
        "Return one type from the tool, with optional fields for what differs.",
        (ClientReport("Claude", "does not go on after `tools/list`", "anthropics/claude-ai-mcp#485", "2026-06-23"),),
    ),
    ClientRule(
        "content beside data",
        _own_text,
        "Each client gives its model one of the two: some only the data, others only the text.",
        "Let each of the two say all that the model needs.",
        (
            ClientReport(
                "Claude Code 2.1.280",
                "gives the model only `structuredContent`",
                "anthropics/claude-code#79944",
                "2026-09-22",
            ),
            ClientReport(
                "Kimi Code",
                "gives the model only `content`, unless that is empty",
                "MoonshotAI/kimi-code#3234",
                "2026-08-25",
            ),
            ClientReport("Open WebUI", "gives the model only `content`", "open-webui/open-webui#28926", "2026-08-23"),
            ClientReport(
                "opencode", "gives the model only the text of `content`", "anomalyco/opencode#38923", "2026-07-26"
            ),
            ClientReport(
                "Claude Desktop", "shows nothing if `content` is empty", "seuros/action_mcp#181", "2026-01-29"
            ),
        ),
    ),
)
"""All rules, in the order of the documentation."""
