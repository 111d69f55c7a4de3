// liveness.js with a clock of the test's own: prints what happened, as JSON.
const { Alive } = await import(process.argv[2]);

let now = 0;
let timers = [];
globalThis.performance = { now: () => now };
globalThis.setTimeout = (run, after) => timers.push({ run, at: now + after }) && timers.at(-1);
globalThis.clearTimeout = (timer) => (timers = timers.filter((each) => each !== timer));
function pass(milliseconds) {
  const end = now + milliseconds;
  for (;;) {
    const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
    if (!due) break;
    now = due.at;
    clearTimeout(due);
    due.run();
  }
  now = end;
}

function page(after = 10) {
  const events = [];
  const it = { events, waiting: false };
  it.alive = new Alive({
    after,
    id: "ours",
    waits: () => it.waiting,
    ask: ({ id, method }) => events.push(`${method} ${id}`),
    tell: (silent) => events.push(silent),
  });
  it.request = () => {
    it.waiting = true;
    it.alive.expect();
  };
  return it;
}

const idle = page();
idle.alive.heard({ method: "a" });
const timersOfIdle = timers.length;
pass(1000);

const busy = page();
busy.request();
for (let round = 0; round < 10; round += 1) {
  pass(9);
  busy.alive.heard({ method: "notifications/progress" });
}
busy.waiting = false;
pass(1000);

const answering = page();
answering.request();
pass(15);
const swallowed = answering.alive.heard({ id: "ours", error: {} });
const others = answering.alive.heard({ id: 1, result: {} });
answering.waiting = false;
pass(1000);

const silent = page();
silent.request();
pass(1000);
const told = [...silent.events];
silent.alive.heard({ id: "ours", result: {} });
silent.alive.stop();

const cancelled = page(10_000);
cancelled.request();
cancelled.waiting = false;
cancelled.alive.doubt();
pass(999);
const before = [...cancelled.events];
pass(10_001);

const spared = page(10_000);
spared.alive.doubt();
pass(1_000);
spared.alive.heard({ id: "ours", result: {} });
pass(1e6);

const never = page(Infinity);
never.request();
never.alive.doubt();
pass(1e6);

console.log(
  JSON.stringify({
    idle: [timersOfIdle, ...idle.events],
    busy: busy.events,
    answering: [...answering.events, swallowed, others],
    told,
    silent: silent.events,
    cancelled: [before, cancelled.events],
    spared: spared.events,
    never: never.events,
    left: timers.length,
  }),
);
