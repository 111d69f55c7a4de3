"""The bridge and the hub with clients that call, cancel, leave and lie, by the thousand: nothing of them may be left.

    python3 build.py soak [--only bridge|hub] [--calls 20000] [--cycles 500] [--tabs 6] [--minutes 30] [--seed 1]

Chromium runs the server of `tests/browser/servers/everything`, bridged over HTTP in this process, where what is left
can be counted, and over stdio as a program of its own. Official clients of both eras call beside raw ones. The hub runs
in this process, too, with a Chromium whose tabs are closed, left, loaded again and crash meanwhile. It ends with status
1 if an answer was lost, or anything was left.
"""
