"""GitHub Pages. From a branch, it leaves out folders that begin with `_`, unless there is a file `.nojekyll`."""

from mcpframe.kit.static_hosts.static_host import TEXTS, StaticHost

GITHUB_PAGES = StaticHost(
    "GitHub Pages",
    "nothing, with the workflow `pages.yml` that `mcpframe new` makes; from a branch, `.nojekyll` keeps the folder "
    "`_mcpframe`. Custom headers are not possible",
    files=(".nojekyll",),
    sends_headers=False,
    most_file_bytes=100_000_000,
    most_bytes=1_000_000_000,
    compresses=TEXTS,
    kept=600,
    domains=(".github.io",),
    server="GitHub.com",
)
