// Code help in the editor, and its switch. Nothing of it is fetched before the editor has the focus for the first time.

import { $, enable, isSmall, notice, on } from "./page.js";

const KEPT = "mcpframe-playground-help";

export class CodeHelp {
  #editor;
  #switch = $("help");
  #status = $("help-status");
  /** @type {Record<string, unknown>} */
  #files = {};
  /** @type {import("./language/service.js").Service} */
  #service = null;
  #attempt = null; // the start that is under way, or has led to the service

  /** @param {import("./editor.js").Editor} editor */
  constructor(editor) {
    this.#editor = editor;
    this.#switch.checked = (localStorage.getItem(KEPT) ?? (isSmall() ? "off" : "on")) === "on";
    on(
      "help",
      () => {
        const { checked } = this.#switch;
        localStorage.setItem(KEPT, checked ? "on" : "off");
        if (checked) this.#start();
        else this.#end();
      },
      "change",
    );
    on("editor", () => this.#start(), "focusin");
    enable("help");
  }

  /** Ends the help for the project before; that for another one starts when the editor has the focus. */
  open(files) {
    this.#end();
    this.#files = files;
  }

  /** Takes over changes of the project. @param {Record<string, unknown>} files contents by path */
  update(files) {
    this.#files = files;
    this.#service?.update(files);
  }

  /** Starts the help if the editor has the focus already. */
  resume() {
    if (this.#editor.hasFocus) this.#start();
  }

  async #start() {
    if (this.#attempt || !this.#switch.checked) return;
    const attempt = {};
    this.#attempt = attempt;
    this.#status.textContent = "loading …";
    const failed = () => {
      if (this.#attempt !== attempt) return;
      this.#end();
      this.#switch.checked = false; // not again before somebody asks for it
      notice("Code help could not be loaded, or has ended. Everything else works without it.");
    };
    try {
      const { Service } = await import("./language/service.js");
      if (this.#attempt !== attempt) return;
      const service = await Service.start(this.#files, failed);
      if (this.#attempt !== attempt) return service.end();
      this.#service = service;
      service.update(this.#files);
      this.#editor.help((path) => service.extensionFor(path));
      this.#status.textContent = "";
    } catch {
      failed();
    }
  }

  #end() {
    this.#attempt = null;
    this.#status.textContent = "";
    if (!this.#service) return;
    this.#editor.help(() => []);
    this.#service.end();
    this.#service = null;
  }
}
