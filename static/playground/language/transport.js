// The transport between @codemirror/lsp-client, which speaks JSON texts, and browser-basedpyright, which takes objects.
//
// The client refuses all requests of a server, so they are answered here. It offers Markdown, which it shows as HTML, and
// to fetch diagnostics, which then are not sent: both are taken out of what it offers.

const MARKUP = ["plaintext"];
// Names that are not imported would come from every module that has them, most of them internal.
const SETTINGS = { autoImportCompletions: false };

/**
 * Returns the parameters of `initialize` as the type checker needs them.
 * @param {any} params the client's
 */
export function initializeParams(params) {
  const { diagnostic: _, ...textDocument } = structuredClone(params.capabilities.textDocument);
  textDocument.hover.contentFormat = MARKUP;
  textDocument.completion.completionItem.documentationFormat = MARKUP;
  textDocument.signatureHelp.signatureInformation.documentationFormat = MARKUP;
  return {
    ...params,
    workspaceFolders: [{ uri: params.rootUri, name: "project" }],
    capabilities: {
      ...params.capabilities,
      textDocument,
      workspace: { ...params.capabilities.workspace, configuration: true, workspaceFolders: true },
    },
  };
}

/** Returns the result of a request of the server. @param {{ method: string, params?: any }} request */
export function answerTo({ method, params }) {
  return method === "workspace/configuration" ? params.items.map(() => SETTINGS) : null;
}

/** A `Transport` of the client. */
export class WorkerTransport {
  #port;
  #handlers = new Set();
  #pending = new Map(); // the methods of requests that wait for an answer
  #ended = false;

  /** @param {{ postMessage(message: any): void, addEventListener: any }} port the worker */
  constructor(port) {
    this.#port = port;
    port.addEventListener("message", ({ data }) => this.#receive(data));
  }

  /** Sends a message, except after the end. @param {string} text */
  send(text) {
    if (this.#ended) return;
    const message = JSON.parse(text);
    if (message.method === "initialize") message.params = initializeParams(message.params);
    if (message.method && "id" in message) this.#pending.set(message.id, message.method);
    this.#port.postMessage(message);
  }

  /** @param {(text: string) => void} handler */
  subscribe(handler) {
    this.#handlers.add(handler);
  }

  /** @param {(text: string) => void} handler */
  unsubscribe(handler) {
    this.#handlers.delete(handler);
  }

  /** Ends it: requests that wait get an answer without content, and nothing is sent or received any more. */
  end() {
    if (this.#ended) return;
    this.#ended = true;
    for (const [id, method] of this.#pending)
      this.#hand({ jsonrpc: "2.0", id, result: method === "initialize" ? { capabilities: {} } : null });
  }

  #receive(message) {
    if (this.#ended || message?.jsonrpc !== "2.0") return; // the worker's own messages are for its page
    if (message.method && "id" in message)
      return this.#port.postMessage({ jsonrpc: "2.0", id: message.id, result: answerTo(message) });
    this.#pending.delete(message.id);
    this.#hand(message);
  }

  #hand(message) {
    for (const handler of this.#handlers) handler(JSON.stringify(message));
  }
}
