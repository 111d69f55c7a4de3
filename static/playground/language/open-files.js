// The project's Python files as the type checker has them: all are open there, and one of them may be in the editor.
import { LSPPlugin, Workspace } from "@codemirror/lsp-client";
import { Text } from "@codemirror/state";
import { pathOf, pythonTexts, uriOf } from "./files.js";

const textOf = (text) => Text.of(text.split(/\r\n?|\n/));

class OpenFile {
  languageId = "python";
  version = 0;
  /** @type {import("@codemirror/view").EditorView} */
  view = null;
  /** @type {any[]} what the type checker has found in this version; null until it has */
  diagnostics = null;

  /** @param {string} path @param {string} text */
  constructor(path, text) {
    this.path = path;
    this.uri = uriOf(path);
    this.doc = textOf(text);
  }

  /** Takes over a later text. @param {Text} doc */
  become(doc) {
    this.doc = doc;
    this.version += 1;
    this.diagnostics = null;
  }

  getView() {
    return this.view;
  }
}

export class OpenFiles extends Workspace {
  /** @type {OpenFile[]} */
  files = [];
  #show;

  /**
   * @param {import("@codemirror/lsp-client").LSPClient} client
   * @param {Record<string, unknown>} project contents by path
   * @param {(file: OpenFile) => void} show shows the diagnostics of a file that is in the editor
   */
  constructor(client, project, show) {
    super(client);
    this.#show = show;
    this.files = pythonTexts(project).map(([path, text]) => new OpenFile(path, text));
  }

  /** Takes over the files of the project that were added, removed or changed. @param {Record<string, unknown>} project */
  update(project) {
    for (const file of this.files) if (!Object.hasOwn(project, file.path)) this.#remove(file);
    for (const [path, text] of pythonTexts(project)) {
      const file = this.files.find((each) => each.path === path);
      if (!file) this.#add(path, text);
      else if (!file.view) this.#replace(file, textOf(text)); // the editor's changes are synchronized by its plugin
    }
  }

  /** Keeps and shows what was found in a file, unless it is of an earlier version. */
  found({ uri, version, diagnostics }) {
    const file = this.files.find((each) => each.path === pathOf(uri));
    if (!file || (version ?? file.version) !== file.version) return;
    file.diagnostics = diagnostics;
    if (file.view) this.#show(file);
  }

  syncFiles() {
    return this.files.flatMap((file) => {
      const plugin = file.view && LSPPlugin.get(file.view);
      if (!plugin || plugin.unsyncedChanges.empty) return [];
      const update = { file, prevDoc: file.doc, changes: plugin.unsyncedChanges };
      file.become(file.view.state.doc);
      plugin.clear();
      return [update];
    });
  }

  openFile(uri, _language, view) {
    let file = /** @type {OpenFile} */ (this.getFile(uri));
    if (!file) file = this.#add(pathOf(uri), view.state.doc.toString());
    this.#replace(file, view.state.doc);
    file.view = view;
    // The view is being made.
    queueMicrotask(() => file.view === view && file.diagnostics && this.#show(file));
  }

  closeFile(uri, view) {
    const file = /** @type {OpenFile} */ (this.getFile(uri));
    if (file?.view !== view) return;
    file.view = null;
    this.#replace(file, view.state.doc);
  }

  #add(path, text) {
    const file = new OpenFile(path, text);
    this.files.push(file);
    this.client.notification("pyright/createFile", { uri: file.uri });
    this.client.didOpen(file);
    return file;
  }

  #remove(file) {
    this.files = this.files.filter((each) => each !== file);
    this.client.didClose(file.uri);
    this.client.notification("pyright/deleteFile", { uri: file.uri });
  }

  #replace(file, doc) {
    if (file.doc.eq(doc)) return;
    file.become(doc);
    this.client.notification("textDocument/didChange", {
      textDocument: { uri: file.uri, version: file.version },
      contentChanges: [{ text: doc.toString() }],
    });
  }
}
