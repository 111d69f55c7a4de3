// The height of this document's content, and a call when it may have changed.

/** The longest wait for an animation frame, in ms: a hidden page gets none. */
const HIDDEN = 100;

/** Runs a function while the root element has other styles, and returns its result. */
export function styled(styles, run) {
  const { style } = document.documentElement;
  const before = Object.fromEntries(Object.keys(styles).map((name) => [name, style[name]]));
  try {
    return run(Object.assign(style, styles));
  } finally {
    Object.assign(style, before);
  }
}

/** Styles that make the document as high as its content, whatever the height of its frame. */
export const CONTENT = { height: "max-content", minHeight: "0" };

/** Returns the height of this document's content, in CSS pixels. */
export const contentHeight = () =>
  styled(CONTENT, () => Math.ceil(document.documentElement.getBoundingClientRect().height));

/**
 * Measures after elements change their size, or on request; at most once per animation frame.
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
