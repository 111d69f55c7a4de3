"""The module `resource` for a page: limits can be set, but none is enforced.

The functions and constants are those of Python's documentation, with Linux's values.
"""

import time as _time
from typing import NamedTuple as _NamedTuple

error = OSError
RLIM_INFINITY = -1
RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD = 0, -1, 1
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_RSS, RLIMIT_NPROC, RLIMIT_NOFILE = range(8)
RLIMIT_MEMLOCK, RLIMIT_AS, RLIMIT_OFILE = 8, 9, RLIMIT_NOFILE

_MOST = 16  # Linux's RLIM_NLIMITS
_limits: dict[int, tuple[int, int]] = {}


class struct_rusage(_NamedTuple):  # noqa: N801
    """The resources used: only processor time is known."""

    ru_utime: float = 0.0
    ru_stime: float = 0.0
    ru_maxrss: int = 0
    ru_ixrss: int = 0
    ru_idrss: int = 0
    ru_isrss: int = 0
    ru_minflt: int = 0
    ru_majflt: int = 0
    ru_nswap: int = 0
    ru_inblock: int = 0
    ru_oublock: int = 0
    ru_msgsnd: int = 0
    ru_msgrcv: int = 0
    ru_nsignals: int = 0
    ru_nvcsw: int = 0
    ru_nivcsw: int = 0


def getrlimit(resource: int) -> tuple[int, int]:
    """Return the limits that were set; none at first."""
    _check(resource)
    return _limits.get(resource, (RLIM_INFINITY, RLIM_INFINITY))


def setrlimit(resource: int, limits: tuple[int, int]) -> None:
    """Set limits, which are not enforced."""
    _check(resource)
    soft, hard = limits
    _limits[resource] = (soft, hard)


def prlimit(pid: int, resource: int, limits: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the limits of this process, and set new ones if given."""
    before = getrlimit(resource)
    if limits is not None:
        setrlimit(resource, limits)
    return before


def getrusage(who: int) -> struct_rusage:
    """Return the resources used."""
    return struct_rusage(ru_utime=_time.process_time() if who != RUSAGE_CHILDREN else 0.0)


def getpagesize() -> int:
    """Return the size of a page of memory in WebAssembly."""
    return 65536


def _check(resource: int) -> None:
    if not 0 <= resource < _MOST:
        raise ValueError("invalid resource specified")
