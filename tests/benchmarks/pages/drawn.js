/**
 * Runs first in every frame: tells the host when a frame of its own is first painted, and when the view's result is in the
 * document and a frame with it rendered.
 */
if (parent === top && parent !== self) {
  new PerformanceObserver((list, observer) => {
    observer.disconnect();
    const params = { at: performance.timeOrigin + list.getEntries()[0].startTime };
    parent.postMessage({ jsonrpc: "2.0", method: "benchmark/painted", params }, "*");
  }).observe({ type: "paint", buffered: true });
}
new MutationObserver((_, observer) => {
  const result = document.querySelector("#result");
  if (!result?.textContent || !result.checkVisibility()) return;
  observer.disconnect();
  requestAnimationFrame(() => {
    // The callback comes before the frame is rendered, and the next task after it.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      const params = { text: result.textContent, at: performance.timeOrigin + performance.now() };
      parent.postMessage({ jsonrpc: "2.0", method: "benchmark/drawn", params }, "*");
      port1.close();
    };
    port2.postMessage(null);
  });
}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
