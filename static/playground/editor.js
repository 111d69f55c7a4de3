// The editor: CodeMirror, with a state for each file, so that each keeps its history and its selection.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { css } from "@codemirror/lang-css";
import { html } from "@codemirror/lang-html";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { withDiagnostics } from "./diagnostics.js";

const LANGUAGES = { css, htm: html, html, js: javascript, json, mjs: javascript, py: python };
/** Invisible characters, and those that change the order of others, besides what CodeMirror marks by itself. */
const HIDDEN = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu;

const TOOLTIPS = ".cm-tooltip ul, .cm-tooltip .cm-lsp-documentation, .cm-lsp-signature-tooltip";

/** Colours by custom properties of the page, which has a dark and a light set. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.attributeValue], color: "var(--code-string)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.definition(tags.variableName)),
      tags.className,
      tags.tagName,
      tags.propertyName,
    ],
    color: "var(--code-name)",
  },
]);

/** Returns a command for a key that nothing else handles. */
const handled = (act) => () => {
  act();
  return true;
};

export class Editor {
  #view;
  #states = new Map();
  #path = "";
  #readOnly = false;
  #helped = new Compartment();
  #help = (_path) => /** @type {import("@codemirror/state").Extension} */ ([]);

  /**
   * @param {HTMLElement} parent
   * @param {{ changed: (path: string, text: string) => void, run: () => void, format: () => void }} on
   */
  constructor(parent, on) {
    this.on = on;
    this.#view = new EditorView({ parent, state: EditorState.create({}) });
  }

  /** Opens other files, without their history. @param {Record<string, string>} files @param {boolean} readOnly */
  open(files, readOnly) {
    this.#states.clear();
    this.#path = ""; // what is shown is of the project before
    this.#readOnly = readOnly;
    for (const [path, text] of Object.entries(files)) this.#states.set(path, this.#stateOf(path, text));
  }

  /** Shows a file, which may be new. @param {string} path @param {string} [text] */
  show(path, text = "") {
    if (this.#states.has(this.#path)) this.#states.set(this.#path, this.#view.state);
    if (!this.#states.has(path)) this.#states.set(path, this.#stateOf(path, text));
    this.#path = path;
    const helped = this.#states.get(path).update({ effects: this.#helped.reconfigure(this.#help(path)) });
    this.#view.setState(helped.state);
  }

  /** The path of the file that is shown. */
  get path() {
    return this.#path;
  }

  /** Whether nothing can be changed. */
  get readOnly() {
    return this.#readOnly;
  }

  /** Whether it has the focus. */
  get hasFocus() {
    return this.#view.hasFocus;
  }

  /**
   * Adds help to the files, in place of that before and what it has found.
   * @param {(path: string) => import("@codemirror/state").Extension} extensionFor returns that for a file
   */
  help(extensionFor) {
    this.#help = extensionFor;
    for (const [path, state] of this.#states)
      this.#states.set(path, state.update(withDiagnostics(state, "language", [])).state);
    if (!this.#path) return;
    this.#view.dispatch(withDiagnostics(this.#view.state, "language", []));
    this.#view.dispatch({ effects: this.#helped.reconfigure(extensionFor(this.#path)) });
  }

  /** The text that is shown. */
  get text() {
    return this.#view.state.doc.toString();
  }

  /** Changes the text that is shown, in one step of its history. @param {import("@codemirror/state").ChangeSpec} changes */
  change(changes) {
    this.#view.dispatch({ changes, scrollIntoView: true, userEvent: "input.format" });
  }

  /** Forgets a file. @param {string} path */
  drop(path) {
    this.#states.delete(path);
  }

  /** Marks a line of the file that is shown; none takes the marks away. @param {number} [line] @param {string} [message] */
  mark(line, message) {
    const { doc } = this.#view.state;
    if (!line || line > doc.lines) return this.#view.dispatch(withDiagnostics(this.#view.state, "run", []));
    const { from, to } = doc.line(line);
    this.#view.dispatch(withDiagnostics(this.#view.state, "run", [{ from, to, severity: "error", message }]));
    this.#view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }

  #stateOf(path, text) {
    const language = LANGUAGES[path.split(".").at(-1).toLowerCase()];
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        highlightSpecialChars({ addSpecialChars: HIDDEN }),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of(path.endsWith(".py") ? "    " : "  "),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        syntaxHighlighting(COLOURS),
        syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
        EditorState.readOnly.of(this.#readOnly),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": `Text of ${path}` }),
        EditorView.updateListener.of((update) => {
          // Their content may be longer than they are.
          for (const tooltip of update.view.dom.querySelectorAll(TOOLTIPS)) tooltip.setAttribute("tabindex", "0");
          if (update.docChanged) this.on.changed(path, update.state.doc.toString());
        }),
        keymap.of([
          { key: "Mod-Enter", run: handled(() => this.on.run()) },
          { key: "Shift-Alt-f", run: handled(() => this.on.format()) },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab, // Escape, then Tab leaves the editor
        ]),
        ...(language ? [language()] : []),
        this.#helped.of([]),
      ],
    });
  }
}
