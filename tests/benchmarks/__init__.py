"""The benchmark: `python3 build.py bench`, or `python -m tests.benchmarks`. It is no test: nothing here fails by time.

Each figure is measured beside a peer, in the same run and in the same way:

- A headless Chromium, a host page on one site and the framed pages on others (names under `localhost`, so that every
  frame has a process of its own, as on the web), all from loopback servers. The host page speaks to all of them alike:
  `static/host/host.js` and the official TypeScript client.
- The peers take turns (A B A B ...), so that whatever slows the machine meanwhile slows both. Every peer is warmed up
  before anything counts. Figures are medians; a 99th percentile is given from 500 samples on.
- Every answer is compared with what it has to be. A wrong one ends its part with an error. A start whose bytes were not
  all counted is made again.
- Time is `performance.now()` of the host page, which Chromium rounds to 0.1 ms. What is too short for that is measured
  in batches as well.

The peer of the start is the same server started the stock way: Pyodide's own files, `loadPackage` of every wheel of the
same lock, all compiled. The peer of the calls is a server with the official TypeScript SDK in a frame. A view has
two peers: the same with the App SDK of MCP Apps, in JavaScript, and the same started the stock way. The peer of a
server in a worker is the same one in its page. The start is measured in WebKitGTK, too.

`--against CHECKOUT` measures the bundles of another checkout beside those of this one, to see what a change costs.

Each figure is printed and kept in a file as soon as it is known: parts that were measured one by one make one table. At
the end the lines are named during which others used the machine. A figure that misses its goal is reported as such.
"""
