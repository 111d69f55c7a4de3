// Formats Python files by ruff, as WebAssembly.
import { diff } from "@codemirror/merge";
import init, { format } from "@wasm-fmt/ruff_fmt/web";
import { parse } from "smol-toml";
import { pinnedFile } from "./pinned.js";

const LONGEST_LINE = 88; // ruff's own

let ready = null;

/** Fetches the formatter, once. */
export function loadFormatter() {
  ready ??= pinnedFile("formatter").then(async (response) => init(await response.arrayBuffer()));
  ready.catch(() => (ready = null));
  return ready;
}

/** Returns the line length that a project has for ruff. @param {unknown} [pyproject] its pyproject.toml */
export function lineLength(pyproject = "") {
  try {
    const length = /** @type {any} */ (parse(/** @type {string} */ (pyproject))).tool?.ruff?.["line-length"];
    return Number.isInteger(length) && length > 0 && length <= 320 ? length : LONGEST_LINE;
  } catch {
    return LONGEST_LINE;
  }
}

/**
 * Returns the changes that format a text. Throws if it is no Python.
 * @param {string} text
 * @param {string} path
 * @param {number} length the longest line
 */
export function changesOf(text, path, length) {
  const formatted = format(text, path, { line_width: length });
  // Small changes, so that the editor keeps the selection.
  return diff(text, formatted).map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: toA,
    insert: formatted.slice(fromB, toB),
  }));
}
