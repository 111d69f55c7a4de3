// OwnSize of fitting.js with pages and hosts that the test makes up: prints the heights that are reported, as JSON.
const { OwnSize } = await import(process.argv[2]);

const WIDTH = 300;
const FIRST = 150;

const HOSTS = {
  exact: (height) => height,
  adds: (height) => height + 20,
  "takes away": (height) => height - 20,
  "at most 500": (height) => Math.min(height, 500),
};
const still = (height) => () => ({ height });
const PAGES = {
  content: still(400),
  "at least 400": (frame) => ({ height: Math.max(400, frame) }),
  fills: () => ({ height: 40, fills: true }),
  "fills, with more content": () => ({ height: 700, fills: true }),
  "collapsed to nothing": still(0),
  "100vh": (frame) => ({ height: frame, follows: true }),
  "100vh with margins": (frame) => ({ height: frame + 16, follows: true }),
  "the frame": (frame) => ({ height: frame }),
  "more than the frame": (frame) => ({ height: frame + 16 }),
  twice: (frame) => ({ height: 2 * frame }),
  "half of it": (frame) => ({ height: Math.floor(frame / 2) + 99 }),
};

/** Returns the heights that a page reports to a host until both are content; null for no end. */
function settled(content, host, wanted) {
  const reports = [];
  const size = new OwnSize((_, height) => reports.push(height), wanted);
  let frame = FIRST;
  for (let round = 0; round < 50; round += 1) {
    const before = reports.length;
    size.measured({ width: WIDTH, frame, fills: false, follows: false, ...content(frame) });
    if (reports.length === before) return reports;
    frame = host(reports.at(-1));
  }
  return null;
}

/** Returns the sizes that are reported for these, each of which is width, height and frame. */
function reported(...sizes) {
  const reports = [];
  const size = new OwnSize((...report) => reports.push(report));
  for (const [width, height, frame, more] of sizes) {
    size.measured({ width, height, frame, fills: false, follows: false, ...more });
  }
  return reports;
}
const range = (length, item) => Array.from({ length }, (_, index) => item(index));
const each = (table, run) => Object.fromEntries(Object.entries(table).map(([name, value]) => [name, run(value)]));
const fills = { fills: true };

console.log(
  JSON.stringify({
    settled: each(PAGES, (page) => each(HOSTS, (host) => settled(page, host))),
    "fill, as its author says": each(HOSTS, (host) => settled(still(40), host, "fill")),
    "a height of its author": each(HOSTS, (host) => settled(still(40), host, 480)),
    changes: reported(
      [300, 400, 150],
      [300, 400, 150],
      [300, 400, 400],
      [200, 600, 400],
      [200, 600, 600],
      [200, 100, 600],
    ),
    "growing with its frame": reported(
      [300, 400, 150],
      ...range(8, (step) => [300, 410 + 10 * step, 400 + 10 * step]),
      [300, 480, 480],
    ),
    "following, then another change": reported(
      ...range(16, (step) => [300, 166 + 16 * step, 150 + 16 * step]),
      [300, 700, 390],
    ),
    "a host that resizes by itself": reported(
      [300, 40, 150, fills],
      [300, 40, 320, fills],
      [300, 40, 900, fills],
      [300, 40, 400, fills],
    ),
    "content after what fills": reported(
      [300, 40, 150, fills],
      [300, 40, 320, fills],
      [300, 120, 320],
      [300, 120, 120],
      [300, 40, 120, fills],
    ),
  }),
);
