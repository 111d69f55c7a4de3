/** Types of page-server.js. */

export interface PageServerOptions {
  /** The name of the channel for the clients in this window; `mcp-default` by default. */
  channel?: string;
  /** The element to put the hidden frame into; `document.body` by default. */
  parent?: Element;
}

/**
 * Makes a page a page server of MCP-B: frames a bundle, hidden, and relays messages between the bundle and the clients in
 * this window. The bundle has to allow this page's origin.
 * @param url The address of the bundle, absolute or relative to the page.
 * @returns A function that ends it: the clients hear that the server has stopped, and the frame is removed.
 */
export function embedPageServer(url: string | URL, options?: PageServerOptions): () => void;
