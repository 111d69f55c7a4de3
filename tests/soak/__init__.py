"""The bridge, the hub and framed servers with clients that call, cancel, leave and lie, by the thousand.

    python3 build.py soak [--only bridge|hub|chromium|firefox] [--calls 20000] [--cycles 500] [--ends 1000] [--tabs 6]
                          [--minutes 30] [--seed 1]

bridge: Chromium runs the server of `tests/browser/servers/everything`, bridged over HTTP in this process, where what is
left can be counted, and over stdio as a program of its own. Official clients of both eras call beside raw ones.
hub: it runs in this process, with a Chromium whose tabs are closed, left, loaded again and crash meanwhile.
chromium, firefox: a page frames a server in a worker, which is ended by calls that compute for ever while other calls
are in flight or wait, and a server with processes; further pages are set up, come, reconnect and go.

It ends with status 1 if an answer was lost or wrong, if anything was left, or if memory grew after a warm-up.
"""
