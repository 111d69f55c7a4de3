/**
 * `<mcp-server src="https://tools.example/pi-calculator/">`: a framed server in any page, with its tools as forms.
 *
 *     <script type="module" src="element.js"></script>
 *     <mcp-server src="https://tools.example/pi-calculator/"></mcp-server>
 *
 * It is built on the public names of host.js, and on the official client, which it loads with the first server that
 * starts. Texts of servers are text, never HTML.
 *
 *     state     what has happened                                        next state
 *     idle      the user's click, its place in view, or start()          loading
 *     loading   the server is connected, and its tools are listed        ready
 *     loading   an error, or the deadline                                failed
 *     ready     the page ends, or needs its setup again to go on         failed
 *     failed    the button "Start again", or start()                     loading
 *     any       `src` changes, or the element moves, once started        loading
 *     any       the element is removed, or close()                       idle
 *
 * It needs a browser of 2024 or later.
 */

import { Attributes, adoptProperties } from "./element-attributes.js";
import { Session } from "./element-session.js";
import { View } from "./element-view.js";
import { tools } from "./tools.js";
import { visible } from "./visible.js";

/** @import { CallToolResult, Client, Tool } from "@modelcontextprotocol/client" */
/** @import { FrameTransportOptions } from "./host.js" */

/** How long a page may take for its handshake, and then to start, in milliseconds: phones are slow. */
const START_TIMEOUT = 90_000;

/**
 * A framed MCP server: its page, its tools as forms, and their results.
 *
 * @tagname mcp-server
 *
 * @attribute {string} src - The address of the server's page, http or https. Once started, another address restarts it.
 * @attribute {"interaction" | "visible" | "eager"} [loading="interaction"] - When the server starts: at a click on its
 *   button, as soon as the element is in view, or at once. A server that runs takes some 250 MB of memory.
 * @attribute {string} [show="page tools"] - What is shown: `page`, `tools`, or both.
 * @attribute {string} label - The server's name until it says its own.
 * @attribute {string} [permissions] - The Permissions Policy features that its page is granted, separated by spaces.
 * @attribute {string} [sandbox="standard"] - A name of `SANDBOX` of host.js, or the text of the iframe's attribute.
 * @attribute {boolean} [opaque] - The sandbox takes away the page's origin. Whatever is in the frame reads what is posted.
 * @attribute {boolean} [setup] - Run the server's setup before its first session.
 *
 * @fires {CustomEvent<{ client: Client, tools: Tool[] }>} mcp-ready - The server is connected, and its tools are listed.
 * @fires {CustomEvent<{ name: string, arguments: Record<string, unknown>, result: CallToolResult }>} mcp-result - A tool
 *   that was called by its form has answered, with an error or without.
 * @fires {CustomEvent<{ error: Error, name?: string }>} mcp-error - The server does not start, its page has ended, or the
 *   call of the tool `name` failed.
 *
 * @slot - What is shown until the server starts, such as a picture.
 *
 * @csspart bar - The line with the status and the buttons.
 * @csspart status - What the server does, for screen readers, too.
 * @csspart start - The button that starts the server, or starts it again.
 * @csspart setup - The button that runs its setup.
 * @csspart page - The iframe with the server's page.
 * @csspart tools - All tools.
 * @csspart tool - One tool.
 * @csspart tool-name - The line that opens and closes a tool.
 * @csspart description - A tool's description.
 * @csspart form - A tool's form.
 * @csspart field - One argument with its label.
 * @csspart label - An argument's label.
 * @csspart input - An argument's control.
 * @csspart hint - An argument's description.
 * @csspart problem - What is wrong with an argument.
 * @csspart button - A button of a tool or a question: `call`, `stop`, `send`, `open` or `decline`, too.
 * @csspart call - The button that calls a tool.
 * @csspart stop - The button that stops a call.
 * @csspart questions - The question that the server asks its user in a call.
 * @csspart question - One question.
 * @csspart asker - The server that asks.
 * @csspart address - The address that it asks the user to open.
 * @csspart send - The button that sends an answer.
 * @csspart open - The link that opens the address.
 * @csspart decline - The button that declines.
 * @csspart progress - The progress of a call.
 * @csspart message - What a call says of its progress.
 * @csspart result - A tool's result.
 * @csspart failed - A result that is an error.
 *
 * @cssprop [--mcp-server-background=light-dark(#fff, #16181b)] - The background.
 * @cssprop [--mcp-server-text=light-dark(#1d2126, #e8eaed)] - Texts.
 * @cssprop [--mcp-server-quiet=light-dark(#5b636d, #a0a8b2)] - The status and descriptions of arguments.
 * @cssprop [--mcp-server-line=light-dark(#dde0e4, #343a41)] - Lines between the parts.
 * @cssprop [--mcp-server-edge=light-dark(#858c95, #767e88)] - Edges of controls and buttons.
 * @cssprop [--mcp-server-accent=light-dark(#2557b8, #8fb4ff)] - The main buttons and the focus.
 * @cssprop [--mcp-server-on-accent=light-dark(#fff, #16181b)] - Texts on the accent.
 * @cssprop [--mcp-server-error=light-dark(#a3261b, #ff9d92)] - Errors.
 * @cssprop [--mcp-server-inset=light-dark(#f0f1f3, #202429)] - The background of results.
 * @cssprop [--mcp-server-radius=6px] - Corners.
 * @cssprop [--mcp-server-font=15px/1.5 system-ui, sans-serif] - The font.
 * @cssprop [--mcp-server-page-height=24rem] - The height of the server's page.
 * @cssprop [--mcp-server-result-height=24rem] - The largest height of a result, which is scrolled.
 *
 * @cssState idle - Not started.
 * @cssState loading - Starting, or in its setup.
 * @cssState ready - Connected.
 * @cssState failed - It did not start, or its page has ended.
 */
export class McpServerElement extends Attributes {
  static observedAttributes = ["src", "loading", "show", "label"];

  #internals;
  #state = "idle";
  /** Whether it was started, so that it starts again where it is moved to. */
  #started = false;
  /** The session's id for the server's storage: a secret between this page and that of `src`. @type {string | undefined} */
  #sessionId;
  /** Whether the page needs no setup any more. */
  #isSetUp = false;
  /** @type {Session | null} */
  #session = null;
  /** @type {Promise<Client> | null} */
  #opening = null;
  /** @type {IntersectionObserver | undefined} */
  #seen;
  #view;

  constructor() {
    super();
    this.#internals = this.attachInternals();
    this.#internals.role = "group";
    this.#view = new View(this.attachShadow({ mode: "open" }), {
      start: () => this.#reported(this.restart()),
      setup: () => this.#reported(this.setup()),
      call: this.#call.bind(this),
    });
  }

  // ---- the session

  /** The state: "idle", "loading", "ready" or "failed". */
  get state() {
    return this.#state;
  }

  /** The official client, while the server is ready; null otherwise. */
  get client() {
    return this.#state === "ready" ? this.#session.client : null;
  }

  /**
   * The server's tools as functions, as `tools()` of `@mcpframe/host/tools` returns them. A call starts the server first.
   */
  get tools() {
    return tools({ callTool: async (...call) => (await this.start()).callTool(...call) });
  }

  /**
   * The id under which the server's page stores its values. To resume what was stored, set it after `src`, and before the
   * start. Another `src` forgets it. It is a secret between this page and the server's: no attribute shows it.
   */
  get sessionId() {
    return this.#sessionId;
  }
  set sessionId(value) {
    this.#sessionId = value;
    this.#isSetUp = value !== undefined;
  }

  /**
   * Start the server, unless it runs.
   * @returns {Promise<Client>} its client, once it is ready
   * @throws {Error} the reason why it does not start; the event `mcp-error` has it, too
   */
  async start() {
    return this.#opening ?? this.restart();
  }

  /**
   * Start the server anew: its page is loaded again, under the same session id.
   * @returns {Promise<Client>} as `start`
   * @throws {Error} as `start`
   */
  async restart() {
    return this.#open(this.hasAttribute("setup") && !this.#isSetUp);
  }

  /**
   * Run the server's setup, and start it anew.
   * @returns {Promise<Client>} as `start`
   * @throws {Error} as `start`; or the setup failed
   */
  async setup() {
    return this.#open(true);
  }

  /** Stop all calls of tools. The session goes on. */
  stop() {
    this.#view.stop();
    this.#session?.transport?.stop();
  }

  /** End the session, and remove the server's page. */
  close() {
    this.#started = false;
    this.#end();
  }

  // ---- the browser's calls

  connectedCallback() {
    adoptProperties(this, ["sessionId"]);
    this.#rename();
    this.#startAsSaid();
  }

  /** A move that keeps the iframe's page (`moveBefore`) keeps the session. */
  connectedMoveCallback() {}

  disconnectedCallback() {
    this.#seen?.disconnect();
    this.#end();
  }

  attributeChangedCallback(name, before, now) {
    if (before === now) return;
    if (name === "src") {
      this.#end();
      this.#sessionId = undefined; // of the page at the other address
      this.#isSetUp = false;
    }
    if (name === "show") this.#showParts();
    this.#rename();
    if (this.isConnected) this.#startAsSaid();
  }

  /** Start now, or when `loading` says. */
  #startAsSaid() {
    this.#seen?.disconnect();
    if (this.#state !== "idle" || !this.src) return;
    if (this.#started || this.loading === "eager") return this.#reported(this.start());
    if (this.loading !== "visible") return;
    this.#seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      this.#seen.disconnect();
      this.#reported(this.start());
    });
    this.#seen.observe(this);
  }

  /** What fails is in the status, and in `mcp-error`. @param {Promise<unknown>} promise */
  #reported(promise) {
    promise.catch(() => {});
  }

  // ---- one session

  /** @param {boolean} setsUp */
  #open(setsUp) {
    const earlier = this.#session?.transport;
    this.#leave();
    this.#started = true;
    const session = new Session({
      onstatus: (text) => this.#view.say(text),
      ontools: (tools) => this.#view.list(tools),
      onunresponsive: (silent) => this.#view.unresponsive(silent),
      onsetuprequired: ({ message, canContinue }) => this.#view.offerSetup(message, !canContinue),
      onask: (params, signals) =>
        this.#view.ask(params, { name: this.#name, origin: new URL(this.src).origin }, signals),
      onover: (error) => this.#fail(error),
    });
    this.#session = session;
    this.#enter("loading", "Starting…");
    this.#opening = this.#connect(session, earlier, setsUp);
    return this.#opening;
  }

  async #connect(session, earlier, setsUp) {
    try {
      if (!this.isConnected) throw new DOMException("The element is not in the document.", "InvalidStateError");
      if (!this.src) throw new DOMException("The element has no src.", "InvalidStateError"); // else its own page's address
      const listed = await session.open((Transport) => earlier?.reload() ?? new Transport(this.#options()), setsUp);
      const { client, notice } = session;
      this.#remember();
      this.#view.list(listed);
      this.#enter("ready", notice || `Ready: ${listed.length} ${listed.length === 1 ? "tool" : "tools"}.`);
      fire(this, "mcp-ready", { client, tools: listed });
      return client;
    } catch (error) {
      if (this.#session === session) this.#fail(error);
      throw error;
    }
  }

  /** The options of a new transport, and an iframe for it. @returns {FrameTransportOptions} */
  #options() {
    const { src: url, sandbox, opaque } = this;
    const shown = this.#shows("page");
    const iframe = this.#view.frame(shown);
    this.#rename();
    const permissions = this.permissions.split(/\s+/).filter(Boolean);
    const sessionId = opaque ? undefined : this.#sessionId;
    const visibility = shown ? "required" : "hidden";
    return { iframe, url, sandbox, opaque, permissions, visibility, sessionId, timeout: START_TIMEOUT };
  }

  /** The session did not start, or has ended by itself. */
  #fail(error) {
    this.#leave();
    this.#enter("failed", error.message);
    fire(this, "mcp-error", { error });
  }

  /** Keep what the next session of the same page needs. */
  #remember() {
    const { transport, setUp } = this.#session ?? {};
    if (transport && !this.opaque) this.#sessionId = transport.frameSessionId;
    this.#isSetUp ||= setUp ?? false;
  }

  /** End the session; its page stays. */
  #leave() {
    this.#remember();
    this.#view.stop();
    this.#session?.end();
    this.#opening = null;
  }

  /** End the session, and remove its page. */
  #end() {
    this.#leave();
    this.#session = null;
    this.#view.clear();
    this.#enter("idle", "");
  }

  async #call(name, args, options) {
    try {
      const result = await this.#session.call(name, args, options);
      fire(this, "mcp-result", { name, arguments: args, result });
      return result;
    } catch (error) {
      if (!options.signal.aborted) fire(this, "mcp-error", { error, name });
      throw error;
    }
  }

  // ---- what is shown

  #shows(part) {
    return this.show.split(/\s+/).includes(part);
  }

  #enter(state, text) {
    this.#state = state;
    this.#internals.states.clear();
    this.#internals.states.add(state);
    this.#view.enter(state, text);
    this.#rename();
    this.#showParts();
  }

  get #name() {
    const server = this.#session?.client?.getServerVersion();
    return server?.title || server?.name || this.label || this.src || "MCP server";
  }

  #rename() {
    const name = this.#name;
    this.#internals.ariaLabel = visible(name);
    this.#view.rename(name, this.#state !== "idle", Boolean(this.src));
  }

  #showParts() {
    this.#view.showTools(this.#shows("tools"));
    const transport = this.#state === "ready" && this.#session.transport;
    if (transport && this.#shows("page") !== transport.visible) transport[transport.visible ? "hide" : "show"]();
  }
}

/** Dispatch an event that leaves shadow trees. */
function fire(element, name, detail) {
  element.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
}

if (globalThis.customElements && !customElements.get("mcp-server"))
  customElements.define("mcp-server", McpServerElement);
