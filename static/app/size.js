// When the size of this document may have changed, and the height of its content.

/** The longest wait for a frame of the browser, which draws none for a hidden page; in ms. */
const HIDDEN = 100;

/** Returns the result of a function that runs while the root element has other styles. */
export function styled(styles, run) {
  const { style } = document.documentElement;
  const before = Object.fromEntries(Object.keys(styles).map((name) => [name, style[name]]));
  try {
    return run(Object.assign(style, styles));
  } finally {
    Object.assign(style, before);
  }
}

/** The styles with which the document is as high as its content, and the height of its frame does not change that. */
export const CONTENT = { height: "max-content", minHeight: "0" };

/** Returns the height of this document's content, in CSS pixels. */
export const contentHeight = () =>
  styled(CONTENT, () => Math.ceil(document.documentElement.getBoundingClientRect().height));

/**
 * Calls a function now, and whenever the size of this document may have changed; at most once for each frame of the browser.
 * The document and the body may have the height of their frame: the elements in them, and those in `part`, have their own.
 * @param {() => void} measure
 * @param {Element} part the part of the document with its content
 * @returns {() => void} ends it
 */
export function watchSize(measure, part) {
  let [frame, timer] = [0, 0];
  let isOver = false;

  function stop() {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = 0;
  }
  function run() {
    stop();
    measure();
  }
  function schedule() {
    if (timer || isOver) return;
    timer = setTimeout(run, HIDDEN);
    frame = requestAnimationFrame(run);
  }
  const sizes = new ResizeObserver(schedule);
  function observe() {
    for (const each of [document.documentElement, document.body, ...document.body.children, ...part.children])
      sizes.observe(each);
    schedule();
  }
  const elements = new MutationObserver(observe);
  for (const each of [document.body, part]) elements.observe(each, { childList: true });
  addEventListener("resize", schedule);
  observe();

  return () => {
    isOver = true;
    stop();
    sizes.disconnect();
    elements.disconnect();
    removeEventListener("resize", schedule);
  };
}
