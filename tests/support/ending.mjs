// ending.js with timers and errors of the test's own: prints what it says of Pythons that answer sooner or later, as JSON.
const { Ending } = await import(process.argv[2]);

let timers = [];
let listeners = [];
globalThis.setTimeout = (run) => timers.push(run);
globalThis.addEventListener = (kind, listener) => kind === "error" && listeners.push(listener);
const settled = async () => {
  for (let round = 0; round < 20; round += 1) await null;
};

/** What is said of a Python that answers after so many turns, each of which may have been a long computation. */
async function said(turns, answer) {
  const ends = [];
  [timers, listeners] = [[], []];
  const ending = new Ending((title) => ends.push(title));
  let answered;
  ending.watchErrors(new Promise(() => {}), () => new Promise((resolve) => (answered = resolve)));
  listeners[0]();
  await settled();
  for (let turn = 0; turn < 30; turn += 1) {
    if (turn === turns) answered(answer);
    await settled();
    const due = timers;
    timers = [];
    for (const run of due) run();
    await settled();
  }
  return ends;
}

console.log(
  JSON.stringify({
    soon: await said(0, true),
    busy: await said(5, true),
    not: await said(0, false),
    never: await said(99),
  }),
);
