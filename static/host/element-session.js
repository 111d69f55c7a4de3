/** One session of `<mcp-server>`: host.js' transport, and the official client, which is loaded with the first session. */

/** @import { Client, ElicitRequestParams, ElicitResult, RequestOptions, Tool } from "@modelcontextprotocol/client" */
/** @import { FrameTransport, SetupRequest } from "./host.js" */

/** Calls have a button that stops them instead of a deadline: the longest that timers take, in milliseconds. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * What is reported while the session lasts.
 * @typedef {object} Reports
 * @property {(text: string) => void} onstatus What happens, for the user.
 * @property {(tools: Tool[]) => void} ontools The tools are others now.
 * @property {(unresponsive: boolean) => void} onunresponsive As that of `FrameTransport`.
 * @property {(request: SetupRequest) => void} onsetuprequired As that of `FrameTransport`.
 * @property {(params: ElicitRequestParams, signals: AbortSignal[]) => Promise<ElicitResult>} onask The server asks its
 *   user; each signal takes the question back.
 * @property {(error: Error) => void} onover The open session has ended, and not by `end()`.
 */

export class Session {
  /** @type {FrameTransport | null} */
  transport = null;
  /** Null until it is connected. @type {Client | null} */
  client = null;
  /** Whether the page's setup has succeeded here. */
  setUp = false;
  /** What the setup says to the user. */
  notice = "";
  #ending = new AbortController();
  #reports;

  /** @param {Reports} reports */
  constructor(reports) {
    this.#reports = reports;
  }

  /**
   * Connect.
   * @param {(Transport: typeof FrameTransport) => FrameTransport} made returns the transport
   * @param {boolean} setsUp whether the page's setup comes first
   * @returns {Promise<Tool[]>} the server's tools
   */
  async open(made, setsUp) {
    const { signal } = this.#ending;
    const { Client, FrameTransport } = await import("./bundled.js");
    signal.throwIfAborted();
    const transport = made(FrameTransport);
    this.transport = transport;
    signal.addEventListener("abort", () => void transport.close());
    this.#follow(transport);
    if (setsUp) {
      this.#reports.onstatus("Setting up…");
      const { error, ephemeralMessage = "" } = await transport.setup({ signal });
      if (error) throw new Error(error.message || error.code);
      this.setUp = true;
      this.notice = ephemeralMessage;
    }
    this.#reports.onstatus("Starting…");
    const onChanged = (_, tools) => tools && !signal.aborted && this.#reports.ontools(tools);
    const client = new Client(
      { name: "mcp-server-element", version: "1.0.0" },
      { listChanged: { tools: { onChanged } }, capabilities: { elicitation: { form: {}, url: {} } } },
    );
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
      this.#reports.onask(params, [signal, mcpReq.signal]),
    );
    await client.connect(transport);
    signal.throwIfAborted();
    let reason = "The server's page has ended.";
    client.onerror = ({ name, message }) => {
      if (name === "PeerGone") reason = message;
    };
    client.onclose = () => signal.aborted || this.#reports.onover(new Error(reason));
    const tools = client.getServerCapabilities()?.tools ? (await client.listTools()).tools : [];
    signal.throwIfAborted();
    this.client = client;
    return tools;
  }

  /**
   * Call a tool.
   * @param {string} name
   * @param {Record<string, unknown>} args
   * @param {RequestOptions} options
   */
  async call(name, args, options) {
    if (!this.client) throw new Error("The server is not connected.");
    return this.client.callTool({ name, arguments: args }, { ...options, timeout: NO_TIMEOUT });
  }

  /** End the session, or its start. */
  end() {
    this.#ending.abort(new DOMException("The server was closed.", "AbortError"));
  }

  #follow(transport) {
    const { signal } = this.#ending;
    const unlessEnded = (report) => (value) => signal.aborted || report(value);
    transport.onhint = unlessEnded(this.#reports.onstatus);
    transport.onunresponsive = unlessEnded(this.#reports.onunresponsive);
    transport.onsetuprequired = unlessEnded(this.#reports.onsetuprequired);
  }
}
