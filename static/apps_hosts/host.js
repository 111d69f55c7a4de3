/**
 * A host of MCP Apps with the behaviour of a profile (`HostProfile`): shows a tool call in its view, and observes the
 * outcome. Playwright evaluates this file in a page of its own; `probe.js` runs in the frames.
 *
 * `sandboxUrl` is the sandbox proxy on another origin, `sandbox` the attribute of the view's frame in it, and `html` the
 * text of the view. The policy is in the header of the proxy's page and in that text.
 */
({ sandboxUrl, sandbox, html, isHidden, isEarly, context }) => {
  const VERSIONS = ["2026-01-26", "2025-11-21"];
  const CAPABILITIES = { openLinks: {}, message: { text: {} }, updateModelContext: { text: {} }, logging: {} };
  /** Time limits in ms for a view whose Python runs: to show a result, to stop changing, and to end. */
  const REACTING = 5_000;
  const QUIET = 250;
  const LONGEST = 2_000;
  const ENDING = 2_000;
  const ENDED = "mcpframe/teardown";
  const ANSWERS = {
    ping: () => ({}),
    "ui/open-link": () => ({}),
    "ui/message": () => ({}),
    "ui/update-model-context": () => ({}),
    "ui/request-display-mode": () => ({ mode: "inline" }),
  };

  const sandboxOrigin = new URL(sandboxUrl).origin;
  const now = () => performance.timeOrigin + performance.now();
  const squeezed = (text) => text.replace(/\s+/g, " ").trim();

  /** One view in its frame, from its start to its end. */
  class Shown {
    constructor(call, within) {
      this.call = call;
      this.text = squeezed(call.result?.content.find(({ type }) => type === "text")?.text ?? "").slice(0, 80);
      this.start = now();
      this.times = {};
      this.violations = new Set();
      this.standIn = new Map(); // the text of a stand-in, by window
      this.drawn = new Map(); // the time of the last report that the author's page has content, by window
      this.starting = new Map(); // whether its Python is yet to run, by window
      this.told = null; // when the result was posted
      this.heard = null;
      this.changes = [];
      this.heights = []; // as reported
      this.frame = document.createElement("iframe");
      this.frame.title = "Sandbox";
      this.frame.style.cssText = `display: block; width: 100%; height: ${call.height ?? 200}px; border: 0`;
      if (isHidden) this.frame.style.visibility = "hidden";
      this.frame.src = sandboxUrl;
      this.initialized = new Promise((resolve) => (this.onInitialized = resolve));
      this.over = new Promise((resolve) => (this.finish = resolve));
      this.ended = new Promise((resolve) => (this.onEnded = resolve));
      setTimeout(this.finish, within);
      addEventListener("message", (event) => this.onMessage(event));
      document.body.append(this.frame);
      this.frame.scrollIntoView(); // browsers draw no frame that is out of sight
    }

    post(message) {
      this.frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, sandboxOrigin);
    }

    note(step) {
      this.times[step] ??= now() - this.start;
    }

    onMessage({ source, origin, data }) {
      if (data?.mcpframeProbe) {
        if (this.contains(source)) this.onSeen(source, data.mcpframeProbe);
      } else if (source === this.frame.contentWindow && origin === sandboxOrigin && data?.jsonrpc === "2.0") {
        this.onView(data);
      }
    }

    /** Returns whether a window is a frame of the view: below the sandbox proxy. */
    contains(page) {
      while (page && page !== page.parent && page.parent !== this.frame.contentWindow) page = page.parent;
      return Boolean(page) && page.parent === this.frame.contentWindow;
    }

    /** @param {any} message of the view */
    onView({ id, method, params = {}, result, error }) {
      if (method === undefined) {
        if (id === ENDED && (result || error)) this.onEnded();
      } else if (id !== undefined) {
        this.answer(id, method, params);
      } else if (method === "ui/notifications/sandbox-proxy-ready") {
        this.post({ method: "ui/notifications/sandbox-resource-ready", params: { html, sandbox, policy: [] } });
      } else if (method === "ui/notifications/initialized") {
        this.note("initialized");
        this.onInitialized();
        this.frame.style.visibility = "";
        if (!isEarly) this.tell();
      } else if (method === "ui/notifications/size-changed" && params.height >= 0) {
        this.heights.push(params.height);
        this.frame.style.height = `${Math.min(params.height, context.containerDimensions.maxHeight)}px`;
      }
    }

    answer(id, method, params) {
      if (method === "ui/initialize") {
        const protocolVersion = VERSIONS.find((version) => version === params.protocolVersion) ?? VERSIONS[0];
        const hostInfo = { name: "mcpframe-check", version: "1" };
        const hostContext = { ...context, toolInfo: { tool: this.call.tool } };
        this.note("initialize");
        this.post({ id, result: { protocolVersion, hostInfo, hostCapabilities: CAPABILITIES, hostContext } });
        if (isEarly) setTimeout(() => this.tell());
        return;
      }
      const result = ANSWERS[method]?.();
      this.post(result ? { id, result } : { id, error: { code: -32601, message: `This host has no ${method}.` } });
    }

    /** Posts the tool call to the view. */
    tell() {
      if (this.told !== null || !this.call.result) return;
      this.told = now();
      const { arguments: complete, partial, result } = this.call;
      if (!isEarly) this.post({ method: "ui/notifications/tool-input-partial", params: { arguments: partial } });
      this.post({ method: "ui/notifications/tool-input", params: { arguments: complete } });
      this.post({ method: "ui/notifications/tool-result", params: result });
      this.awaitReaction();
    }

    /** Returns whether Python has yet to run: anything drawn before cannot show the result. */
    isStarting() {
      return [...this.starting.values()].some(Boolean);
    }

    /** Ends the wait once a view that draws has not changed for a while: it may show nothing of the result. */
    awaitReaction() {
      clearTimeout(this.reacting);
      if (this.isStarting()) return;
      this.reacting = setTimeout(() => this.outcome() !== "blank" && this.finish(), REACTING);
    }

    onSeen(page, { begun, painted, violation, heard, changed, standIn, isDrawn, isStarting }) {
      if (violation) this.violations.add(violation);
      if (painted) this.times.painted = Math.min(this.times.painted ?? Infinity, painted - this.start);
      if (begun && this.told !== null && begun >= this.told) heard = begun; // it started too late to get it
      if (heard) this.heard = Math.min(this.heard ?? Infinity, heard);
      if (!changed) return;
      this.standIn.set(page, standIn);
      this.drawn.set(page, isDrawn);
      this.starting.set(page, isStarting);
      if (this.told !== null) this.awaitReaction(); // hosts tell a view before its Python runs
      const isShown = (isDrawn && !this.isStarting()) || standIn !== null;
      if (isShown && this.heard !== null && changed >= this.heard && this.outcome() !== "blank")
        this.onChange(changed - this.start);
    }

    /** Notes a change of the view after its result. The view is done once it has not changed for a while. */
    onChange(time) {
      this.changes.push(time);
      clearTimeout(this.quiet);
      if (time - this.changes[0] > LONGEST) this.finish();
      else this.quiet = setTimeout(this.finish, QUIET);
    }

    outcome() {
      const text = [...this.standIn.values()].find((each) => each !== null && each !== undefined);
      if (text !== undefined) return squeezed(text).includes(this.text) ? "text" : "blank";
      return "initialized" in this.times && [...this.drawn.values()].some(Boolean) ? "draws" : "blank";
    }

    /** Returns the outcome and its causes. A view that never stops changing was drawn with its first change. */
    summary() {
      const [first = null] = this.changes;
      const last = this.changes.at(-1) ?? null;
      const drawn = last - first > LONGEST ? first : last;
      return { outcome: this.outcome(), ...this.times, drawn, violations: [...this.violations] };
    }

    /** Ends the view. Returns whether it has answered. */
    async end() {
      this.post({ id: ENDED, method: "ui/resource-teardown", params: { reason: "The check is over." } });
      const answered = this.ended.then(() => true);
      const isAnswered = await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, ENDING, false))]);
      this.frame.remove();
      return isAnswered;
    }
  }

  const all = [];
  return {
    /** Opens the view of a tool call. Without a result, only `post` sends it anything about the call. */
    open(call, within) {
      const shown = new Shown(call, within);
      all.push(shown);
      return shown;
    },
    /** Shows a tool call for at most `within` ms, and returns the outcome. */
    async show(call, within) {
      const shown = this.open(call, within);
      await shown.over;
      return shown.summary();
    },
    /** Ends the views. Returns whether each has answered. */
    async end() {
      return await Promise.all(all.splice(0).map((shown) => shown.end()));
    },
  };
};
