/**
 * The service worker's part for clients outside of the extension: ports of other extensions, of web pages and of the
 * program on this machine, which go to the hub's document as they are; and the window that asks the user.
 */
const PROGRAM = "mcpframe.hub";
const CLIENT_PORT = "mcp";
const ASK_PAGE = "popup.html?ask";
/** Messages that a client may send before the hub's document is there: Python takes seconds to start. */
const MOST_EARLY = 1000;

let program = null;

/** Passes on the messages of a port outside, in both directions, once the hub's document is there. */
async function pipe(outside, name, from) {
  const early = [];
  let inside = null;
  let ended = false;
  const end = () => {
    ended = true;
    if (outside === program) program = null;
    outside.disconnect(); // this end gets no event
  };
  outside.onMessage.addListener((message) => {
    if (inside) inside.postMessage(message);
    else if (early.push(message) > MOST_EARLY) end();
  });
  outside.onDisconnect.addListener(() => {
    ended = true;
    const { message } = chrome.runtime.lastError ?? {};
    if (outside === program) {
      program = null;
      if (message) report("native", { error: message });
    }
    inside?.disconnect();
  });
  try {
    await ensureHub();
    if (ended) return;
    inside = chrome.runtime.connect({ name: "mcpframe-outside" });
  } catch {
    end();
    return;
  }
  inside.onDisconnect.addListener(() => {
    void chrome.runtime.lastError; // else Chromium logs it
    inside = null;
    end();
  });
  inside.onMessage.addListener((message) => {
    try {
      outside.postMessage(message);
    } catch {
      inside?.disconnect(); // it has ended
    }
  });
  inside.postMessage({ name, from });
  for (const message of early) inside.postMessage(message);
}

chrome.runtime.onConnectExternal.addListener((port) => {
  if (port.name !== CLIENT_PORT) return port.disconnect(); // the program's port goes to the hub by a name, too
  const { id, url, origin, tab, frameId } = port.sender ?? {};
  pipe(port, port.name, { id, url, origin, tab: tab && { id: tab.id }, frameId });
});

/** Starts `mcpframe hub --native`, if the user has allowed it; otherwise the browser ends the port. */
async function startProgram() {
  if (program || !chrome.runtime.connectNative) return; // it is there with the permission only
  program = chrome.runtime.connectNative(PROGRAM);
  pipe(program, "mcpframe-native", {});
}

// In the Web Store's package the user grants this permission later, and a running worker does not get its API: the
// extension starts again. Not from the popup, which the browser may close as it asks.
chrome.permissions.onAdded.addListener(({ permissions }) => {
  if (permissions?.includes("nativeMessaging")) chrome.runtime.reload();
});

/** Opens the consent window, or shows the open one. */
async function openAskWindow() {
  const [open] = await chrome.runtime.getContexts({
    contextTypes: ["TAB"],
    documentUrls: [chrome.runtime.getURL(ASK_PAGE)],
  });
  if (open) await chrome.windows.update(open.windowId, { focused: true });
  else await chrome.windows.create({ url: ASK_PAGE, type: "popup", width: 520, height: 640, focused: true });
}
