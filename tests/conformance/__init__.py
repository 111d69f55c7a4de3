"""The official conformance suite against the bridge: `python3 build.py conformance`. It is no test: it takes minutes.

`templates/everything` runs in the bridge's Chromium, for the tasks extension `tasks_server`, and
`@modelcontextprotocol/conformance` asks it over Streamable HTTP. Node.js and the suite are pinned: `package-lock.json`
in this folder.
"""
