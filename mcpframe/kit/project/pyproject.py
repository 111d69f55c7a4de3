"""The configuration: `[tool.mcpframe]` of pyproject.toml, or of a script's inline metadata (PEP 723).

Every key is checked; an error names the file, the key and the allowed values.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcpframe.frame.core.limits import DEEPEST_NESTING, FIRST_PAINT_HEIGHT
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.project.config_values import (
    Address,
    AllowedOrigins,
    Dialects,
    Distribution,
    Entry,
    Integrity,
    KeptPath,
    Name,
    NpmName,
    NpmVersion,
    PackageName,
    RelativePath,
    SandboxOrigin,
    Sources,
    TrialTokenText,
    Value,
    Variable,
)

MOST_SECONDS = 2_000_000
"""The longest time limit, 23 days: a JavaScript timer of more than 2³¹ milliseconds fires at once."""

USUAL_UNPACKED, MOST_UNPACKED = 512, 4000
"""The limits of the unpacked size of a bundle's wheels, in MB: by default, and the largest one allowed."""
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class VisibilityConfig(_Section):
    """Whether the page must be visible while it serves: `transportVisibility` of the SEP.

    Attributes:
        requirement: `required`, `optional` or `hidden`; by default `optional` for a server with a function that draws
            its page (`@server.ui`), and `hidden` for others. With `import_server = false`, that function is not seen.
        message: The reason, for the person who is asked to show the page.
    """

    requirement: Literal["required", "optional", "hidden"] | None = None
    message: str | None = None


class OptionsConfig(_Section):
    """Deadlines (seconds) and limits of the connection; see `mcpframe.frame.core.roles.Options`.

    Attributes:
        allow_opaque: Also serve pages with an opaque origin (`null`): sandboxed frames and local files of any author.
    """

    handshake_timeout: Seconds | None = None
    accept_timeout: Seconds | None = None
    setup_timeout: Seconds | None = None
    repeat_interval: Seconds | None = None
    max_message_bytes: Annotated[int, Field(ge=1024)] | None = None
    max_nesting: Annotated[int, Field(ge=1, le=DEEPEST_NESTING)] | None = None
    max_pending: Annotated[int, Field(ge=1)] | None = None
    allow_opaque: bool = False


class CspConfig(_Section):
    """Allowed sources besides the page's own origin (Content Security Policy, level 3).

    Attributes:
        connect_src: The origins for the server's requests.
        img_src, media_src, font_src, style_src, frame_src, worker_src: Sources of the directive of that name.
        unsafe_eval: Allow `eval`, which only WebAssembly libraries with inline JavaScript need.
    """

    connect_src: Sources = []
    img_src: Sources = []
    media_src: Sources = []
    font_src: Sources = []
    style_src: Sources = []
    frame_src: Sources = []
    worker_src: Sources = []
    unsafe_eval: bool = False


class AppConfig(_Section):
    """Requests of the bundle's view to its host: `_meta.ui` of the specification of MCP Apps.

    Attributes:
        permissions: `camera`, `microphone`, `geolocation` and `clipboardWrite`.
        prefers_border: Whether the host should draw a border and a background around the view; by default it decides.
        first_paint: A file with HTML and inline styles, of at most 6 KB, that a view shows until it has drawn; by
            default two grey bars. Scripts in it do not run.
        height: The height of the larger bar, in CSS pixels: that of what the view will draw.
        sample: A JSON file with the `arguments` and the `result` of a tool call. `mcpframe dev` opens on the page as a
            view with it.
        size: `fill` for a page that fills its frame, whose elements may have `height: 100%`; or the height that it asks
            its host for, in CSS pixels, and fills. By default the content is measured.
    """

    permissions: list[Literal["camera", "microphone", "geolocation", "clipboardWrite"]] = []
    prefers_border: bool | None = None
    first_paint: RelativePath | None = None
    height: Annotated[int, Field(ge=1, le=FIRST_PAINT_HEIGHT)] | None = None
    sample: RelativePath | None = None
    size: Literal["fill"] | Annotated[int, Field(ge=1, le=FIRST_PAINT_HEIGHT)] | None = None


class NpmConfig(_Section):
    """Files of an npm package for the page, `[tool.mcpframe.npm.NAME]`; in the bundle they are at `npm/NAME/PATH`.

    Attributes:
        version: The exact version.
        integrity: The hash of the package, as `npm view NAME@VERSION dist.integrity` prints it.
        files: Paths in the package; `*` matches any part of a name.
    """

    version: NpmVersion
    integrity: Integrity
    files: Annotated[list[RelativePath], Field(min_length=1)]


class McpframeConfig(_Section):
    """`[tool.mcpframe]`.

    Attributes:
        entry: `module:object` of the server, or of a page's main function; `module:factory()` for a function that is
            called without arguments and returns the server, and may be async; the name of a package for its console
            script.
        kind: `server`, or `page` for a page that is not a server: a host, or the client of an inverted architecture.
        name: The bundle's folder; by default the project's name.
        title: The name shown to people; by default the server's own.
        allowed_origins: Origins of the pages that may embed the server, in full; `*` for all, `self` for that of
            the bundle, wherever it is. A table has a list for each dialect, such as
            `{ sep = ["https://chat.example"], mcp_apps = ["*"] }`; dialects that it does not name are not spoken.
        dialects: The dialects that the bundle offers: some of `sep`, `mcp_apps`, `mcp_ui`, `mcp_b` and `webmcp`; by
            default all.
        visibility: Whether the page must be visible while it serves.
        requirements: The packages to install in the page; by default `project.dependencies`.
        lazy: Requirements fetched only when the server calls `mcpframe.load`.
        assets: Glob patterns of further files for the server or its page, such as data, HTML, JavaScript and images.
        styles: Style sheets of the page.
        icons: Images of the page where it is installed, PNG or SVG, with `mcpframe build --pwa`; by default the first
            letter of its title.
        npm: npm packages whose files the page uses, by name.
        leave_out: Packages to leave out of all requirements: those without a wheel for Pyodide that the server does not
            need.
        build_sdists: Build packages that have only sources, in Pyodide and without access to this machine.
        distribution: A folder, or an https address, with packages of Pyodide's distribution and their
            `pyodide-lock.json`, in place of Pyodide's CDN.
        source: The folder on the import path; by default `src` if the entry is in it, else the root.
        url: The public address of the bundle's folder, such as `https://tools.example/forecast/`. With it, a build also
            writes the bundle as a view of MCP Apps.
        app: Requests of such a view to its host.
        csp: The page's allowed sources.
        sandbox_origin: A second origin of the published folder, for the sandboxed content of the page's `AppHost` and
            `UiHost`; or `"self"` for a frame of the page's own server whose sandbox takes away its origin.
        origin_trials: Tokens of origin trials for the origin at which the bundle is published, such as Chrome's of
            WebMCP. They are in the page and in the header files.
        options: Deadlines and limits of the connection.
        runs_in: `worker` to run the server in a Web Worker, where a tool that computes blocks nothing, and can be
            stopped; or `page`.
        tool_timeout: The longest that a tool may run in a worker, in seconds; or a table of limits by the tool's name,
            `"*"` for all others.
        tool_grace: Seconds that a tool in a worker may go on computing after it was stopped, until the worker is
            ended; by default 1.
        boot_timeout: Seconds after which the page reports that it has not started.
        import_server: Import the server during the build, to check it and to list its tools.
        import_timeout: Seconds for importing the server during the build.
        max_unpacked: The limit of the unpacked wheels, and of the project's own files, in MB; a quarter of it for
            each file.
        script: The console script of the entry's package, if it has several.
        args: The server's `sys.argv`, after the program's name.
        persist: Files and folders to keep in the browser for each session, absolute or below `~`.
        env: Environment variables of the server. They are in the bundle, which is public: put secrets into
            `visitor_env` or a setup.
        visitor_env: Environment variables of a console script that each visitor enters in a setup form; they are kept
            in the visitor's browser.
    """

    entry: Entry | None = None
    kind: Literal["server", "page"] = "server"
    name: Name | None = None
    title: str | None = None
    allowed_origins: AllowedOrigins = []
    dialects: Dialects = []
    visibility: VisibilityConfig = VisibilityConfig()
    requirements: list[str] | None = None
    lazy: list[str] = []
    assets: list[RelativePath] = []
    styles: list[RelativePath] = []
    icons: list[RelativePath] = []
    npm: dict[NpmName, NpmConfig] = {}
    leave_out: list[PackageName] = []
    build_sdists: bool = False
    distribution: Distribution | None = None
    source: RelativePath | None = None
    url: Address | None = None
    app: AppConfig = AppConfig()
    csp: CspConfig = CspConfig()
    sandbox_origin: SandboxOrigin | None = None
    origin_trials: Annotated[list[TrialTokenText], Field(max_length=8)] = []
    options: OptionsConfig = OptionsConfig()
    runs_in: Literal["worker", "page"] = "page"
    tool_timeout: Seconds | dict[str, Seconds] = {}
    tool_grace: Seconds | None = None
    boot_timeout: Seconds = 60.0
    import_server: bool = True
    import_timeout: Seconds = 120.0
    max_unpacked: Annotated[int, Field(ge=64, le=MOST_UNPACKED)] = USUAL_UNPACKED
    script: str | None = None
    args: list[Value] = []
    persist: list[KeptPath] = []
    env: dict[Variable, Value] = {}
    visitor_env: list[Variable] = []


def read_config(table: object, file: str) -> McpframeConfig:
    """Validate the table `[tool.mcpframe]`.

    Args:
        table: The parsed TOML table.
        file: The file's name, for errors.

    Raises:
        ConfigError: A key is unknown, or its value is not allowed; the message names file, key and allowed values.
    """
    try:
        return McpframeConfig.model_validate(table)
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise ConfigError(" ".join(f"{file}: {_explain(detail)}." for detail in details)) from None


def _explain(detail: Any) -> str:
    location = [part for part in detail["loc"] if isinstance(part, (str, int))]
    kinds = ("float", "int", "[key]", "list", "table")  # pydantic puts these between keys, and "function-after[…]"
    parts = [str(part) for part in location]
    keys = [part for part in parts if part not in kinds and not part.startswith(("function-", "constrained-"))]
    key = ".".join(["tool.mcpframe", *keys])
    if detail["type"] == "extra_forbidden":
        section = _section(keys[:-1])
        close = difflib.get_close_matches(keys[-1], section, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f"{key} is not a key; {hint}allowed are {', '.join(section)}"
    if detail["type"] == "model_type":
        return f"{key} must be a table with the keys {', '.join(_section(keys))}"
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input ").rstrip(".")
    message = message.replace("should be", "must be")
    if detail["type"] == "value_error" and "'" in message:
        return f"{key}: {message}"  # the message quotes the wrong part already
    shown = repr(detail["input"])
    return f"{key}: {message}, not {shown if len(shown) < 80 else shown[:77] + '...'}"


def _section(keys: list[str]) -> list[str]:
    model: type[BaseModel] = McpframeConfig
    names = iter(keys)
    for name in names:
        annotation = model.model_fields[name].annotation
        if get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
            next(names, None)  # the key of the dictionary's entry
        options = get_args(annotation) if get_origin(annotation) is not None else (annotation,)
        model = next(option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
    return list(model.model_fields)
