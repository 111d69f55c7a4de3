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
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

const LANGUAGES = { css, htm: html, html, js: javascript, json, mjs: javascript, py: python };
/** Invisible characters, and those that change the order of others, besides what CodeMirror marks by itself. */
const HIDDEN = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu;

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

export class Editor {
  #view;
  #states = new Map();
  #path = "";
  #readOnly = false;
  #run = () => {
    this.on.run();
    return true;
  };

  /**
   * @param {HTMLElement} parent
   * @param {{ changed: (path: string, text: string) => void, run: () => void }} on
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
    this.#view.setState(this.#states.get(path));
  }

  /** Forgets a file. @param {string} path */
  drop(path) {
    this.#states.delete(path);
  }

  /** Marks a line of the file that is shown; none takes the marks away. @param {number} [line] @param {string} [message] */
  mark(line, message) {
    const { doc } = this.#view.state;
    if (!line || line > doc.lines) return this.#view.dispatch(setDiagnostics(this.#view.state, []));
    const { from, to } = doc.line(line);
    this.#view.dispatch(setDiagnostics(this.#view.state, [{ from, to, severity: "error", message }]));
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
          if (update.docChanged) this.on.changed(path, update.state.doc.toString());
        }),
        keymap.of([
          { key: "Mod-Enter", run: this.#run },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab, // Escape, then Tab leaves the editor
        ]),
        ...(language ? [language()] : []),
      ],
    });
  }
}
