/**
 * The browser's half of mcpframe.kit.browser.page_window: one iframe in this page, or one popup, and its messages.
 *
 * Python evaluates this file, after host-json.js, in the outer page and keeps the object that it returns; neither the
 * framed page nor a script of the outer page can reach that object. No protocol is implemented here: messages are passed
 * on, each with at most `most` bytes, in batches that the way to the browser can carry. Of a text that is longer than
 * `piece` characters, Python gets and gives one piece after another.
 */
({ url, name, iframe: options, size: [width, height], most, piece }) => {
  let iframe = null;
  let peer;
  if (options) {
    const parent = document.querySelector(options.within);
    if (!parent) return { refusal: `There is no element ${options.within} in this page to put the frame into.` };
    iframe = document.createElement("iframe");
    if (options.sandbox !== null) iframe.setAttribute("sandbox", options.sandbox);
    if (options.allow !== null) iframe.setAttribute("allow", options.allow);
    if (options.title) iframe.title = options.title;
    if (name) iframe.name = name;
    iframe.className = "mcpframe";
    if (options.size) [iframe.style.width, iframe.style.height] = options.size;
    show(options.visible);
    parent.append(iframe);
    peer = iframe.contentWindow;
  } else {
    const left = screenX + Math.max(0, Math.trunc((outerWidth - width) / 2));
    const top = screenY + Math.max(0, Math.trunc((outerHeight - height) / 2));
    peer = open("", name, `popup,width=${width},height=${height},left=${left},top=${top}`);
    if (!peer) {
      return { refusal: "The browser blocked the popup: open it by a click, and allow popups for this page." };
    }
  }

  const queue = [];
  const ports = [];
  const longTexts = [];
  let given = "";
  /** @type {(value?: any) => void} */
  let wake = () => {};
  let loads = 0;
  let over = false;
  let poll;
  const note = (item) => {
    queue.push(item);
    wake();
  };

  const sizeOf = ({ text }) => 100 + (typeof text === "string" ? text.length : 0); // the reason for an unreadable message is short

  const isThere = () => (iframe ? iframe.contentWindow === peer : !peer.closed);
  const onMessage = (event) => {
    const fromPeer = event.source !== null && event.source === peer && isThere();
    note({
      origin: event.origin,
      fromPeer,
      text: fromPeer ? textOrReason(event.data, { maxMessageBytes: most }) : null,
    });
  };
  const onLoad = () => {
    loads += 1;
    note(loads > 1 ? { gone: "replaced" } : { loaded: true });
  };
  const look = () => {
    if (isThere()) return;
    unwatch();
    note({ gone: "removed" });
  };
  const removals = new MutationObserver(look);
  const unwatch = () => {
    removals.disconnect();
    clearInterval(poll);
  };
  function show(visible) {
    if (iframe) {
      iframe.hidden = !visible;
      iframe.style.display = visible ? "" : "none";
    } else if (visible) peer.focus();
  }
  function resize({ width, height }) {
    if (!iframe) return;
    iframe.style.border = "0";
    if (width !== null) iframe.style.width = `min(${width}px, 100%)`;
    if (height !== null) iframe.style.height = `${height}px`;
  }

  /** Post a message with a port of a new channel; the other one has the next number. */
  function handOver(text, target) {
    const { port1, port2 } = new MessageChannel();
    const port = ports.push(port1) - 1;
    port1.onmessage = ({ data }) => note({ port, text: textOrReason(data, { maxMessageBytes: most }) });
    if (isThere()) peer.postMessage(JSON.parse(text), target, [port2]);
  }
  function withText(item, begun) {
    if (Array.isArray(item)) return [begun + item[0], item[1]];
    return "handOver" in item ? { ...item, handOver: begun + item.handOver } : { ...item, text: begun + item.text };
  }
  function tellPort({ port, text }) {
    if (text === undefined) ports[port].close();
    else ports[port].postMessage(JSON.parse(text));
  }

  return {
    iframe,

    /** Listen, then load the page: its first message may come before its `load` event. */
    start() {
      addEventListener("message", onMessage);
      if (iframe) {
        iframe.addEventListener("load", onLoad);
        removals.observe(document, { childList: true, subtree: true });
        if (options.html === null) iframe.src = url;
        else iframe.srcdoc = options.html;
      } else {
        poll = setInterval(look, 250); // there is no event for a closed popup
        peer.location.replace(url);
      }
    },

    /** Return the next batch of the queue, waiting for its first item; null once this window has been stopped. */
    async take() {
      if (!queue.length && !over) await new Promise((resolve) => (wake = resolve));
      if (over) return null;
      let [count, size] = [0, 0];
      for (; count < queue.length; count += 1) {
        size += sizeOf(queue[count]);
        if (count > 0 && size > Math.min(most / 4, piece)) break;
      }
      return queue.splice(0, count).map((item) => {
        if (typeof item.text !== "string" || item.text.length <= piece) return item;
        longTexts.push(item.text);
        return { ...item, text: null, pieces: Math.ceil(item.text.length / piece) };
      });
    },

    /** Return a piece of the oldest text that `take` has left out; the last one ends it. */
    more(number) {
      const text = longTexts[0];
      if ((number + 1) * piece >= text.length) longTexts.shift();
      return text.slice(number * piece, (number + 1) * piece);
    },

    /** Keep a piece of the next text to post. */
    give(text) {
      given += text;
    },

    /**
     * In the order of `items`: post a message, unless the window is gone; show, hide or resize the iframe; hand over a port,
     * post to one, or close it. The text of the first item comes after the pieces of it that were given.
     */
    tell(items) {
      if (given) items[0] = withText(items[0], given);
      given = "";
      for (const item of items) {
        if (typeof item === "boolean") show(item);
        else if ("handOver" in item) handOver(item.handOver, item.target);
        else if ("port" in item) tellPort(item);
        else if (!Array.isArray(item)) resize(item);
        else if (isThere()) peer.postMessage(JSON.parse(item[0]), item[1]);
      }
    },

    stop() {
      over = true;
      unwatch();
      removeEventListener("message", onMessage);
      wake();
    },

    remove() {
      this.stop();
      if (iframe) iframe.remove();
      else peer.close();
    },
  };
};
