/** A host of MCP Apps that a test plays by hand: it answers `ui/initialize` as the test says, and says what it is told to. */

const heard = [];
const waiting = [];
addEventListener("message", ({ source, origin, data }) => {
  const [framed] = document.querySelectorAll("iframe");
  const message = typeof data === "string" && hand.reads ? JSON.parse(data) : data;
  heard.push({ origin, data: message, framed: source === framed?.contentWindow });
  const answers = source === framed?.contentWindow && message?.method ? hand.answers[message.method] : undefined;
  for (const answer of answers ?? []) say({ jsonrpc: "2.0", id: message.id, ...answer });
  for (const wake of waiting.splice(0)) wake();
});

const hand = {
  /** By method, what is answered: objects with a result or an error, of which there may be several, or none. */
  answers: {},
  /** Whether messages are posted as JSON text, as the seed has it. */
  text: false,
  reads: true,

  /** Waits for the first message that a function accepts. */
  async hears(accepts) {
    for (;;) {
      const found = heard.find((each) => accepts(each.data ?? {}));
      if (found) return found.data;
      await new Promise((resolve) => waiting.push(resolve));
    }
  },

  /** Sends a request and waits for its answer. */
  ask(id, method, params) {
    say({ jsonrpc: "2.0", id, method, params });
    return hand.hears((data) => data.id === id && !data.method);
  },
};

function say(message) {
  frames[0].postMessage(hand.text ? JSON.stringify(message) : message, "*");
}

/** Messages that JSON cannot spell. */
const odd = {
  cyclic() {
    const message = { jsonrpc: "2.0", method: "notifications/x", params: {} };
    message.params.self = message;
    return message;
  },
  bigint: () => ({ jsonrpc: "2.0", method: "notifications/x", params: { n: 1n } }),
  map: () => ({ jsonrpc: "2.0", id: 1, method: "ping", params: new Map() }),
};

/** Frames a page. */
function embed(url, sandbox) {
  const iframe = document.createElement("iframe");
  if (sandbox) iframe.sandbox = sandbox;
  iframe.src = url;
  document.body.append(iframe);
}
