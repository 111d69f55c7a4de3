"""Which limits of a static host the files of a site exceed."""

from collections.abc import Iterable, Iterator, Mapping

from mcpframe.kit.static_hosts.headers_file import headers_text, parse
from mcpframe.kit.static_hosts.rules import pages_of
from mcpframe.kit.static_hosts.static_host import StaticHost


def rules_of(bundles: Iterable[str]) -> int:
    """Return how many rules of a `_headers` file the bundles of these folders need."""
    return len(parse(headers_text(pages_of(dict.fromkeys(bundles, "")))))


def too_large(host: StaticHost, sizes: Mapping[str, int]) -> Iterator[str]:
    """Return a sentence on each file that a host does not take.

    Args:
        sizes: The size of each file in bytes, by path.
    """
    most = host.most_file_bytes
    for path, size in sorted(sizes.items()):
        if most is not None and size > most:
            yield (
                f"{path} has {size / 1e6:.1f} MB, and {host.title} takes files of at most {most / 1e6:.1f} MB: make it "
                "smaller, or publish on another host."
            )


def over_limits(host: StaticHost, sizes: Mapping[str, int]) -> Iterator[str]:
    """Return a sentence on each limit of a host that the files of a whole site exceed; see `too_large`."""
    yield from too_large(host, sizes)
    if host.most_files is not None and len(sizes) > host.most_files:
        yield (
            f"{len(sizes):,} files, and {host.title} takes at most {host.most_files:,}: publish the bundles in several "
            "sites."
        )
    total = sum(sizes.values())
    if host.most_bytes is not None and total > host.most_bytes:
        yield (
            f"{total / 1e6:,.0f} MB in all, and {host.title} takes at most {host.most_bytes / 1e6:,.0f} MB: publish "
            "the bundles in several sites."
        )
