// Diagnostics of several sources in one editor: the last run's and the type checker's.
import { forEachDiagnostic, setDiagnostics } from "@codemirror/lint";

/** @typedef {import("@codemirror/lint").Diagnostic} Diagnostic */

/**
 * Returns a transaction that replaces the diagnostics of one source, and keeps those of the others.
 * @param {import("@codemirror/state").EditorState} state
 * @param {"run" | "language"} source
 * @param {Diagnostic[]} found
 */
export function withDiagnostics(state, source, found) {
  /** @type {Diagnostic[]} */
  const all = found.map((each) => ({ ...each, markClass: markOf(source) }));
  forEachDiagnostic(state, (each, from, to) => {
    if (each.markClass !== markOf(source)) all.push({ ...each, from, to });
  });
  return setDiagnostics(state, all);
}

// Not the field `source`, which the editor shows.
const markOf = (source) => `from-${source}`;
