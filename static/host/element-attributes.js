/** The attributes of `<mcp-server>` as properties. They are described at the class in element.js. */

const LOADING = ["interaction", "visible", "eager"];
const PROPERTIES = ["src", "loading", "show", "label", "permissions", "sandbox", "opaque"];

/** Nothing where there is no page, as on a server that renders some. @type {typeof HTMLElement} */
const Base = globalThis.HTMLElement ?? /** @type {any} */ (class {});

export class Attributes extends Base {
  /** The address of the server's page, absolute; empty without one. */
  get src() {
    const written = this.getAttribute("src");
    if (!written) return "";
    return URL.canParse(written, this.baseURI) ? new URL(written, this.baseURI).href : written;
  }
  set src(value) {
    this.setAttribute("src", value);
  }

  /** When the server starts: "interaction", "visible" or "eager". */
  get loading() {
    const written = this.getAttribute("loading")?.toLowerCase() ?? "";
    return LOADING.includes(written) ? written : LOADING[0];
  }
  set loading(value) {
    this.setAttribute("loading", value);
  }

  /** What is shown: "page", "tools", or both. */
  get show() {
    return this.getAttribute("show") ?? "page tools";
  }
  set show(value) {
    this.setAttribute("show", value);
  }

  /** The server's name until it says its own. */
  get label() {
    return this.getAttribute("label") ?? "";
  }
  set label(value) {
    this.setAttribute("label", value);
  }

  /** The permissions that the server's page is granted, separated by spaces. */
  get permissions() {
    return this.getAttribute("permissions") ?? "";
  }
  set permissions(value) {
    this.setAttribute("permissions", value);
  }

  /** The sandbox of the server's page. */
  get sandbox() {
    return this.getAttribute("sandbox") ?? (this.opaque ? "strict" : "standard");
  }
  set sandbox(value) {
    this.setAttribute("sandbox", value);
  }

  /** Whether the sandbox takes away the page's origin. */
  get opaque() {
    return this.hasAttribute("opaque");
  }
  set opaque(value) {
    this.toggleAttribute("opaque", Boolean(value));
  }
}

/**
 * Call the setters of properties that were assigned before the element was defined.
 * @param {any} element
 * @param {string[]} further names, besides those of the attributes
 */
export function adoptProperties(element, further) {
  for (const name of [...PROPERTIES, ...further]) {
    if (!Object.hasOwn(element, name)) continue;
    const value = element[name];
    delete element[name];
    element[name] = value;
  }
}
