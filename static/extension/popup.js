/**
 * The popup, and with `?ask` the consent window: shows the hub's state, and posts the user's choices. Texts of pages and
 * clients are set as text.
 */
(() => {
  const DELAY = 600; // ms; a key or a click meant for something else must not allow anything: see `hold`
  const PAUSE = 500;
  const EXTENSION = /^chrome-extension:\/\/([a-p]{32})$/;
  const asks = location.search === "?ask";
  const at = (id) => /** @type {any} */ (document.getElementById(id));
  const open = new Set();
  const shown = new Map();
  let port = null;
  let asked = false;
  let chosen = null; // the user's last choice whether to ask, which replaces the hub's earlier state
  const held = new Map(); // the buttons that give a permission, and the timer that enables each

  const say = (message) => port?.postMessage(message);

  /** Returns an element with texts and elements in it. */
  function made(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  }

  function button(label, of, action) {
    const element = made("button", "", label);
    element.type = "button";
    element.setAttribute("aria-label", `${label} ${of}`);
    element.dataset.key = of;
    element.addEventListener("click", action);
    return element;
  }

  /**
   * Disables a button that gives a permission for a while: when it has just been drawn, and when the window has just got
   * the focus, as another one may have covered it until the second of two clicks.
   */
  function hold(element) {
    clearTimeout(held.get(element));
    element.disabled = true;
    const enable = () => {
      element.disabled = false;
      if (!element.isConnected) held.delete(element);
    };
    held.set(element, setTimeout(enable, DELAY));
    return element;
  }

  function holdAll() {
    for (const element of held.keys()) hold(element);
  }

  /** Draws a part unless it is there already, so that selections and focus stay. */
  function part(name, value, draw) {
    const text = JSON.stringify(value);
    if (shown.get(name) === text) return;
    shown.set(name, text);
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    draw(value);
    if (focused === document.body || focused.isConnected) return;
    /** @type {HTMLButtonElement[]} */
    const keyed = Array.from(document.querySelectorAll("[data-key]"));
    const same = keyed.filter(({ dataset }) => dataset.key === focused.dataset.key);
    const again = same.find(({ disabled }) => !disabled);
    (again ?? at("status")).focus();
  }

  function show(state) {
    if (asks && asked && !state.question) window.close();
    part("question", state.question, showQuestion);
    part("status", [state.tabs.reduce((sum, { count }) => sum + count, 0), state.tabs.length, state.count], showStatus);
    part("clients", state.clients, showClients);
    part("page", [state.page, state.offered, state.excluded], showPage);
    part("tabs", state.tabs, showTabs);
    part("log", state.log, showLog);
    part("native", state.native, showNative);
    if (state.ask === chosen) chosen = null;
    if (chosen === null) at("ask").checked = state.ask;
  }

  function showStatus([tools, tabs, clients]) {
    const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
    at("status").textContent = `${many(tools, "tool")} of ${many(tabs, "tab")}, ${many(clients, "client")}`;
  }

  function showQuestion(question) {
    at("question").hidden = !question;
    if (!question) return;
    asked = true;
    at("question-title").textContent = `A client ${question.title}`;
    at("question-what").textContent = question.what;
    at("question-always").textContent = question.always;
    at("question-client").textContent = question.client;
    at("question-named").textContent = question.name && ` that calls itself “${question.name}”`;
    at("question-origin").textContent = question.origin;
    at("question-tool").textContent = question.tool;
    at("question-arguments").textContent = question.text;
    for (const each of document.querySelectorAll(".of-tools")) each.toggleAttribute("hidden", !question.text);
    const buttons = at("question").querySelectorAll("button");
    for (const each of buttons) {
      if (each.value !== "deny") hold(each);
      each.onclick = () => say({ do: "answer", id: question.id, answer: each.value });
    }
    buttons[0].focus();
  }

  function showClients(clients) {
    at("clients").hidden = clients.length === 0;
    at("clients-list").replaceChildren(
      ...clients.map(({ origin, name, allowed, asking, connected }) => {
        const decide = (on) => () => say({ do: "client", origin, on });
        const what = asking
          ? "wants to connect"
          : connected
            ? "is connected"
            : allowed
              ? "may connect"
              : "may not connect";
        const who = [made("span", "name", name || origin), ` ${what}`];
        if (name) who.push(made("p", "quiet", `This is the name that ${origin} gives itself.`));
        const row = made("li", "row", made("span", "", ...who));
        if (!allowed) row.append(hold(button("Allow", origin, decide(true))));
        if (allowed !== false) row.append(button("Deny", origin, decide(false)));
        const id = origin.match(EXTENSION)?.[1];
        if (id)
          row.append(button("Details", origin, () => chrome.tabs.create({ url: `chrome://extensions/?id=${id}` })));
        return row;
      }),
    );
  }

  function showPage([page, offered, excluded]) {
    at("page").textContent = page ?? "No page of a site";
    const change = at("page-switch");
    const isExcluded = excluded.includes(page);
    change.hidden = !page || (!offered && !isExcluded);
    change.textContent = isExcluded ? "Offer its tools" : "Do not offer its tools";
    change.onclick = () => say({ do: "site", origin: page, on: isExcluded });
    at("excluded").replaceChildren(
      ...excluded
        .filter((origin) => origin !== page)
        .map((origin) =>
          made(
            "li",
            "row",
            made("span", "", made("span", "name", origin), " is not offered"),
            button("Offer", origin, () => say({ do: "site", origin, on: true })),
          ),
        ),
    );
  }

  function showTabs(tabs) {
    if (tabs.length === 0) {
      at("tabs").replaceChildren(made("p", "quiet", "No open page offers tools."));
      return;
    }
    at("tabs").replaceChildren(
      ...tabs.map(({ domain, number, active, count, tools }) => {
        const key = `${domain} ${number}`;
        const list = made("ul", "");
        for (const { name, title, description } of tools) {
          const item = made("li", "", made("span", "name", title || name));
          if (title) item.append(made("span", "quiet", ` ${name}`));
          if (description) item.append(made("p", "text", description));
          list.append(item);
        }
        if (count > tools.length) list.append(made("li", "quiet", `… and ${count - tools.length} more`));
        const summary = made(
          "summary",
          "",
          made("span", "name", domain),
          ` tab ${number}: ${count}${active ? ", active" : ""}`,
        );
        summary.dataset.key = key;
        const details = made("details", "", summary, list);
        details.open = open.has(key);
        details.addEventListener("toggle", () => (details.open ? open.add(key) : open.delete(key)));
        return details;
      }),
    );
  }

  function showLog(lines) {
    const log = at("log");
    const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    log.firstElementChild.replaceChildren(
      ...lines.map(({ time, warns, text }) => {
        const when = made("time", "", new Date(time * 1000).toLocaleTimeString());
        when.dateTime = new Date(time * 1000).toISOString();
        return made("li", warns ? "warns" : "", when, ` ${text}`);
      }),
    );
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }

  function showNative({ serves, http, trouble, error }) {
    const is = serves
      ? `Programs of this machine are served${http ? `, also at ${http}` : ""}.`
      : "Programs of this machine are not served: mcpframe install --hub --native.";
    at("native").className = trouble ? "bad" : "";
    at("native").textContent = [trouble || is, error].filter(Boolean).join(" ");
    at("native-start").hidden = Boolean(serves || trouble);
  }

  at("ask").addEventListener("change", ({ target }) => {
    if (port) chosen = target.checked;
    say({ do: "ask", on: target.checked });
  });
  at("native-start").addEventListener("click", async () => {
    const native = { permissions: ["nativeMessaging"] };
    // Optional in the Web Store's package: the browser asks the user, once.
    try {
      if (await chrome.permissions.contains(native)) say({ do: "native" });
      else await chrome.permissions.request(native); // the worker does the rest: outside.js
    } catch (error) {
      at("status").textContent = `${error.message} Ask whoever manages this browser.`; // a policy forbids it
    }
  });

  async function connect() {
    try {
      const { error } = await chrome.runtime.sendMessage({ to: "worker", call: "ensureHub" });
      if (error) throw new Error(error);
      port = chrome.runtime.connect({ name: "mcpframe-popup" });
      port.onMessage.addListener(show);
      port.onDisconnect.addListener(() => {
        void chrome.runtime.lastError; // else Chromium logs it
        port = chosen = null;
        at("status").textContent = "The hub starts again …";
        setTimeout(connect, PAUSE);
      });
    } catch {
      setTimeout(connect, PAUSE);
    }
  }

  hold(at("ask"));
  addEventListener("focus", holdAll);
  document.addEventListener("visibilitychange", holdAll);
  if (asks) document.title = "mcpframe hub: allow this call?";
  document.body.classList.toggle("asks", asks);
  connect();
})();
