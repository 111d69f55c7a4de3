// The host's half of a soak of framed servers: their calls are answered, cancelled and interrupted, each answer is
// checked, and pages come and go. A page of tests/soak/framed.py imports it.
import { FrameTransport } from "./host.js";

const PATIENCE = 110_000; // ms; a WebDriver gives up after 120 s
const TEXTS = [0, 10, 1_000, 100_000];
const NOTE = "text://note";
const LANES = 8;
const CLIENT = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "soak", version: "1" } };

/** The tools that never answer, by how often each is to end the worker: Chromium lets one that computes go on for 2 s. */
const ENDLESS = { spin: 0.3, block: 0.5, limited: 0.2 };

/** Returns a function that returns numbers in [0, 1), always the same for a seed (mulberry32). */
function chances(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not in time: ${what}`)), PATIENCE);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const textOf = (answer) => answer.result?.content?.[0]?.text;

/** What happened since it was last taken. */
class Tally {
  #done = {};
  #lost = [];
  #longest = {};

  count(kind) {
    this.#done[kind] = (this.#done[kind] ?? 0) + 1;
  }

  check(isRight, what, found) {
    if (!isRight) this.#lost.push(`${what}: ${JSON.stringify(found)?.slice(0, 300)}`);
  }

  took(what, began) {
    this.#longest[what] = Math.max(this.#longest[what] ?? 0, performance.now() - began);
  }

  /** Runs a part of the work; an error of it is a lost answer. */
  async run(what, act) {
    try {
      await act();
    } catch (error) {
      this.#lost.push(`${what}: ${error?.message ?? error}`);
    }
  }

  take() {
    const taken = { done: this.#done, lost: this.#lost, longest: this.#longest };
    this.#done = {};
    this.#lost = [];
    this.#longest = {};
    return taken;
  }
}

/** A session with a framed page, over MCP 2025-11-25. */
class Session {
  #transport;
  #tally;
  #calls = new Map();
  #cancelled = new Map();
  #last = 0;
  #updated = [];

  constructor(tally, transport) {
    this.#tally = tally;
    this.#transport = transport;
    transport.onmessage = (message) => this.#take(message);
    transport.onerror = (error) => tally.check(false, "the transport reports", error.message);
  }

  async start() {
    await this.#transport.start();
    await this.ask("initialize", CLIENT).answer();
    await this.#transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return this;
  }

  ask(method, params = {}) {
    this.#last += 1;
    const id = this.#last;
    const began = Promise.withResolvers();
    const done = Promise.withResolvers();
    const what = `${params.name ?? method} ${id}`;
    const call = { id, what, began, done, steps: [], answer: () => within(done.promise, `the answer of ${what}`) };
    this.#calls.set(id, call);
    const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta: { progressToken: id } } };
    this.#transport.send(message).catch(done.reject);
    return call;
  }

  call(name, args = {}) {
    this.#tally.count(`calls: ${name}`);
    return this.ask("tools/call", { name, arguments: args });
  }

  /** Calls a tool that is still at work when this returns. */
  async begin(name, args) {
    const call = this.call(name, args);
    await within(call.began.promise, `the begin of ${call.what}`);
    return call;
  }

  async text(name, args) {
    const answer = await this.call(name, args).answer();
    if (textOf(answer) === undefined) throw new Error(`${name}: ${JSON.stringify(answer).slice(0, 300)}`);
    return textOf(answer);
  }

  /** Cancels a call that cannot be answered any more. */
  cancel(call) {
    this.#calls.delete(call.id);
    this.#cancelled.set(call.id, call.what);
    this.#transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: call.id } });
  }

  /** Waits for the next notification that a resource has changed. */
  updated() {
    return within(new Promise((resolve) => this.#updated.push(resolve)), "the update of a resource");
  }

  /** Forgets the cancelled calls; none of them has been answered. */
  settle() {
    this.#cancelled.clear();
    this.#tally.check(this.#calls.size === 0, "calls without an answer", [...this.#calls.keys()]);
  }

  /** Ends the session; its calls fail. */
  async close() {
    const calls = [...this.#calls.values()];
    await this.#transport.close();
    for (const call of calls) {
      const { error } = await call.answer();
      this.#tally.check(error?.code === -32000, `${call.what} in mid-call`, error);
    }
  }

  #take(message) {
    const { id, method, params } = message;
    if (method === "notifications/progress") {
      const call = this.#calls.get(params.progressToken);
      if (params.message) return; // it waits for the worker
      call?.steps.push(params.progress);
      call?.began.resolve();
    } else if (method === "notifications/resources/updated") {
      for (const resolve of this.#updated.splice(0)) resolve();
    } else if (method) {
      this.#tally.check(method.startsWith("notifications/"), "an unknown request", message);
    } else {
      const call = this.#calls.get(id);
      this.#tally.check(call, `an answer to ${this.#cancelled.get(id) ?? "no call"}`, message);
      this.#calls.delete(id);
      call?.done.resolve(message);
    }
  }
}

/** A session with tests/browser/servers/soaked, which knows what its worker has to have run. */
class WorkerSession {
  #session;
  #tally;
  #chance;
  #marks = 0;
  #runs = [];
  #cancelled = [];
  #began = 0;
  #tools = 0;

  constructor(tally, chance, session) {
    this.#tally = tally;
    this.#chance = chance;
    this.#session = session;
  }

  async begin() {
    await this.#session.ask("resources/subscribe", { uri: NOTE }).answer();
    const listed = await this.#session.ask("tools/list").answer();
    this.#tools = listed.result.tools.length;
    await this.look();
    return this;
  }

  #mark() {
    this.#marks += 1;
    return `mark ${this.#marks}`;
  }

  /** Checks what this worker has run, and returns its state. */
  async look() {
    const until = performance.now() + PATIENCE;
    while (true) {
      const state = JSON.parse(await this.#session.text("state"));
      const found = [[...state.runs].sort(), [...state.cancelled].sort()];
      const wanted = [[...this.#runs].sort(), [...this.#cancelled].sort()];
      const isRight = same(found, wanted);
      if (!isRight && state.cancelled.length < this.#cancelled.length && performance.now() < until) continue; // it will be
      this.#tally.check(isRight, `run and cancelled, wanted ${JSON.stringify(wanted)}`, found);
      this.#tally.check(!this.#began || state.began === this.#began, "a worker of another time", state.began);
      this.#began = state.began;
      return state;
    }
  }

  /** Makes calls that are answered, some side by side, and calls that are cancelled while they wait for something. */
  async burst(calls) {
    let left = calls;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        await this.#tally.run("a call", () => this.#one());
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    await this.look();
    const updated = this.#session.updated();
    await this.#session.text("change");
    await updated;
    this.#session.settle();
  }

  async #one() {
    const choice = this.#chance();
    if (choice < 0.1) {
      const mark = this.#mark();
      const call = await this.#session.begin("hang", { mark });
      this.#cancelled.push(mark);
      this.#session.cancel(call);
    } else if (choice < 0.2) {
      const call = this.#session.call("count", { to: 3 });
      this.#tally.check(textOf(await call.answer()) === "counted to 3", "counted", textOf(await call.answer()));
      this.#tally.check(same(call.steps, [1, 2, 3]), "the progress", call.steps);
    } else if (choice < 0.25) {
      const answer = await this.#session.call("fail", { text: "as it should" }).answer();
      this.#tally.check(answer.result?.isError && textOf(answer).includes("as it should"), "a failure", answer);
    } else if (choice < 0.3) {
      const mark = this.#mark();
      this.#runs.push(mark);
      const text = await this.#session.text("keep", { mark });
      this.#tally.check(text === mark, `kept ${mark}`, text);
    } else {
      const sent = `${this.#mark()} ${"x".repeat(TEXTS[Math.floor(this.#chance() * TEXTS.length)])}`;
      const text = await this.#session.text("echo", { text: sent });
      this.#tally.check(text === sent, `echoed ${sent.slice(0, 20)}`, text.slice(0, 100));
    }
  }

  /** Ends the worker by a call that computes for ever, while another call is at work and further ones wait. */
  async end() {
    const before = await this.look();
    const session = this.#session;
    const choice = this.#chance();
    const tool = choice < ENDLESS.spin ? "spin" : choice < ENDLESS.spin + ENDLESS.block ? "block" : "limited";
    const isLimited = tool === "limited";
    const hung = await session.begin("hang", { mark: this.#mark() });
    const endless = await session.begin(tool);
    const waits = Array.from({ length: 1 + Math.floor(this.#chance() * 4) }, () => {
      const mark = this.#mark();
      return { mark, call: session.call("keep", { mark }), isGivenUp: !isLimited && this.#chance() < 0.4 };
    });
    const listing = session.ask("tools/list");
    const asked = performance.now();
    const pong = await session.ask("ping").answer();
    this.#tally.took("ms until a ping is answered while a tool computes", asked);
    this.#tally.check(same(pong.result, {}), "a ping", pong);
    for (const { call, isGivenUp } of waits) if (isGivenUp) session.cancel(call);
    if (!isLimited) session.cancel(endless);
    const stopped = performance.now();

    if (isLimited) {
      const { error } = await endless.answer();
      const isRight = error?.code === -32001 && same(error.data, { reason: "timeout", mayHaveRun: true });
      this.#tally.check(isRight, "a call over its time limit", error);
    }
    const { error } = await hung.answer();
    const isRight = error?.code === -32000 && same(error.data, { reason: "worker_ended", mayHaveRun: true });
    this.#tally.check(isRight, "a call in flight", error);
    this.#runs = waits.filter(({ isGivenUp }) => !isGivenUp).map(({ mark }) => mark);
    this.#cancelled = [];
    this.#began = 0;
    for (const { mark, call, isGivenUp } of waits) {
      if (isGivenUp) continue;
      const answer = await call.answer();
      this.#tally.check(textOf(answer) === mark, `${mark} waited`, answer);
    }
    const listed = await listing.answer();
    this.#tally.check(listed.result?.tools.length === this.#tools, "the tools", listed);
    const after = await this.look();
    this.#tally.took("ms from a stop to the answers of the next worker, the grace period included", stopped);
    this.#tally.check(after.began !== before.began, "the same worker", after.began);
    this.#tally.check(same(after.runs, this.#runs), "run in another order", after.runs);
    const updated = session.updated();
    await session.text("change");
    await updated;
    session.settle();
    this.#tally.count(`worker ends: ${tool}`);
  }

  /** Calls a tool that computes for ever, and leaves it. */
  async leave() {
    await this.#session.begin("block");
    await this.#session.close();
  }

  close() {
    return this.#session.close();
  }
}

/** A session with tests/browser/servers/pooled, whose functions run in workers. */
async function work(session, tally, chance) {
  const numbers = Array.from({ length: 3 }, () => Math.floor(chance() * 1000));
  const answer = await session.call("squares", { numbers }).answer();
  const squares = numbers.map((number) => number * number);
  tally.check(same(answer.result?.structuredContent?.result, squares), `squares of ${numbers}`, answer);
}

async function endProcess(session, tally, chance) {
  const endless = session.call("spin");
  await work(session, tally, chance);
  session.cancel(endless);
  await work(session, tally, chance);
  session.settle();
  tally.count("worker ends: a process");
}

/** All the work on the servers at two addresses, with a page of each that stays. */
export class Soak {
  #tally = new Tally();
  #chance;
  #urls;
  #worker;
  #pooled;

  /**
   * @param {{ soaked: string, pooled: string }} urls
   * @param {number} seed
   */
  constructor(urls, seed) {
    this.#urls = urls;
    this.#chance = chances(seed);
  }

  #transport(url, iframe = document.body.appendChild(document.createElement("iframe"))) {
    return new FrameTransport({ iframe, url, timeout: PATIENCE, unresponsiveAfter: Infinity });
  }

  async #workerSession(transport) {
    const session = await new Session(this.#tally, transport).start();
    return new WorkerSession(this.#tally, this.#chance, session).begin();
  }

  async begin() {
    this.#worker = await this.#workerSession(this.#transport(this.#urls.soaked));
    if (this.#urls.pooled) {
      this.#pooled = await new Session(this.#tally, this.#transport(this.#urls.pooled)).start();
    }
  }

  /** Makes calls, ends workers, and lets pages come and go, as often as told; returns what happened. */
  async work({ calls = 0, ends = 0, processes = 0, cycles = 0 }) {
    if (calls) await this.#tally.run("calls", () => this.#worker.burst(calls));
    for (let done = 0; done < ends; done++) await this.#tally.run("a worker's end", () => this.#worker.end());
    for (let done = 0; done < processes; done++) {
      await this.#tally.run("a process's end", () => endProcess(this.#pooled, this.#tally, this.#chance));
    }
    for (let done = 0; done < cycles; done++) await this.#tally.run("a page that comes and goes", () => this.#cycle());
    return this.#tally.take();
  }

  /** Returns the memory of the worker that stays. */
  async memory() {
    return (await this.#worker.look()).memory;
  }

  async #cycle() {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    const kinds = ["set up", "loaded again", "reconnected", "left in mid-call", "with processes"];
    const kind = kinds[Math.floor(this.#chance() * (this.#pooled ? kinds.length : kinds.length - 1))];
    try {
      if (kind === "with processes") {
        const session = await new Session(this.#tally, this.#transport(this.#urls.pooled, iframe)).start();
        await endProcess(session, this.#tally, this.#chance);
        await session.close();
      } else {
        await this.#come(kind, iframe);
      }
    } finally {
      iframe.remove();
    }
    this.#tally.count(`cycles: ${kind}`);
  }

  async #come(kind, iframe) {
    const transport = this.#transport(this.#urls.soaked, iframe);
    if (kind === "set up") {
      const result = await transport.setup();
      this.#tally.check(result.title === "Soaked" && !result.error, "a setup", result);
    }
    const session = await this.#workerSession(transport);
    await session.burst(LANES);
    if (kind === "left in mid-call") return session.leave();
    await session.close();
    if (kind === "set up") return;
    const next = kind === "reconnected" ? this.#transport(this.#urls.soaked, iframe) : transport.reload();
    const again = await this.#workerSession(next);
    await again.burst(LANES);
    await again.close();
  }
}
