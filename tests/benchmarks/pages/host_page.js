/** The host page: measures framed servers, all of them through host.js and the official TypeScript client. */
import { Client } from "./mcp-client.js";
import { callEcho, traceEcho } from "./calling.js";
import { FrameTransport } from "./host.js";

const clients = new Map();

async function connect(url) {
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const client = new Client({ name: "benchmark", version: "1.0.0" });
  await client.connect(new FrameTransport({ iframe, url, timeout: 60_000 }));
  return client;
}

/**
 * Frames a view of MCP Apps, and answers `ui/initialize`. `hear` gets each of its messages, the milliseconds since the
 * frame's address was set, and a function that posts to the view. Returns when it was set.
 */
function frameView(url, html, hear) {
  const began = performance.now();
  const iframe = document.createElement("iframe");
  if (html) iframe.srcdoc = html;
  else iframe.src = url;
  addEventListener("message", ({ source, data }) => {
    if (source !== iframe.contentWindow || data?.jsonrpc !== "2.0") return;
    const now = performance.now() - began;
    const post = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
    if (data.method === "ui/initialize") {
      const { protocolVersion } = data.params;
      const hostInfo = { name: "benchmark", version: "1.0.0" };
      post({ id: data.id, result: { protocolVersion, hostInfo, hostCapabilities: {}, hostContext: {} } });
    }
    hear(data, now, post);
  });
  document.body.append(iframe);
  return began;
}

window.bench = {
  /** Milliseconds from setting the frame's `src` to the answer of its first call, and the answer. */
  async start(url, name, args) {
    const began = performance.now();
    const client = await connect(url);
    const connected = performance.now();
    const answer = await client.callTool({ name, arguments: args });
    const answered = performance.now();
    return {
      answer,
      connected: connected - began,
      answered: answered - began,
      epoch: performance.timeOrigin + began,
    };
  },

  /** After a first call, milliseconds to the answer of a further one, at once and once more, and the first of its answers. */
  async further(url, [name, args], [further, given]) {
    const client = await connect(url);
    await client.callTool({ name, arguments: args });
    const times = [];
    const answers = [];
    for (let count = 0; count < 2; count++) {
      const began = performance.now();
      answers.push(await client.callTool({ name: further, arguments: given }));
      times.push(performance.now() - began);
    }
    return { times, answer: answers[0] };
  },

  /** Milliseconds from `connect` to a server that is there to the answer of its first call, and the answer. */
  async prepared(url, name, args) {
    const iframe = document.body.appendChild(document.createElement("iframe"));
    const transport = new FrameTransport({ iframe, url, timeout: 60_000 });
    await transport.prepare();
    const began = performance.now();
    const client = new Client({ name: "benchmark", version: "1.0.0" });
    await client.connect(transport);
    const answer = await client.callTool({ name, arguments: args });
    return { answer, answered: performance.now() - began };
  },

  /** `start` for a view of MCP Apps, and when it called and was ready. `html` is the text of a shim around it. */
  view(url, html, name, args) {
    const times = {};
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`the view has not answered: ${JSON.stringify(times)}`)), 60_000);
      frameView(url, html, (data, now, post) => {
        if (data.method === "ui/initialize") {
          times.called ??= now;
        } else if (data.method === "ui/notifications/initialized") {
          times.initialized = now;
          post({ id: "first", method: "tools/call", params: { name, arguments: args } });
        } else if (data.id === "first" && !data.method) {
          resolve({ ...times, answered: now, answer: data.result });
        }
      });
    });
  },

  /**
   * Milliseconds from setting the frame's address, or the text of the view, until its first paint, until it is ready, and
   * until it has drawn a result: see drawn.js.
   */
  draw(url, html, text) {
    const times = {};
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`the view has drawn nothing: ${JSON.stringify(times)}`)), 60_000);
      const began = frameView(url, html, ({ method, params }, now, post) => {
        if (method === "ui/notifications/initialized") {
          times.initialized = now;
          post({ method: "ui/notifications/tool-input", params: { arguments: { text } } });
          post({ method: "ui/notifications/tool-result", params: { content: [{ type: "text", text }] } });
        } else if (method === "benchmark/painted") {
          times.painted = params.at - performance.timeOrigin - began;
        } else if (method === "benchmark/drawn") {
          Object.assign(times, { drawn: params.at - performance.timeOrigin - began, text: params.text });
        }
        if ("painted" in times && "drawn" in times) resolve(times);
      });
    });
  },

  /** Remove the frames that `start` has made. */
  close() {
    for (const iframe of document.querySelectorAll("iframe")) iframe.remove();
  },

  async open(peer, url) {
    clients.set(peer, await connect(url));
  },

  /** Call `echo` so often with texts of so many characters, so many calls at a time. */
  calls(peer, ...given) {
    return callEcho(clients.get(peer), ...given);
  },

  /** Where the time of so many calls of `echo` goes, outside of the page. */
  trace(peer, ...given) {
    return traceEcho(clients.get(peer), ...given);
  },

  /** The text that a tool without arguments gives. */
  async ask(peer, name, args = {}) {
    const answer = await clients.get(peer).callTool({ name, arguments: args });
    if (answer.isError) throw new Error(answer.content[0].text);
    return answer.content[0].text;
  },
};
