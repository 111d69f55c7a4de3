"""Public packages with MCP servers, each built by its name, opened in Chromium and called.

    python3 build.py survey [NAMES ...] [--again] [--markdown] [--list FILE] [--keep FOLDER]

The packages are those of `packages.toml`. Each one is tried in a process of its own with a deadline, so that a failure
or a hang ends only itself. Outcomes are kept as they come: a later run goes on where the last one stopped, and tries
those anew that are named. Without names, `--again` tries those anew that failed. At the end a table is printed;
`--markdown` also writes it into docs/how-to/existing-servers.md.
"""
