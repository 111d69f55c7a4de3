// "Format": the Python file that is shown, by ruff, which is fetched at the first use.
import { visible } from "../host/visible.js";
import { isPython } from "./language/files.js";
import { ProjectError } from "./project-files.js";

/**
 * Formats the file in the editor, in one step of its history. Throws if it cannot: its text stays then.
 * @param {import("./editor.js").Editor} editor
 * @param {unknown} [pyproject] the project's pyproject.toml
 */
export async function formatFile(editor, pyproject) {
  const { changesOf, lineLength, loadFormatter } = await import("./language/format.js");
  try {
    await loadFormatter();
  } catch {
    throw new ProjectError("The formatter could not be loaded. Everything else works without it.");
  }
  const { path } = editor; // another file may be shown by now
  if (!isPython(path) || editor.readOnly) return;
  let changes;
  try {
    changes = changesOf(editor.text, path, lineLength(pyproject));
  } catch (error) {
    throw new ProjectError(`${visible(path)} is not formatted: ${visible(String(error?.message ?? error))}`);
  }
  editor.change(changes);
}
