"""GitHub Pages. From a branch, it leaves out folders that begin with `_`, unless there is a file `.nojekyll`."""

from mcpframe.kit.static_hosts.static_host import StaticHost

GITHUB_PAGES = StaticHost(
    "GitHub Pages",
    "nothing, with the workflow `pages.yml` that `mcpframe new` makes; from a branch, `.nojekyll` keeps the folder "
    "`_mcpframe`. Custom headers are not possible",
    files=(".nojekyll",),
    sends_headers=False,
)
