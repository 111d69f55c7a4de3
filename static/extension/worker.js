/**
 * The service worker: opens the hub's document, and calls the APIs for it that only a worker has. It has no state, as the
 * browser stops it whenever it is idle.
 */
importScripts("outside.js");

const HUB = "hub/index.html";

let starting = null;

/** Creates the hub's document unless it exists. */
function ensureHub() {
  starting ??= create().finally(() => (starting = null));
  return starting;
}

async function create() {
  if (await isThere()) return;
  try {
    await chrome.offscreen.createDocument({
      url: HUB,
      reasons: ["WORKERS"],
      justification: "Runs the hub, in WebAssembly, which a service worker cannot do.",
    });
  } catch (error) {
    if (!(await isThere())) throw error; // else an earlier life of this worker has created it
  }
}

async function isThere() {
  return (await chrome.runtime.getContexts({ contextTypes: ["OFFSCREEN_DOCUMENT"] })).length > 0;
}

/** The functions that the hub may call; each returns JSON. */
const CALLS = {
  tabs: async () => (await chrome.tabs.query({})).map(shown),
  active: async () => (await chrome.tabs.query({ active: true, lastFocusedWindow: true })).map(shown)[0] ?? null,
  tab: async ({ tab }) => shown(await chrome.tabs.get(tab)),
  open: async ({ url }) => shown(await newTab(url)),
  close: async ({ tab }) => chrome.tabs.remove(tab),
  read: async ({ key, area }) => (await chrome.storage[area].get(key))[key] ?? null,
  write: async ({ key, value, area }) => chrome.storage[area].set({ [key]: value }),
  forget: async ({ key }) => chrome.storage.local.remove(key),
  keys: async () => Object.keys(await chrome.storage.local.get(null)),
  window: openAskWindow,
  native: startProgram,
  badge: async ({ text }) => chrome.action.setBadgeText({ text }),
};

async function newTab(url) {
  const windows = await chrome.windows.getAll({ windowTypes: ["normal"] });
  if (windows.length) return chrome.tabs.create({ url, active: false });
  return (await chrome.windows.create({ url, focused: false })).tabs[0];
}

const shown = ({ id, url, pendingUrl, status, active }) => ({ id, url: url ?? pendingUrl ?? null, status, active });

const isHub = (sender) => sender.id === chrome.runtime.id && sender.url === chrome.runtime.getURL(HUB) && !sender.tab;

async function answer(message, sender) {
  if (message.call === "ensureHub") return ensureHub();
  if (!isHub(sender) || !Object.hasOwn(CALLS, message.call)) throw new Error("Only the hub may ask for that.");
  return CALLS[message.call](message);
}

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (message?.to !== "worker") return false;
  answer(message, sender).then(
    (value) => respond({ value: value ?? null }),
    (error) => respond({ error: String(error?.message ?? error) }),
  );
  return true;
});

/** Reports an event to the hub, if it runs. */
function report(event, more) {
  chrome.runtime.sendMessage({ to: "hub", event, ...more }).catch(() => {});
}

chrome.tabs.onActivated.addListener(() => report("active", {}));
chrome.windows.onFocusChanged.addListener(() => report("active", {}));
chrome.tabs.onRemoved.addListener((tab) => report("removed", { tab }));
chrome.tabs.onUpdated.addListener((tab, { status }) => status && report("updated", { tab, status }));
chrome.storage.onChanged.addListener(
  (changes, area) => area === "local" && report("stored", { keys: Object.keys(changes) }),
);

chrome.runtime.onStartup.addListener(ensureHub);

/** Injects content scripts into pages that were open before; newer ones may have them. */
chrome.runtime.onInstalled.addListener(async () => {
  ensureHub();
  const scripts = new Map();
  for (const script of chrome.runtime.getManifest().content_scripts) {
    for (const { id } of await chrome.tabs.query({ url: script.matches })) {
      scripts.set(id, [...(scripts.get(id) ?? []), script]);
    }
  }
  for (const [id, each] of scripts) inject(id, each).catch(() => {}); // pages that allow none
});

/** Injects content scripts into the document of a tab, unless the browser has: see `content.js`. */
async function inject(tabId, scripts) {
  const [{ result, documentId }] = await chrome.scripting.executeScript({
    target: { tabId },
    func: () => globalThis.mcpframeRelay,
  });
  if (result) return;
  const target = { tabId, documentIds: [documentId] };
  for (const { js, world } of scripts) await chrome.scripting.executeScript({ target, files: js, world });
}
