/**
 * Reports the contents of a view's frames to the host page of `host.js`. Playwright runs it first in every frame. It posts
 * to that page: the first paint, violations of a policy, the text of a stand-in, and changes of the author's page.
 *
 * `above` is how many pages are around the host page, and `origin` the origin of that page.
 */
(above, origin) => {
  const around = [];
  for (let page = /** @type {Window} */ (self); page !== top; page = page.parent) around.unshift(page.parent);
  const host = around[above];
  if (!host) return;
  const now = () => performance.timeOrigin + performance.now();
  const report = (seen) => host.postMessage({ mcpframeProbe: seen }, origin);

  // biome-ignore lint/performance/useDomNodeTextContent: only the text that can be seen
  const textOf = (element) => (element?.checkVisibility({ visibilityProperty: true }) ? element.innerText.trim() : "");
  const hasPicture = (element) =>
    [...(element?.querySelectorAll("svg, canvas, img, video") ?? [])].some(
      (each) => each.getBoundingClientRect().height,
    );
  let isDue = false;
  const look = () => {
    isDue = false;
    const page = document.getElementById("mcpframe-app");
    const { state } = document.getElementById("mcpframe-page")?.dataset ?? {};
    report({
      changed: now(),
      standIn: textOf(document.getElementById("mcpframe-stand-in")) || null,
      isDrawn: Boolean(textOf(page) || hasPicture(page)),
      isStarting: Boolean(document.getElementById("mcpframe-first")) || ["loading", "booting"].includes(state),
    });
  };
  new MutationObserver(() => {
    if (!isDue) requestAnimationFrame(look);
    isDue = true;
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) report({ painted: performance.timeOrigin + startTime });
  }).observe({ type: "paint", buffered: true });

  addEventListener(
    "securitypolicyviolation",
    ({ effectiveDirective, blockedURI }) => report({ violation: `${effectiveDirective} ${blockedURI}` }),
    { capture: true },
  );
  // In a sandboxed document without an address, it may run after the document's own scripts.
  report({ begun: now() });
  addEventListener("message", ({ data }) => {
    if (data?.method === "ui/notifications/tool-result") report({ heard: now() });
  });
};
