// The height that a view requests of its host: its content's, or its frame's if the content fills that.
//
// `Measure` reads a layout, and `OwnSize` decides what is reported.
// Content that fills its frame has no height of its own. Two trials find it: the document as high as its content
// (`max-content`), and much higher. Content that grows with the second fills. Lengths such as `100vh` follow only the
// frame, so the style sheets are searched for them.

import { DRAWING, LEAST_FILLED } from "../app/limits.js";
import { CONTENT, contentHeight, styled, watchSizes } from "../app/size.js";

/** The attribute of a document whose content fills it: `page` if its author says so. See `frame.css`. */
export const FILLS = "data-mcpframe-fills";
/** How many elements are looked at: each costs a layout's reading, at every change. */
const MOST_ELEMENTS = 2_000;
const VIEWPORT_LENGTH = /\d[dls]?v(h|b|min|max)\b/;
const MOST_FOLLOWED = 3;

/**
 * Decides which heights are reported. Content that is higher than its frame by a constant, such as `100vh` with margins,
 * would grow with every report: a page that has grown or shrunk with its frame three times in a row reports nothing until
 * something else changes; once is enough where it is known to follow the frame.
 */
export class OwnSize {
  /**
   * @param {(width: number, height: number) => void} report
   * @param {"fill" | number} [wanted] the author's choice; by default the content decides
   */
  constructor(report, wanted) {
    this.report = report;
    this.wanted = wanted;
    this.reported = null;
    this.last = { width: 0, height: 0, frame: 0 };
    this.followed = 0;
  }

  /** @param {{ width: number, height: number, frame: number, fills: boolean, follows: boolean }} measured */
  measured({ width, height, frame, fills, follows }) {
    const { last } = this;
    const [grown, frameGrown] = [height - last.height, frame - last.frame];
    const isBound = frameGrown !== 0 && grown * frameGrown > 0 && Math.abs(grown) >= Math.abs(frameGrown);
    if (this.reported && width === last.width && isBound) this.followed += 1;
    else if (width !== last.width || grown !== 0 || frameGrown !== 0) this.followed = 0;
    this.last = { width, height, frame };
    if (this.followed >= (follows ? 1 : MOST_FOLLOWED)) return;
    const isFilled = fills || this.wanted === "fill";
    const least = isFilled || follows || height < 1 ? LEAST_FILLED : 0;
    if (isFilled && this.reported && frame >= Math.max(height, least)) return;
    const own = Math.max(height, least, isFilled ? frame : 0);
    const asked = typeof this.wanted === "number" ? this.wanted : own;
    if (this.reported?.width === width && this.reported.height === asked) return;
    this.reported = { width, height: asked };
    this.report(width, asked);
  }
}

/** Reads the layout of this document. */
class Measure {
  constructor() {
    this.root = document.documentElement;
    this.follows = false;
    this.sheets = new Map(); // whether a style sheet has lengths of the viewport, by its number of rules
  }

  /** @param {number | undefined} reported the height that was reported last */
  read(reported) {
    const { root } = this;
    const [width, frame] = [innerWidth, innerHeight];
    const isChosen = root.getAttribute(FILLS) === "page";
    const app = document.getElementById("mcpframe-app");
    const scrolled = [root, ...(app?.querySelectorAll("*") ?? [])]
      .slice(0, MOST_ELEMENTS)
      .filter((each) => each.scrollTop);
    const places = scrolled.map((each) => each.scrollTop);
    if (!isChosen) root.removeAttribute(FILLS);
    let height = contentHeight();
    const elements = app ? [...app.querySelectorAll("*")].slice(0, MOST_ELEMENTS) : [];
    let fills = isChosen;
    if (!fills && height < Math.max(frame, LEAST_FILLED)) {
      root.setAttribute(FILLS, "");
      const trial = 2 * (height + frame) + 4_000;
      const styles = { height: `${trial}px`, transform: "translate(0)" }; // with this, fixed elements follow it, too
      fills = styled(styles, () => elements.some((each) => each.getBoundingClientRect().height > trial / 2));
      if (!fills) root.removeAttribute(FILLS);
    }
    // A frame of the height that was reported fits its content, whether that follows it or not.
    const mayFollow = frame !== reported || this.follows;
    this.follows =
      mayFollow && styled(CONTENT, () => this.hasFrameHeight(frame, elements)) && this.hasViewportLengths();
    if (this.follows && height > frame) root.setAttribute(FILLS, ""); // without the padding around the author's part
    if (root.hasAttribute(FILLS)) height = contentHeight();
    for (const [index, each] of scrolled.entries()) each.scrollTop = places[index];
    return { width: Math.ceil(width), height, frame: Math.ceil(frame), fills, follows: this.follows };
  }

  /** Returns whether an element is exactly as high as the frame. */
  hasFrameHeight(frame, elements) {
    return [document.body, ...elements].some((each) => {
      const { height } = each.getBoundingClientRect();
      if (height < frame - 1) return false;
      if (Math.abs(height - frame) < 1) return true;
      const { paddingTop, paddingBottom, boxSizing } = getComputedStyle(each);
      const inner = each.clientHeight - Number.parseFloat(paddingTop) - Number.parseFloat(paddingBottom);
      return boxSizing === "content-box" && Math.abs(inner - frame) < 1;
    });
  }

  hasViewportLengths() {
    const sheets = [...document.styleSheets, ...(document.adoptedStyleSheets ?? [])];
    const own = [...document.querySelectorAll("[style]")];
    return (
      sheets.some((sheet) => this.isBoundToViewport(sheet)) ||
      own.some((each) => VIEWPORT_LENGTH.test(each.getAttribute("style")))
    );
  }

  isBoundToViewport(sheet) {
    try {
      const { length } = sheet.cssRules;
      const known = this.sheets.get(sheet);
      if (known?.length === length) return known.isBound;
      const isBound = [...sheet.cssRules].some(({ cssText }) => VIEWPORT_LENGTH.test(cssText));
      this.sheets.set(sheet, { length, isBound });
      return isBound;
    } catch {
      return false; // of another origin, without CORS
    }
  }
}

/**
 * Reports the size that this page wants: once the author's code has drawn, and whenever it changes.
 * @param {(width: number, height: number) => void} report
 * @param {"fill" | number | undefined} wanted the author's choice; see `OwnSize`
 * @param {boolean} isDrawn whether there is nothing to wait for
 * @returns {() => void} ends it
 */
export function followSize(report, wanted, isDrawn) {
  const app = document.getElementById("mcpframe-app");
  const measure = new Measure();
  const size = new OwnSize(report, wanted);
  function measured() {
    isDrawn ||= app.hasChildNodes();
    if (isDrawn) size.measured(measure.read(size.reported?.height));
  }
  const { sizes, schedule, stop } = watchSizes(measured);
  // The document and the body may have the height of their frame: the elements in them have their own.
  const observe = () => {
    for (const each of [document.documentElement, document.body, ...document.body.children, ...app.children])
      sizes.observe(each);
    schedule();
  };
  const elements = new MutationObserver(observe);
  for (const each of [document.body, app]) elements.observe(each, { childList: true });
  addEventListener("resize", schedule);
  const late = setTimeout(() => {
    isDrawn = true;
    schedule();
  }, DRAWING);
  observe();
  return () => {
    clearTimeout(late);
    removeEventListener("resize", schedule);
    elements.disconnect();
    stop();
  };
}
