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
 * Measures after a change of the size of elements, or when told to; at most once for each frame of the browser.
 * @param {() => void} measure
 */
export function watchSizes(measure) {
  let [frame, timer] = [0, 0];
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = 0;
  };
  const run = () => {
    cancel();
    measure();
  };
  const schedule = () => {
    if (timer) return;
    timer = setTimeout(run, HIDDEN);
    frame = requestAnimationFrame(run);
  };
  const sizes = new ResizeObserver(schedule);
  const stop = () => {
    sizes.disconnect();
    cancel();
  };
  return { sizes, schedule, stop };
}
