/**
 * The page's half of mcpframe.kit.testing.app_bridge: a host of MCP Apps with the official `AppBridge`, in this page.
 *
 * Playwright evaluates this file and keeps the object that it returns; neither the view nor a script of the page can
 * reach that object. The view's requests are passed on to Python, which answers them by their numbers. `imports` are the
 * addresses of the modules of `AppBridge`.
 */
async ({ imports, url, sandbox, allow, capabilities, context }) => {
  const map = document.createElement("script");
  map.type = "importmap";
  map.textContent = JSON.stringify({ imports });
  document.head.append(map);
  const { AppBridge, PostMessageTransport } = await import("@modelcontextprotocol/ext-apps/app-bridge");
  // By the name of the method of `session.host`: the bridge's handler, and the capability that announces it.
  const HANDLERS = {
    call_tool: ["oncalltool", "serverTools"],
    read_resource: ["onreadresource", "serverResources"],
    list_resources: ["onlistresources", "serverResources"],
    list_resource_templates: ["onlistresourcetemplates", "serverResources"],
    list_prompts: ["onlistprompts", "serverPrompts"],
    create_message: ["oncreatesamplingmessage", "sampling"],
    send_message: ["onmessage", "message"],
    update_model_context: ["onupdatemodelcontext", "updateModelContext"],
    open_link: ["onopenlink", "openLinks"],
    download: ["ondownloadfile", "downloadFile"],
  };
  const queue = [];
  const asked = new Map();
  let count = 0;
  /** @type {(value?: any) => void} */
  let wake = () => {};
  let hostContext = context;
  let bridge;
  let iframe;

  const note = (item) => {
    queue.push(item);
    wake();
  };
  const hand = (name, params) => {
    const id = ++count;
    note({ kind: "request", id, name, params: params ?? {} });
    return new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
  };

  const onWire = ({ source, origin, data }) => {
    if (!iframe || source !== iframe.contentWindow) return;
    note({ kind: "wire", direction: "←", origin, message: data });
    if (data?.method === "ui/initialize") note({ kind: "initialize", params: data.params ?? {} });
  };
  const resize = ({ width, height }) => {
    // As hosts do: the frame follows the view, except where the container's size is fixed.
    const container = hostContext.containerDimensions ?? {};
    if (height !== undefined && container.height === undefined) {
      iframe.style.height = `${Math.min(height, container.maxHeight ?? Infinity)}px`;
    }
    if (width !== undefined && container.width === undefined && container.maxWidth !== undefined) {
      iframe.style.width = `${Math.min(width, container.maxWidth)}px`;
    }
  };
  const shape = () => {
    const { width, height, maxWidth } = hostContext.containerDimensions ?? {};
    iframe.style.width = width === undefined ? (maxWidth === undefined ? "100%" : `${maxWidth}px`) : `${width}px`;
    if (height !== undefined) iframe.style.height = `${height}px`;
  };
  const listen = () => {
    for (const [name, [event, capability]] of Object.entries(HANDLERS)) {
      if (capabilities[capability]) bridge[event] = (params) => hand(name, params);
    }
    // `AppBridge` has no handler for it, and forwards it only with a client.
    if (capabilities.serverTools) bridge.setRequestHandler("tools/list", ({ params }) => hand("list_tools", params));
    bridge.onrequestdisplaymode = async (params) => {
      const answer = await hand("request_display_mode", params);
      if (answer.mode && answer.mode !== hostContext.displayMode) change({ displayMode: answer.mode });
      return answer;
    };
    bridge.onsizechange = (size) => {
      resize(size);
      note({ kind: "heard", name: "size", params: size });
    };
    bridge.onloggingmessage = (params) => note({ kind: "heard", name: "log", params });
    bridge.onrequestteardown = (params) => note({ kind: "heard", name: "request_teardown", params: params ?? {} });
    bridge.setNotificationHandler("notifications/tools/list_changed", () =>
      note({ kind: "heard", name: "tools_changed", params: {} }),
    );
    bridge.oninitialized = () => note({ kind: "initialized" });
  };
  const change = (changes) => {
    hostContext = { ...hostContext, ...changes };
    bridge.setHostContext(hostContext);
    shape();
  };

  return {
    /** Frames the view and loads it. It is ready with the note `initialized`. */
    async open() {
      iframe = document.createElement("iframe");
      if (sandbox !== null) iframe.setAttribute("sandbox", sandbox);
      if (allow) iframe.setAttribute("allow", allow);
      iframe.title = "View";
      iframe.style.border = "0";
      iframe.style.height = "150px";
      document.body.append(iframe);
      shape();
      const { contentWindow } = iframe;
      bridge = new AppBridge(null, { name: "mcpframe-test", version: "1" }, capabilities, { hostContext });
      listen();
      const transport = new PostMessageTransport(contentWindow, contentWindow);
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        note({ kind: "wire", direction: "→", origin: "*", message });
        return send(message, options);
      };
      transport.onerror = (error) => note({ kind: "error", text: `AppBridge: ${error.message}` });
      addEventListener("message", onWire);
      await bridge.connect(transport);
      iframe.src = url;
      return iframe;
    },

    /** Calls a method of the bridge. */
    async call(method, params) {
      try {
        return { result: (await bridge[method](params)) ?? {} };
      } catch (error) {
        return { error: error.message, code: error.code ?? null };
      }
    },

    change,

    /** Answers a request of the view with a result, or with an error's text. */
    answer(id, { result, error, code }) {
      const { resolve, reject } = asked.get(id);
      asked.delete(id);
      if (error === undefined) resolve(result);
      else reject(Object.assign(new Error(error), Number.isInteger(code) ? { code } : {}));
    },

    /** Returns the events since the last call; waits for at least one. */
    async take() {
      if (!queue.length) await new Promise((resolve) => (wake = resolve));
      return queue.splice(0, 256);
    },

    /** Removes the view. */
    close() {
      removeEventListener("message", onWire);
      iframe.remove();
      return bridge.close();
    },
  };
};
