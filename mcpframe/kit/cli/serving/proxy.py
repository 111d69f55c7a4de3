"""`mcpframe proxy`: a forwarder for servers that do not allow pages (CORS)."""

from __future__ import annotations

from typing import Annotated

import typer

from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, keep_running, out

EXAMPLES = examples(
    "mcpframe proxy --allow-host api.example",
    "mcpframe proxy --allow-host api.example --allow-origin https://tools.example --name proxy.example",
)


def proxy(
    allow_host: Annotated[
        list[str],
        typer.Option(metavar="HOST", help="A host that it reaches, by https or as written; may be repeated."),
    ],
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            callback=options.is_site,
            help="The origin of a page that may use it; by default pages of this machine; may be repeated.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            callback=options.is_host_name,
            help="A host name of requests besides localhost, where a web server in front passes them on; may be "
            "repeated.",
        ),
    ] = None,
    port: Annotated[int, options.port("Its port; 0 takes a free one.")] = 8716,
) -> None:
    """Forward requests of pages to listed hosts that do not allow pages (CORS). Until Ctrl-C.

    It forwards what the page's code wrote: no cookies, no credentials of this machine, no redirects to other hosts.
    """
    from mcpframe.frame.core.allowed_origins import parse_origin
    from mcpframe.frame.core.errors import OriginError
    from mcpframe.kit.web.cors_proxy import CorsProxy
    from mcpframe.kit.web.serve import NAMES, serve_app

    try:
        hosts = [parse_origin(host if "://" in host else f"https://{host}") for host in allow_host]
    except OriginError as error:
        raise typer.BadParameter(str(error), param_hint="--allow-host") from None
    if other := [host for host in hosts if not host.startswith(("http://", "https://"))]:
        raise typer.BadParameter(f"{other[0]!r} is not reached by http or https.", param_hint="--allow-host")
    with serve_app(CorsProxy(hosts, allow_origin or ()), port, names=(*NAMES, *(name or ()))) as served:
        out.print(f"proxy      {served.origin}/")
        out.print(f"reaches    {escape(', '.join(hosts))}")
        out.print(f"serves     {escape(', '.join(allow_origin or ()) or 'pages of this machine')}")
        out.print(f'in use by  servers with env = {{ MCPFRAME_CORS_PROXY = "{served.origin}" }} in \\[tool.mcpframe],')
        out.print("           and that origin in csp.connect_src")
        keep_running()
