// Code help for the Python files of a project: completion, signatures, hover and errors by browser-basedpyright.
//
// The type checker analyses in a second worker, which its first one asks the page for.
import {
  hoverTooltips,
  LSPClient,
  LSPPlugin,
  serverCompletionSource,
  serverDiagnostics,
  signatureHelp,
} from "@codemirror/lsp-client";
import { EditorState } from "@codemirror/state";
import { withDiagnostics } from "../diagnostics.js";
import { isPython, onlyText, ROOT_URI, startFiles, uriOf } from "./files.js";
import { pinnedFile } from "./pinned.js";
import { WorkerTransport } from "./transport.js";
import { OpenFiles } from "./open-files.js";

const TIMEOUT = 60_000; // milliseconds: the first answers take seconds, more on a busy machine
const SEVERITIES = [undefined, "error", "warning", "info"]; // hints, such as a name that is not used, are left out

let files = null; // what does not change with the project, fetched once

async function fetchFiles() {
  const [worker, stubs] = await Promise.all([pinnedFile("worker"), pinnedFile("stubs")]);
  // A worker from a blob has the policy of this page.
  return {
    worker: URL.createObjectURL(new Blob([await worker.blob()], { type: "text/javascript" })),
    stubs: await stubs.json(),
  };
}

/** An LSP client that keeps the last completions as the server has sent them. */
class Client extends LSPClient {
  items = [];

  /** @param {string} method @param {any} params @returns {Promise<any>} */
  async request(method, params) {
    const result = await super.request(method, params);
    if (method === "textDocument/completion") this.items = result?.items ?? result ?? [];
    return result;
  }
}

export class Service {
  #workers = [];
  #failed;
  #transport;
  #client;
  /** @type {OpenFiles} */
  #openFiles;

  /**
   * Starts the type checker.
   * @param {Record<string, unknown>} project contents by path
   * @param {() => void} failed is called if it ends by itself
   */
  static async start(project, failed) {
    files ??= fetchFiles();
    files.catch(() => (files = null));
    const service = new Service(project, await files, failed);
    try {
      await service.#client.initializing;
      return service;
    } catch (error) {
      service.end();
      throw error;
    }
  }

  constructor(project, { worker, stubs }, failed) {
    this.#failed = failed;
    const foreground = this.#start(worker, { mode: "foreground" });
    foreground.addEventListener("message", ({ data }) => {
      if (data?.type !== "browser/newWorker") return;
      this.#start(worker, { mode: "background", initialData: data.initialData, port: data.port }, [data.port]);
    });
    const completion = [{ autocomplete: (context) => this.#complete(context) }]; // compared by identity
    this.#client = new Client({
      rootUri: ROOT_URI,
      initializationOptions: { files: startFiles(project, stubs) },
      timeout: TIMEOUT,
      sanitizeHTML: onlyText,
      workspace: (client) => (this.#openFiles = new OpenFiles(client, project, show)),
      notificationHandlers: {
        "textDocument/publishDiagnostics": (_, params) => {
          this.#openFiles.found(params);
          return true;
        },
        "window/logMessage": () => true,
        "window/showMessage": () => true,
      },
      extensions: [
        serverDiagnostics(), // sends changes; what is found goes to the workspace, which has the files not shown, too
        hoverTooltips(),
        signatureHelp(),
        [EditorState.languageData.of(() => completion)],
      ],
    });
    this.#transport = new WorkerTransport(foreground);
    this.#client.connect(this.#transport);
  }

  /** Returns the extension for a file's editor. @param {string} path */
  extensionFor(path) {
    return isPython(path) ? this.#client.plugin(uriOf(path), "python") : [];
  }

  /** Takes over changes of the project. @param {Record<string, unknown>} project contents by path */
  update(project) {
    this.#openFiles.update(project);
  }

  /** Ends the type checker. Take its extensions out of the editor first. */
  end() {
    this.#transport.end();
    this.#client.disconnect();
    for (const worker of this.#workers) worker.terminate();
  }

  #start(url, boot, transfer = []) {
    const worker = new Worker(url);
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#failed();
      this.end();
    });
    worker.postMessage({ type: "browser/boot", ...boot }, transfer);
    this.#workers.push(worker);
    return worker;
  }

  /** Completes as the client does, and adds the documentation, which the server sends for one name at a time. */
  async #complete(context) {
    const result = await serverCompletionSource(context);
    const { items } = this.#client;
    if (result?.options.length !== items.length) return result;
    const options = result.options.map((option, at) => ({ ...option, info: () => this.#documentation(items[at]) }));
    return { ...result, options };
  }

  async #documentation(item) {
    const { documentation } = (await this.#client.request("completionItem/resolve", item)) ?? {};
    const text = typeof documentation === "string" ? documentation : documentation?.value;
    if (!text) return null;
    const shown = document.createElement("div");
    shown.className = "cm-lsp-documentation";
    shown.tabIndex = 0; // it scrolls
    shown.textContent = text;
    return shown;
  }
}

/** Shows the diagnostics of a file that is in the editor. */
function show({ view, diagnostics }) {
  const plugin = LSPPlugin.get(view);
  if (!plugin) return;
  // What was found may be of an earlier text, as the type checker's two workers get changes one after the other.
  const position = (at) => {
    const { from, to } = plugin.syncedDoc.line(Math.min(at.line + 1, plugin.syncedDoc.lines));
    return plugin.unsyncedChanges.mapPos(Math.min(from + at.character, to));
  };
  const marks = diagnostics.flatMap(({ range, severity, message }) => {
    const shown = SEVERITIES[severity ?? 1];
    return shown ? [{ from: position(range.start), to: position(range.end), severity: shown, message }] : [];
  });
  view.dispatch(withDiagnostics(view.state, "language", marks));
}
