/**
 * The place of a framed page: an iframe of the document, or a popup. A thin adapter without decisions: it turns events of
 * the browser into calls.
 */

import { FrameError } from "./errors.js";

/**
 * The `sandbox` attribute by preset; the same in Python. `strict` takes away the page's origin: see `opaque`.
 * @type {{ readonly standard: string, readonly popups: string, readonly strict: string }}
 */
export const SANDBOX = {
  standard: "allow-scripts allow-same-origin allow-forms allow-downloads",
  popups:
    "allow-scripts allow-same-origin allow-forms allow-downloads allow-popups allow-popups-to-escape-sandbox allow-modals",
  strict: "allow-scripts",
};

/** How a page at `HandedPage.address` asks for its text, and gets it. */
const PAGE_WANTED = "mcpframe-page-wanted";
const PAGE = "mcpframe-page";
/** How a page asks for its files, and gets them: see `static/page/handed.js`. */
const FILES_WANTED = "mcpframe-files-wanted";
const FILES = "mcpframe-files";
const PROBLEM = "mcpframe-problem";

const POPUP_SIZE = [800, 600];
/** The interval of checks whether a popup was closed, in milliseconds: its opener gets no event. */
const POPUP_POLL = 250;

export class Place {
  /** The window of the page, once it was opened. */
  window = null;
  #iframe;
  #handed;
  #onShown;
  /** @type {{ message: (event: MessageEvent) => void, load: () => void, gone: (reason: string) => void }} */
  #on;
  #poll;
  #left = false;
  #look = () => {
    if (this.#iframe ? this.#iframe.contentWindow === this.window : !this.window.closed) return;
    this.#on.gone(this.#iframe ? "The iframe was removed from the page, or moved within it." : "The popup was closed.");
  };
  #removals = new MutationObserver(this.#look);
  #handOver = ({ source, origin, data }) => {
    const { address, html } = this.#handed;
    if (source !== this.window || origin !== (address ? new URL(address).origin : "null")) return;
    const target = address ? origin : "*"; // an opaque origin has no name
    if (data?.type === PROBLEM) this.#handed.onproblem?.(`${data.title}`, `${data.detail}`, data.ended === true);
    if (data?.type === PAGE_WANTED && address) this.window.postMessage({ type: PAGE, html }, target);
    if (data?.type === FILES_WANTED) this.#giveFiles(target);
  };

  /**
   * @param {HTMLIFrameElement | undefined} iframe undefined for a popup
   * @param {{ sandbox?: string, colorScheme?: string, handed?: import("./host.js").HandedPage, onShown: (visible: boolean) => void }} options
   */
  constructor(iframe, { sandbox, colorScheme, handed, onShown }) {
    this.#iframe = iframe;
    this.#handed = handed;
    this.#onShown = onShown;
    if (!iframe) return;
    if (sandbox !== undefined || !iframe.hasAttribute("sandbox")) {
      iframe.setAttribute("sandbox", SANDBOX[sandbox ?? "standard"] ?? sandbox);
    }
    iframe.style.colorScheme = colorScheme ?? schemeFor(iframe);
  }

  /** Whether the sandbox takes away the page's origin. */
  get opaque() {
    return Boolean(this.#iframe) && !this.#iframe.sandbox.contains("allow-same-origin");
  }

  /** Take the window for a page that is loaded later: it may send its handshake before its `load` event. */
  open(allow, on) {
    const iframe = this.#iframe;
    this.#on = on;
    this.window = iframe ? iframe.contentWindow : openPopup();
    window.addEventListener("message", on.message);
    if (!iframe) {
      this.#poll = setInterval(this.#look, POPUP_POLL);
      return;
    }
    iframe.addEventListener("load", on.load);
    for (let root = iframe.getRootNode(); root; root = /** @type {ShadowRoot} */ (root).host?.getRootNode()) {
      this.#removals.observe(root, { childList: true, subtree: true });
    }
    iframe.setAttribute("allow", allow);
  }

  /** Throw if the iframe has no window. */
  check() {
    if (this.#iframe && !this.#iframe.contentWindow) {
      throw new FrameError("StateError", "The iframe is not in the document: append it first.");
    }
  }

  /** Whether a page was loaded here: an address that differs from its own only in the hash would not load anything. */
  get used() {
    return Boolean(this.#iframe?.hasAttribute("src") || this.#iframe?.hasAttribute("srcdoc"));
  }

  /** Replace the page of an iframe by an empty one. */
  clear() {
    if (!this.#iframe?.isConnected) return;
    this.#iframe.removeAttribute("srcdoc");
    this.#iframe.src = "about:blank";
  }

  /** Load a page. */
  navigate(url) {
    if (this.#handed) window.addEventListener("message", this.#handOver);
    if (this.#handed && !this.#handed.address) {
      this.#iframe.srcdoc = this.#handed.html;
    } else if (this.#iframe) this.#iframe.src = url;
    else this.window.location.replace(url);
  }

  async #giveFiles(target) {
    const { files, later } = this.#handed;
    const give = (part) => this.#left || this.window.postMessage({ type: FILES, ...part }, target);
    try {
      give({ files: await files, isPart: later !== undefined });
      if (later) give(await later);
    } catch {
      // Whoever has made the promises knows why.
    }
  }

  /** Remove all listeners, and close a popup. */
  leave() {
    this.#left = true;
    clearInterval(this.#poll);
    window.removeEventListener("message", this.#on?.message);
    window.removeEventListener("message", this.#handOver);
    this.#iframe?.removeEventListener("load", this.#on?.load);
    this.#removals.disconnect();
    if (!this.#iframe) this.window?.close();
  }

  /** Whether the page is shown. */
  get visible() {
    return !this.#iframe || !(this.#iframe.hidden || this.#iframe.style.display === "none");
  }

  /** Show or hide an iframe. */
  show(visible) {
    if (!this.#iframe || visible === this.visible) return;
    this.#iframe.hidden = !visible;
    this.#iframe.style.display = visible ? "" : "none";
    this.#onShown(visible);
  }

  /** Bring a popup to the front. */
  focus() {
    if (!this.#iframe) this.window?.focus();
  }
}

/** Open an empty popup in the middle of this window, with a name that no other window has. */
function openPopup() {
  const [width, height] = POPUP_SIZE;
  const left = screenX + Math.max(0, Math.trunc((outerWidth - width) / 2));
  const top = screenY + Math.max(0, Math.trunc((outerHeight - height) / 2));
  const popup = open("", `mcpframe-${randomId()}`, `popup,width=${width},height=${height},left=${left},top=${top}`);
  if (popup) return popup;
  throw new FrameError("PopupBlocked", "The browser blocked the popup: open it by a click, and allow popups here.");
}

/** Return the `color-scheme` for an iframe: empty where a style sheet has one, else that of this page. */
function schemeFor(iframe) {
  const own = iframe.style.colorScheme || getComputedStyle(iframe).colorScheme;
  if (own !== "normal") return iframe.style.colorScheme;
  return /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=color-scheme]"))?.content ?? "light";
}

/** Return an id that cannot be guessed. Pages on plain http have no randomUUID. */
export function randomId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
