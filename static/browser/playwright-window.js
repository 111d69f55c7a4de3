/**
 * The browser's half of mcpframe.kit.browser.playwright_window: one iframe in this page or one popup, its message events as data.
 *
 * Playwright evaluates this file, after host-json.js, in the outer page and keeps the object it gives. Nothing is left
 * where the framed page or a script of the outer page could reach it. There is no protocol here: what is heard is passed
 * on, in parts that Playwright can carry: `most` bytes in one message at most.
 */
({ url, name, iframe: wanted, size: [width, height], most }) => {
  let iframe = null;
  let peer;
  if (wanted) {
    const parent = document.querySelector(wanted.within);
    if (!parent) return { refusal: `There is no element ${wanted.within} in this page to put the frame into.` };
    iframe = document.createElement("iframe");
    if (wanted.sandbox !== null) iframe.setAttribute("sandbox", wanted.sandbox);
    if (wanted.allow !== null) iframe.setAttribute("allow", wanted.allow);
    if (wanted.title) iframe.title = wanted.title;
    if (name) iframe.name = name;
    iframe.className = "mcpframe";
    show(wanted.visible);
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

  const heard = [];
  let wake = () => {};
  let loads = 0;
  let over = false;
  let poll;
  const note = (item) => {
    heard.push(item);
    wake();
  };

  const sizeOf = ({ text }) => 100 + (typeof text === "string" ? text.length : 0); // a reason is short, too

  const isThere = () => (iframe ? iframe.contentWindow === peer : !peer.closed);
  const onMessage = (event) => {
    const fromPeer = event.source !== null && event.source === peer && isThere();
    note({ origin: event.origin, fromPeer, text: fromPeer ? textOrReason(event.data, { maxMessageBytes: most }) : null });
  };
  const onLoad = () => {
    loads += 1;
    if (loads > 1) note({ gone: "replaced" });
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

  return {
    iframe,

    /** Listen, and only then load the page: its first message may come before its `load` event. */
    start() {
      addEventListener("message", onMessage);
      if (iframe) {
        iframe.addEventListener("load", onLoad);
        removals.observe(document, { childList: true, subtree: true });
        iframe.src = url;
      } else {
        poll = setInterval(look, 250); // no event tells that a popup was closed
        peer.location.replace(url);
      }
    },

    /** Return what was heard since the last time, or its first part, waiting for the first item; null once it is over. */
    async take() {
      if (!heard.length && !over) await new Promise((resolve) => (wake = resolve));
      if (over) return null;
      let [count, size] = [0, 0];
      for (; count < heard.length; count += 1) {
        size += sizeOf(heard[count]);
        if (count > 0 && size > most / 4) break;
      }
      return heard.splice(0, count);
    },

    /** In order: post messages, where the window is still there, and show or hide it. */
    tell(items) {
      for (const item of items) {
        if (typeof item === "boolean") show(item);
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
