/**
 * The relay's half in the page's own world, where a polyfill of WebMCP is: `static/hub/document-tools.js`, behind a port to
 * `content.js`. The two find each other before any script of the page runs. A page that gets hold of the port can answer
 * for its own tools, as it can anyway.
 */
(create, options) => {
  if (window !== window.top) return;
  const { port1, port2 } = new MessageChannel();
  const offer = () => dispatchEvent(new MessageEvent(options.offer, { ports: [port2] }));
  let half = null;

  /** A hub has connected, perhaps a new one, which knows none of the tools. */
  function begin() {
    half?.stop();
    half = create();
  }

  port1.onmessage = async ({ data: { call, given, id } }) => {
    try {
      const value = call === "begin" ? begin() : await half?.[call](...given);
      if (id !== undefined) port1.postMessage({ id, value: value ?? null });
    } catch (error) {
      if (id !== undefined) port1.postMessage({ id, error: String(error) });
    }
  };
  addEventListener(options.wanted, offer, { once: true });
  offer();
};
