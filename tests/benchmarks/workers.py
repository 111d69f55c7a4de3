"""A server in a worker, against the same one in its page; and functions in processes, against one after the other."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import take_turns
from tests.benchmarks.sites import Sites

WORKER, PAGE = "in a worker", "in its page"
_COMPUTES = 2.0  # seconds
_STEPS = 30_000_000  # for seconds
_WAYS = ("side by side", "one after the other")
_AGAIN = 3  # engines optimize Python's loop only after a while, in background threads that need a processor, too

SESSION = """
const session = async (url) => {
  const { FrameTransport } = await import("/host.js");
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const transport = new FrameTransport({ iframe, url, timeout: 120_000 });
  const waiting = new Map();
  transport.onmessage = (message) => waiting.get(message.id)?.(message);
  let last = 0;
  const send = (method, params, more = {}) => transport.send({ jsonrpc: "2.0", method, params, ...more });
  const ask = (method, params) => {
    const id = (last += 1);
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    send(method, params, { id });
    return Object.assign(answered, { id });
  };
  const call = (name, args) => ask("tools/call", { name, arguments: args });
  await transport.start();
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } });
  await send("notifications/initialized", {});
  const close = async () => {
    await transport.close();
    iframe.remove();
  };
  return { ask, call, send, close };
};
"""

_START = f"""async (url) => {{
  {SESSION}
  const began = performance.now();
  const {{ call, close }} = await session(url);
  const answer = await call("add", {{ a: 2, b: 3 }});
  const time = performance.now() - began;
  await close();
  return {{ time, value: answer.result.structuredContent.result }};
}}"""

_BUSY = f"""async ([url, seconds]) => {{
  {SESSION}
  const {{ ask, call, send, close }} = await session(url);
  await call("add", {{ a: 1, b: 1 }});
  let longest = 0;
  let last = performance.now();
  const look = () => {{
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }};
  const timer = setInterval(look, 4);
  const spinning = call("spin", {{ seconds }});
  await new Promise((resolve) => setTimeout(resolve, 200));
  const asked = performance.now();
  await ask("ping", {{}});
  const ping = performance.now() - asked;
  await spinning;
  clearInterval(timer);
  let next = null;
  if (url.endsWith("busy/")) {{
    const endless = call("spin", {{ seconds: 3600 }});
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stopped = performance.now();
    send("notifications/cancelled", {{ requestId: endless.id }});
    await call("add", {{ a: 1, b: 1 }});
    next = performance.now() - stopped - 1000;
  }}
  await close();
  return {{ ping, longest, next }};
}}"""

_TWICE = f"""async ([url, steps, beside]) => {{
  {SESSION}
  const {{ call, close }} = await session(url);
  await call("twice", {{ steps: 1, beside: true }});
  const times = [];
  for (let time = 0; time <= {_AGAIN}; time++) {{
    const answer = await call("twice", {{ steps, beside }});
    times.push(answer.result.structuredContent.result * 1000);
  }}
  await close();
  return times;
}}"""

_BESIDE = f"""async (url) => {{
  {SESSION}
  const {{ call, send, close }} = await session(url);
  await call("away", {{ steps: 1 }});
  const timed = async () => {{
    const began = performance.now();
    await call("add", {{ a: 1, b: 1 }});
    return performance.now() - began;
  }};
  const idle = await timed();
  const endless = call("away", {{ steps: 1e9 }});
  await new Promise((resolve) => setTimeout(resolve, 200));
  const busy = await timed();
  send("notifications/cancelled", {{ requestId: endless.id }});
  await close();
  return [busy, idle];
}}"""

_SECOND = f"""async (url) => {{
  {SESSION}
  const {{ call, close }} = await session(url);
  const answer = await call("second", {{}});
  await close();
  return answer.result.structuredContent.result;
}}"""


def measure_workers(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> Iterator[Figure]:
    """Yield the figures about servers in workers, and about processes."""
    urls = {WORKER: sites.busy.url, PAGE: sites.busy_page.url}
    with browser.profile() as context, host_page(context, sites.host) as host:

        def start(peer: str) -> float:
            found: dict[str, Any] = host.page.evaluate(_START, urls[peer])
            if found["value"] != 5:
                raise BenchmarkError(f"add(2, 3) is {found['value']} {peer}")
            return float(found["time"])

        starts = take_turns((WORKER, PAGE), rounds, start, warm_up=2)
        worker, page = (statistics.median(starts[peer]) for peer in (WORKER, PAGE))
        name = "page start → first answer, in a worker"
        yield Figure(name, "ms", worker, page, PAGE, Goal(ratio=1.05), dict(starts))
        few = max(3, rounds // 3)
        busy = take_turns((WORKER, PAGE), few, lambda peer: host.page.evaluate(_BUSY, [urls[peer], _COMPUTES]))

        firsts: dict[str, list[float]] = {way: [] for way in _WAYS}

        def twice(way: str) -> float:
            first, *later = host.page.evaluate(_TWICE, [sites.busy_page.url, _STEPS, way == _WAYS[0]])
            firsts[way].append(first)
            return float(statistics.median(later))

        answers = [host.page.evaluate(_BESIDE, sites.busy_page.url) for _ in range(few)]
        seconds = [host.page.evaluate(_SECOND, sites.busy_page.url) for _ in range(few)]
        counts = take_turns(_WAYS, few, twice)

    def median(peer: str, what: str) -> float:
        return statistics.median(found[what] for found in busy[peer])

    one, idle = (statistics.median(found) for found in zip(*answers, strict=True))
    process, memory = (statistics.median(found) for found in zip(*seconds, strict=True))
    process, memory = process * 1e3, memory / 1e6
    (beside, after), (first, first_after) = (
        tuple(statistics.median(times[way]) for way in _WAYS) for times in (counts, firsts)
    )
    answered, paused = "a ping's answer while a tool computes", "the host's longest pause meanwhile"
    yield from (
        Figure(answered, "ms", median(WORKER, "ping"), median(PAGE, "ping"), PAGE, Goal(value=50)),
        Figure(paused, "ms", median(WORKER, "longest"), median(PAGE, "longest"), PAGE, Goal(value=50)),
        Figure("a worker's end → the next call's answer", "ms", median(WORKER, "next"), goal=Goal(value=700)),
        Figure("a call's answer while a function computes in a process", "ms", one, idle, "otherwise", Goal(value=100)),
        Figure("a second process → its first answer", "ms", process, goal=Goal(value=150)),
        Figure("its WebAssembly memory", "MB", memory),
        Figure("two functions side by side, the first time", "ms", first, first_after, _WAYS[1]),
        Figure("two functions side by side, from then on", "ms", beside, after, _WAYS[1], Goal(ratio=0.6)),
    )
