// The stories of hub_tabs/dialing.json on hub-port.js, in Node: a tab's browser that notes what a port does with it.
// usage: node dialing_in_node.mjs URL_OF_APP_PORT_JS STORIES RESULTS: files; the result of a story is the outcome of each step
import { readFileSync, writeFileSync } from "node:fs";

const [appPort, storiesFile, resultsFile] = process.argv.slice(2);
const APP = "shop";
const PREFIX = `mcpframe-hub:${APP}`;
let stage;

class Stage {
  now = 0;
  timers = new Map();
  channels = [];
  locks = [];
  outcome = [];
  ids = new Map();

  /** Notes something, with `P1` for the id of the first port. */
  note(what) {
    const text = JSON.stringify(what).replaceAll(`${PREFIX}:`, "").replaceAll(PREFIX, "directory");
    const short = (id) => {
      if (!this.ids.has(id)) this.ids.set(id, `P${this.ids.size + 1}`);
      return this.ids.get(id);
    };
    this.outcome.push(JSON.parse(text.replaceAll(/[0-9a-f]{32}/g, short)));
  }

  full(name) {
    for (const [id, short] of this.ids) name = name.replaceAll(short, id);
    return name === "directory" ? PREFIX : `${PREFIX}:${name}`;
  }

  pass(milliseconds) {
    const end = this.now + milliseconds;
    for (;;) {
      const [first] = [...this.timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
      if (!first) break;
      this.timers.delete(first[0]);
      this.now = first[1].at;
      first[1].call();
    }
    this.now = end;
  }
}

let timers = 0;
globalThis.setTimeout = (call, milliseconds) => {
  stage.timers.set(++timers, { call, at: stage.now + milliseconds });
  return timers;
};
globalThis.clearTimeout = (timer) => stage.timers.delete(timer);
globalThis.location = { origin: "https://app.example", href: "https://app.example/" };
globalThis.name = "mine";
globalThis.sessionStorage = {
  getItem: () => stage.remembered,
  setItem: (_, value) => stage.note({ remembers: value }),
};
globalThis.BroadcastChannel = class {
  isOpen = true;
  constructor(name) {
    this.name = name;
    stage.channels.push(this);
  }
  postMessage(text) {
    stage.note({ to: this.name, posts: text[0] === "m" ? text : JSON.parse(text[0] === "c" ? text.slice(1) : text) });
  }
  close() {
    this.isOpen = false;
  }
};
const locks = {
  request(name, { mode, signal }, held) {
    const lock = { name, held, over: false };
    stage.locks.push(lock);
    stage.note({ asks: name, shared: mode === "shared" });
    signal.addEventListener("abort", () => {
      if (!lock.over) stage.note({ releases: name });
      lock.over = true;
    });
    return new Promise((_, reject) => (lock.deny = reject));
  },
};
Object.defineProperty(globalThis, "navigator", { value: { locks } });

const { Port } = await import(appPort);

async function play({ kind, remembered = null, steps }) {
  stage = new Stage();
  stage.remembered = remembered;
  const port = new Port(APP, kind, {
    onOpen: () => stage.note({ event: "open" }),
    onLost: () => stage.note({ event: "lost" }),
    onUnresponsive: () => stage.note({ event: "unresponsive" }),
    onMessage: (said) => stage.note({ event: "message", said }),
    onControl: (said) => stage.note({ event: "control", said }),
  });
  const outcomes = [];
  for (const step of steps) {
    stage.outcome = [];
    if (step.do) port[step.do]();
    else if ("posts" in step) stage.note({ posted: port.post(step.posts) });
    else if ("passes" in step) stage.pass(step.passes * 1000);
    else if ("hears" in step) {
      const mark = step.on === "directory" ? "" : "c";
      const data = typeof step.hears === "string" ? step.hears : mark + JSON.stringify(step.hears);
      const [channel] = stage.channels.filter((each) => each.name === stage.full(step.on) && each.isOpen);
      channel.onmessage({ origin: location.origin, data });
    } else {
      const name = stage.full(step.grants ?? step.denies);
      const [lock] = stage.locks.filter((each) => each.name === name && !each.over);
      if (step.grants) lock.held();
      else {
        lock.over = true;
        lock.deny(new Error("not granted"));
        await new Promise(setImmediate);
      }
    }
    outcomes.push(stage.outcome);
  }
  return outcomes;
}

const results = [];
for (const story of JSON.parse(readFileSync(storiesFile, "utf8"))) results.push(await play(story));
writeFileSync(resultsFile, JSON.stringify(results));
